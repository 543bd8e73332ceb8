import { describe, expect, it } from "vitest";
import { publishedDefaultKey } from "./lockbox.ts";
import { sourceKeysOf } from "./source-keys.ts";

const [one, two, three] = ["11".repeat(32), "Ab".repeat(32), "33".repeat(32)];
const noFile = (path: string): string => {
  throw Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open", path });
};

describe("the keys of a source", () => {
  it("are the current one, then the previous ones in their order, from variables or files", () => {
    const files: Readonly<Record<string, string>> = { "/run/key": `${one}\n`, "/run/old": ` ${two} , ,${three},\n` };
    const environment = {
      PWPUSH_MASTER_KEY: "",
      PWPUSH_MASTER_KEY_FILE: "/run/key",
      PWPUSH_MASTER_KEY_PREVIOUS_FILE: "/run/old",
      SECRET_KEY_BASE: "base",
    };

    expect(sourceKeysOf(environment, (path) => files[path] ?? "")).toEqual({
      masterKeys: [one, two, three],
      secretKeyBase: "base",
      warnings: [],
    });
  });

  it("are taken from the variable when there is a file too, which is not read", () => {
    const environment = { PWPUSH_MASTER_KEY: one, PWPUSH_MASTER_KEY_FILE: "/run/key" };
    expect(sourceKeysOf(environment, noFile).masterKeys).toEqual([one]);
  });

  it.each([{}, { PWPUSH_MASTER_KEY: "  " }, { PWPUSH_MASTER_KEY: publishedDefaultKey.toUpperCase() }])(
    "warn loudly when they are the published one: %j",
    (environment) => {
      expect(sourceKeysOf(environment, noFile).warnings).toEqual([
        expect.stringContaining("Change the secrets that matter."),
      ]);
    },
  );

  it("stop the import when they are none, without being repeated", () => {
    const wrong = `${one}0`;
    const named = (environment: Readonly<Record<string, string>>) => () => sourceKeysOf(environment, noFile);

    expect(named({ PWPUSH_MASTER_KEY: wrong })).toThrow(
      "PWPUSH_MASTER_KEY does not hold what Password Pusher takes for a key",
    );
    expect(named({ PWPUSH_MASTER_KEY: one, PWPUSH_MASTER_KEY_PREVIOUS: `${two},${wrong}` })).toThrow(
      "PWPUSH_MASTER_KEY_PREVIOUS does not",
    );
    expect(named({ PWPUSH_MASTER_KEY: wrong })).not.toThrow(wrong);
    expect(named({ PWPUSH_MASTER_KEY_FILE: "/run/secrets/key" })).toThrow(
      'PWPUSH_MASTER_KEY_FILE names "/run/secrets/key", which cannot be read (ENOENT). Give the key itself as PWPUSH_MASTER_KEY',
    );
  });
});
