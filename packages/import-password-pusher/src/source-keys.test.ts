import { describe, expect, it } from "vitest";
import type { Installation, SecretName } from "./installation.ts";
import { publishedDefaultKey } from "./lockbox.ts";
import { sourceKeysOf } from "./source-keys.ts";

const [one, two, three] = ["11".repeat(32), "Ab".repeat(32), "33".repeat(32)];
const secretsOf =
  (values: Partial<Record<SecretName, string>>): Installation["secret"] =>
  (name) =>
    values[name];

describe("the keys of a source", () => {
  it("are the current one, then the previous ones in their order", () => {
    const secret = secretsOf({
      PWPUSH_MASTER_KEY: one,
      PWPUSH_MASTER_KEY_PREVIOUS: `${two} , ,${three},`,
      SECRET_KEY_BASE: "base",
    });
    expect(sourceKeysOf(secret)).toEqual({ masterKeys: [one, two, three], secretKeyBase: "base", warnings: [] });
  });

  it.each([{}, { PWPUSH_MASTER_KEY: publishedDefaultKey.toUpperCase() }])(
    "warn loudly when they are the published one: %j",
    (values) => {
      expect(sourceKeysOf(secretsOf(values)).warnings).toEqual([
        expect.stringContaining("Change the secrets that matter."),
      ]);
    },
  );

  it("stop the import when they are none, without being repeated", () => {
    const wrong = `${one}0`;
    const named = (values: Partial<Record<SecretName, string>>) => () => sourceKeysOf(secretsOf(values));

    expect(named({ PWPUSH_MASTER_KEY: wrong })).toThrow(
      "PWPUSH_MASTER_KEY does not hold what Password Pusher takes for a key",
    );
    expect(named({ PWPUSH_MASTER_KEY: one, PWPUSH_MASTER_KEY_PREVIOUS: `${two},${wrong}` })).toThrow(
      "PWPUSH_MASTER_KEY_PREVIOUS does not",
    );
    expect(named({ PWPUSH_MASTER_KEY: wrong })).not.toThrow(wrong);
  });
});
