import { loadConfig } from "../../src/config/load-config.ts";
import type { Environment } from "../../src/config/setting.ts";

export function noFile(path: string): string {
  throw Object.assign(new Error(`${path} is missing`), { code: "ENOENT", syscall: "open" });
}

/** Reads every file below /run as this text; there are no others. */
export function filesWith(text: string): (path: string) => string {
  return (path) => (path.startsWith("/run/") ? text : noFile(path));
}

/** The configuration of valid settings. */
export function loadValid(environment: Environment, readFile: (path: string) => string = noFile) {
  const result = loadConfig(environment, readFile);
  if (!result.ok) throw new Error(`Expected no mistakes, got: ${result.mistakes.join(" ")}`);
  return result;
}

/** The errors of invalid settings. */
export function mistakesOf(environment: Environment, readFile: (path: string) => string = noFile): readonly string[] {
  const result = loadConfig(environment, readFile);
  if (result.ok) throw new Error("Expected mistakes, got none.");
  return result.mistakes;
}
