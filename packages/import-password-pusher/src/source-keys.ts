import { SourceArgumentError } from "../../../src/import/source.ts";
import type { Installation } from "./installation.ts";
import { publishedDefaultKey } from "./lockbox.ts";

const keyName = "PWPUSH_MASTER_KEY";
const previousName = "PWPUSH_MASTER_KEY_PREVIOUS";

/** @throws SourceArgumentError with one sentence that repeats no key. */
export function sourceKeysOf(secret: Installation["secret"]) {
  const current = secret(keyName);
  const previous = (secret(previousName) ?? "")
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
  const masterKeys = [...(current === undefined ? [] : [checked(current, keyName)])];
  for (const key of previous) masterKeys.push(checked(key, previousName));
  const unprotected = current === undefined || current.toLowerCase() === publishedDefaultKey;
  return {
    /** 64 hex digits each, the current one first. Empty if none was ever set. */
    masterKeys,
    /** undefined: not given. */
    secretKeyBase: secret("SECRET_KEY_BASE"),
    warnings: unprotected ? [unprotectedWarning(current)] : [],
  };
}

function unprotectedWarning(current: string | undefined): string {
  const why = current === undefined ? `No ${keyName} is given` : `${keyName} is the published default key`;
  return `${why}, so this installation encrypts with a key that anybody can read. A copy of its database reveals every secret in it. Change the secrets that matter.`;
}

function checked(key: string, name: string): string {
  if (/^[0-9a-f]{64}$/i.test(key)) return key;
  throw new SourceArgumentError(`${name} is not a key of Password Pusher, which has 64 hex digits.`);
}
