import { reasonOrThrow } from "../base/system-error.ts";
import { type Environment, printable, type Setting, type SettingReport } from "./setting.ts";

/** Returns the text of a file. @throws the operating system's error. */
export type ReadFile = (path: string) => string;

const fileCharactersMax = 64 * 1024;

type SecretFileResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly mistake: string };

/** The text of the file named by `env`, without the white space around it. No sentence repeats the content. */
export function readSecretFile(env: string, path: string, readFile: ReadFile): SecretFileResult {
  const subject = `${env} names "${printable(path)}", which`;
  try {
    const text = readFile(path).trim();
    // An empty file is a secret that was not delivered: to continue would mean to use another one, or none.
    if (text === "") return { ok: false, mistake: `${subject} is empty.` };
    if (text.length <= fileCharactersMax) return { ok: true, text };
    return { ok: false, mistake: `${subject} is too large for a secret.` };
  } catch (error) {
    return { ok: false, mistake: `${subject} cannot be read (${reasonOrThrow(error)}).` };
  }
}

/** The settings that a file can provide: those that may hold a secret and have no row of their own for a file. */
export function settingsByFile(settings: readonly Setting<unknown>[]): readonly Setting<unknown>[] {
  const names = new Set(settings.map((row) => row.env));
  return settings.filter((row) => row.mayHoldSecret && !names.has(fileNameOf(row)));
}

export function fileNameOf(row: Setting<unknown>): string {
  return `${row.env}_FILE`;
}

/**
 * Replaces `NAME_FILE` by `NAME` with the content of that file: containers and service managers provide secrets as files,
 * because more programs can read a variable than a file.
 * @returns the environment with these secrets.
 */
export function withSecretsFromFiles(
  environment: Environment,
  settings: readonly Setting<unknown>[],
  readFile: ReadFile,
  report: SettingReport,
): Environment {
  const texts: Record<string, string> = {};
  for (const row of settingsByFile(settings)) {
    const fileName = fileNameOf(row);
    const path = environment[fileName]?.trim() ?? "";
    if (path === "") continue;
    if ((environment[row.env]?.trim() ?? "") !== "") {
      report.mistake(`${row.env} and ${fileName} are both given: give one of them.`, row.env, fileName);
      continue;
    }
    const secret = readSecretFile(fileName, path, readFile);
    if (secret.ok) texts[row.env] = secret.text;
    else report.mistake(secret.mistake, fileName);
  }
  return { ...environment, ...texts };
}
