import type { Environment } from "./read-settings.ts";
import { printable, type Setting } from "./setting.ts";
import { systemErrorCode } from "./system-error.ts";

/** Text of a file; throws the operating system's error. */
export type ReadFile = (path: string) => string;

const fileCharactersMax = 64 * 1024;

/**
 * The text of the file that `env` names, without the white space around it. No sentence repeats the content.
 */
export function readSecretFile(
  env: string,
  path: string,
  readFile: ReadFile,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly mistake: string } {
  const named = `${env} names "${printable(path)}", which`;
  try {
    const text = readFile(path).trim();
    // An empty file is a secret that did not arrive: going on without it would mean another one, or none.
    if (text === "") return { ok: false, mistake: `${named} is empty.` };
    if (text.length <= fileCharactersMax) return { ok: true, text };
    return { ok: false, mistake: `${named} is too large for a secret.` };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return { ok: false, mistake: `${named} cannot be read (${code}).` };
  }
}

/** The settings that a file can give too: those that may hold a secret and have no row for a file of their own. */
export function settingsByFile(settings: readonly Setting<unknown>[]): readonly Setting<unknown>[] {
  const names = new Set(settings.map((row) => row.env));
  return settings.filter((row) => row.mayHoldSecret && !names.has(fileNameOf(row)));
}

export function fileNameOf(row: Setting<unknown>): string {
  return `${row.env}_FILE`;
}

/**
 * The environment in which `NAME` is what the file holds that `NAME_FILE` names, as containers and service managers hand
 * secrets over: a variable can be read by more programs than a file.
 */
export function withSecretsFromFiles(
  environment: Environment,
  settings: readonly Setting<unknown>[],
  readFile: ReadFile,
): { readonly environment: Environment; readonly mistakes: readonly string[] } {
  const texts: Record<string, string> = {};
  const mistakes: string[] = [];
  for (const row of settingsByFile(settings)) {
    const path = environment[fileNameOf(row)]?.trim() ?? "";
    if (path === "") continue;
    if ((environment[row.env]?.trim() ?? "") !== "") {
      mistakes.push(`${row.env} and ${fileNameOf(row)} are both given: give one of them.`);
      continue;
    }
    const reading = readSecretFile(fileNameOf(row), path, readFile);
    if (reading.ok) texts[row.env] = reading.text;
    else mistakes.push(reading.mistake);
  }
  return { environment: { ...environment, ...texts }, mistakes };
}
