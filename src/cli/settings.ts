import { readFileSync } from "node:fs";
import { reasonOrThrow } from "../base/system-error.ts";
import type { Config } from "../config/config.ts";
import { parseEnvFile } from "../config/env-file.ts";
import { type LoadResult, loadConfig } from "../config/load-config.ts";
import type { CliIo } from "./cli-io.ts";
import { CommandRefused, WrongSettings } from "./errors.ts";

export function loadSettings(environment: CliIo["environment"]): LoadResult {
  return loadConfig(environment, (path) => readFileSync(path, "utf8"));
}

/** @throws WrongSettings with all mistakes. */
export function getSettings(io: Pick<CliIo, "environment">): LoadResult & { readonly ok: true } {
  const loaded = loadSettings(io.environment);
  if (!loaded.ok) throw new WrongSettings(loaded.mistakes);
  return loaded;
}

/** @throws WrongSettings with all mistakes. */
export function getConfig(io: Pick<CliIo, "environment">): Config {
  return getSettings(io).config;
}

/** Names and values of the env file at `path`. @throws CommandRefused */
export function readEnvFile(path: string): Readonly<Record<string, string>> {
  return parseEnvFile(readTextFile(path));
}

/** @throws CommandRefused */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandRefused(`${path} cannot be read (${reasonOrThrow(error)}).`);
  }
}
