import type { Installation } from "./installation.ts";
import { SourceArgumentError } from "./source.ts";

const keyName = "PWPUSH_MASTER_KEY";
const previousName = "PWPUSH_MASTER_KEY_PREVIOUS";

/**
 * The master keys: 64 hex digits each, the current one first. Empty if none was ever set.
 * @throws SourceArgumentError with one sentence that repeats no key.
 */
export function sourceKeysOf(secret: Installation["secret"]): readonly string[] {
  const current = secret(keyName);
  const previous = (secret(previousName) ?? "")
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
  const masterKeys = [...(current === undefined ? [] : [checked(current, keyName)])];
  for (const key of previous) masterKeys.push(checked(key, previousName));
  return masterKeys;
}

function checked(key: string, name: string): string {
  if (/^[0-9a-f]{64}$/i.test(key)) return key;
  throw new SourceArgumentError(`${name} is not a key of Password Pusher, which has 64 hex digits.`);
}
