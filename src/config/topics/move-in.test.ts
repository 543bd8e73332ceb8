import { describe, expect, it } from "vitest";
import { describeEffects } from "../describe-settings.ts";
import { loadConfig } from "../load-config.ts";
import type { Environment } from "../setting.ts";

const keyOfSource = "a1".repeat(32);
const ofPasswordPusher = {
  DATABASE_URL: "mysql2://pw:word@db/pwpush",
  PWPUSH_MASTER_KEY: keyOfSource,
  PWP__FILES__STORAGE: "google",
  PWP__FILES__S3__BUCKET: "theirs",
};

function load(environment: Environment) {
  const files: Readonly<Record<string, string>> = { "/secrets/url": "postgres://us:word@db/sealpush" };
  return loadConfig(environment, (path) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error("missing"), { code: "ENOENT", syscall: "open" });
    return text;
  });
}

describe("while SEALPUSH_MOVE_IN is set", () => {
  it.each(["yes", "no"])("database, keys and file storage in the environment are the source's: %s", (wanted) => {
    const loaded = load({ ...ofPasswordPusher, SEALPUSH_MOVE_IN: wanted, DATA_DIR: "/srv/storage/sealpush" });
    if (!loaded.ok) throw new Error(loaded.mistakes.join("\n"));
    const { config, warnings, given, origins } = loaded;
    expect(config.database).toEqual({ engine: "sqlite", path: "/srv/storage/sealpush/sealpush.sqlite3" });
    expect(config).toMatchObject({ moveIn: wanted, masterKeys: [], files: { s3: undefined } });
    expect(given.DATABASE_URL).toBe(ofPasswordPusher.DATABASE_URL);
    for (const name of Object.keys(ofPasswordPusher)) {
      expect(warnings).toContain(`${name} is Password Pusher's while SEALPUSH_MOVE_IN is set.`);
    }
    expect(describeEffects(["PWPUSH_MASTER_KEY"], origins)).toEqual([
      "PWPUSH_MASTER_KEY  Password Pusher's while SEALPUSH_MOVE_IN is set",
    ]);
  });

  it("the own database can be a server's, also from a file", () => {
    const loaded = load({
      ...ofPasswordPusher,
      SEALPUSH_MOVE_IN: "yes",
      SEALPUSH_DATABASE_URL_FILE: "/secrets/url",
      DATABASE_URL_FILE: "/secrets/theirs",
    });
    expect(loaded.ok && loaded.config.database).toMatchObject({ engine: "postgres", database: "sealpush" });
  });
});

describe("SEALPUSH_MOVE_IN", () => {
  it("refuses other values", () => {
    expect(load({ SEALPUSH_MOVE_IN: "maybe" })).toMatchObject({
      ok: false,
      mistakes: ['SEALPUSH_MOVE_IN is "maybe", but it must be one of yes, no.'],
    });
  });

  it("must be set if SEALPUSH_DATABASE_URL is, which would otherwise be ignored", () => {
    expect(load({ SEALPUSH_DATABASE_URL: "sqlite:/srv/x" })).toMatchObject({
      ok: false,
      mistakes: [expect.stringContaining("only used while SEALPUSH_MOVE_IN is set")],
    });
  });
});
