import { type ReadFile, readSecretFile } from "../../config/secret-files.ts";
import { SourceArgumentError } from "../source.ts";
import { publishedDefaultKey } from "./lockbox.ts";

/** What the source's env file says. */
export type SourceEnvironment = Readonly<Record<string, string | undefined>>;

export interface SourceKeys {
  /** 64 hex digits each, the current one first; empty when the operator never set one. */
  readonly masterKeys: readonly string[];
  /** undefined: not given. */
  readonly secretKeyBase: string | undefined;
  readonly warnings: readonly string[];
}

const keyName = "PWPUSH_MASTER_KEY";
const previousName = "PWPUSH_MASTER_KEY_PREVIOUS";

/** @throws SourceArgumentError with one sentence, which repeats no key. */
export function sourceKeysOf(environment: SourceEnvironment, readFile: ReadFile): SourceKeys {
  const current = secretOf(environment, keyName, readFile);
  const previous = (secretOf(environment, previousName, readFile) ?? "")
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
  const masterKeys = [...(current === undefined ? [] : [checked(current, keyName)])];
  for (const key of previous) masterKeys.push(checked(key, previousName));
  const unprotected = current === undefined || current.toLowerCase() === publishedDefaultKey;
  return {
    masterKeys,
    secretKeyBase: secretOf(environment, "SECRET_KEY_BASE", readFile),
    warnings: unprotected ? [unprotectedWarning(current)] : [],
  };
}

function unprotectedWarning(current: string | undefined): string {
  const why = current === undefined ? `No ${keyName} is given` : `${keyName} is the published default key`;
  return `${why}, so this installation seals under a key that anybody can read: whoever has a copy of its database has every secret in it. Change the secrets that matter.`;
}

function checked(key: string, name: string): string {
  if (/^[0-9a-f]{64}$/i.test(key)) return key;
  throw new SourceArgumentError(`${name} does not hold what Password Pusher takes for a key: 64 hex digits.`);
}

/** The variable first, else the file, as the source has it. Empty is not given. */
function secretOf(environment: SourceEnvironment, name: string, readFile: ReadFile): string | undefined {
  const inline = environment[name]?.trim() ?? "";
  if (inline !== "") return inline;
  const path = environment[`${name}_FILE`]?.trim() ?? "";
  if (path === "") return undefined;
  const reading = readSecretFile(`${name}_FILE`, path, readFile);
  if (reading.ok) return reading.text;
  throw new SourceArgumentError(
    `${reading.mistake} Give the key itself as ${name}, or put the file where it can be read.`,
  );
}
