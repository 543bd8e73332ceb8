import { describe, expect, it } from "vitest";
import { sourceKeysOf } from "./lockbox.ts";
import type { Installation, SecretName } from "./source.ts";

const [one, two, three] = ["11".repeat(32), "Ab".repeat(32), "33".repeat(32)];
const secretsOf =
  (values: Partial<Record<SecretName, string>>): Installation["secret"] =>
  (name) =>
    values[name];

describe("keys", () => {
  it("are the current one, then the previous ones in their order", () => {
    const secret = secretsOf({
      PWPUSH_MASTER_KEY: one,
      PWPUSH_MASTER_KEY_PREVIOUS: `${two} , ,${three},`,
    });
    expect(sourceKeysOf(secret)).toEqual([one, two, three]);
  });

  it("are refused if they are malformed, and are not repeated", () => {
    const wrong = `${one}0`;
    const readKeys = (values: Partial<Record<SecretName, string>>) => () => sourceKeysOf(secretsOf(values));

    expect(readKeys({ PWPUSH_MASTER_KEY: wrong })).toThrow("PWPUSH_MASTER_KEY is not a key of Password Pusher");
    expect(readKeys({ PWPUSH_MASTER_KEY: one, PWPUSH_MASTER_KEY_PREVIOUS: `${two},${wrong}` })).toThrow(
      "PWPUSH_MASTER_KEY_PREVIOUS is not",
    );
    expect(readKeys({ PWPUSH_MASTER_KEY: wrong })).not.toThrow(wrong);
  });
});
