import { describe, expect, it } from "vitest";
import { filesWith, loadValid } from "../../test/support/settings.ts";
import { settingTable } from "./config.ts";
import { configurationDoc } from "./configuration-doc.ts";
import { describeSettings } from "./describe-settings.ts";
import { unusedSettings } from "./password-pusher-settings.ts";
import { allSettings } from "./setting.ts";

const settings = allSettings(settingTable);

function origins(environment: Readonly<Record<string, string>>) {
  return loadValid(environment, filesWith("a1".repeat(32))).origins;
}

describe("the settings table", () => {
  it("has each name once, and only names with known prefixes", () => {
    const names = settings.map((row) => row.env);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^(PWP__|PWPUSH_MASTER_KEY|OTEL_)/.test(name))).toEqual([
      "PORT",
      "HOST",
      "DATA_DIR",
      "SEALPUSH_MOUNTS",
      "DATABASE_URL",
      "SEALPUSH_MOVE_IN",
      "SEALPUSH_DATABASE_URL",
      "FORCE_SSL",
      "PWP_PUBLIC_GATEWAY",
    ]);
  });

  it("describes each setting", () => {
    for (const row of settings) expect(row.doc, row.env).toMatch(/^[A-Z].*\.$/);
  });
});

describe("the configuration document", () => {
  const lines = configurationDoc().split("\n");
  const unusedHeading = "## Settings of Password Pusher that are not used here";

  it("has one row of four columns for each setting", () => {
    const rows = lines.slice(0, lines.indexOf(unusedHeading)).filter((line) => line.startsWith("| `"));
    expect(rows).toHaveLength(settings.length);
    for (const row of rows) expect(row.split(/(?<!\\)\|/), row).toHaveLength(6);
  });

  it("names every setting of Password Pusher that is not used, with the reason", () => {
    const part = lines.slice(lines.indexOf(unusedHeading)).join("\n");
    for (const { name, because } of unusedSettings) {
      expect(part).toContain(`\`${name}\``);
      expect(part).toContain(because);
    }
  });

  it("has one blank line between its parts, and ends with one line feed", () => {
    expect(configurationDoc()).not.toMatch(/\n\n\n/);
    expect(configurationDoc()).toMatch(/[^\n]\n$/);
  });
});

describe("the description of the settings in force", () => {
  it("names the source of each value and masks secrets", () => {
    const secret = "b2".repeat(32);
    const lines = describeSettings(
      origins({
        PORT: "80",
        DATABASE_URL: "sqlite:p.db",
        PWPUSH_MASTER_KEY: secret,
        PWPUSH_MASTER_KEY_PREVIOUS_FILE: "/run/old",
      }),
    );
    expect(lines).toHaveLength(settings.length);
    expect(lines).toContain("PORT = 80 (environment)");
    expect(lines).toContain("HOST = 127.0.0.1 (default)");
    expect(lines).toContain("DATABASE_URL = sqlite:p.db (environment)");
    expect(lines).toContain("PWPUSH_MASTER_KEY = (hidden) (environment)");
    expect(lines).toContain("PWPUSH_MASTER_KEY_PREVIOUS_FILE = /run/old (environment)");
    expect(lines.join("\n")).not.toMatch(/a1a1|b2b2/);
  });
});
