import { describe, expect, it } from "vitest";
import { readSecret } from "./open-source.ts";

const noFile = (path: string): string => {
  throw Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open", path });
};

describe("a secret of the source's environment", () => {
  it("is the variable, or else the text of the file that it names", () => {
    const fromFile = { PWPUSH_MASTER_KEY: " ", PWPUSH_MASTER_KEY_FILE: "/run/key" };
    expect(readSecret(fromFile, "PWPUSH_MASTER_KEY", (path) => `text of ${path}\n`)).toBe("text of /run/key");

    const both = { PWPUSH_MASTER_KEY: " key ", PWPUSH_MASTER_KEY_FILE: "/run/key" };
    expect(readSecret(both, "PWPUSH_MASTER_KEY", noFile)).toBe("key");
  });

  it("is undefined when neither is set", () => {
    expect(readSecret({ PWPUSH_MASTER_KEY: "  " }, "PWPUSH_MASTER_KEY", noFile)).toBeUndefined();
  });

  it("is refused when its file cannot be read", () => {
    const environment = { PWPUSH_MASTER_KEY_FILE: "/run/secrets/key" };
    expect(() => readSecret(environment, "PWPUSH_MASTER_KEY", noFile)).toThrow(
      'PWPUSH_MASTER_KEY_FILE names "/run/secrets/key", which cannot be read (no such file or folder). Give the key itself as PWPUSH_MASTER_KEY',
    );
  });
});
