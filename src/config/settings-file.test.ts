import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf, noFile } from "../../test/support/settings.ts";
import { parseEnvFile } from "./env-file.ts";
import { defaultSettingsFile, environmentLine, parseSettingsFile } from "./settings-file.ts";

const files =
  (texts: Readonly<Record<string, string>>) =>
  (path: string): string =>
    texts[path] ?? noFile(path);

describe("settings.yml", () => {
  it("has the settings under the names of their environment variables, as Ruby reads it", () => {
    const text = `# comment with <%= ruby %>
allow_anonymous: false
disable_signups: on
default_locale: :de
override_base_url:
mail:
  smtp_port: 2525
  smtp_address: "smtp.example.com" # here
  mailer_sender: '"Acme" <push@example.com>'
files:
  s3: { region: eu-central-1, bucket: '' }
allowed_hosts: [a.example.com, b.example.com]
brand:
  disclaimer: >
    Two
    lines
`;
    expect(parseSettingsFile(text)).toEqual({
      ok: true,
      values: {
        PWP__ALLOW_ANONYMOUS: "false",
        PWP__DISABLE_SIGNUPS: "true",
        PWP__DEFAULT_LOCALE: "de",
        PWP__MAIL__SMTP_PORT: "2525",
        PWP__MAIL__SMTP_ADDRESS: "smtp.example.com",
        PWP__MAIL__MAILER_SENDER: '"Acme" <push@example.com>',
        PWP__FILES__S3__REGION: "eu-central-1",
        PWP__FILES__S3__BUCKET: "",
        PWP__ALLOWED_HOSTS: "a.example.com,b.example.com",
        PWP__BRAND__DISCLAIMER: "Two lines\n",
      },
    });
    expect(parseSettingsFile("# nothing\n")).toEqual({ ok: true, values: {} });
  });

  it.each([
    ["Ruby code", "a: 1\nb: <%= ENV['X'] %>", 2],
    ["bad indentation", "a: 1\nmail:\n  b: 1\n c: s3cret", 4],
    ["a name given twice", "a: 1\na: 2", 2],
    ["a list of maps", "a:\n  - b: 1", 2],
    ["an alias", "a: &x 1\nb: *x", 2],
    ["a text without names", "s3cret", 1],
    ["too much nesting", `${Array.from({ length: 12 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")} 1`, 11],
  ])("is refused with the line for %s, without its text", (_, text, line) => {
    const parsed = parseSettingsFile(text);
    expect(parsed).toMatchObject({ ok: false, line });
    expect(JSON.stringify(parsed)).not.toContain("s3cret");
  });

  it("is refused if it is too long", () => {
    expect(parseSettingsFile("#".repeat(600_000)).ok).toBe(false);
  });

  it("provides what the environment does not, and every setting says where it comes from", () => {
    const text = "log_level: warn\nallow_anonymous: false\nno_such_setting: 1\ntheme: flatly\n";
    const { config, warnings, origins, unused } = loadValid(
      { PWP_SETTINGS_FILE: "/etc/settings.yml", PWP__LOG_LEVEL: "error" },
      files({ "/etc/settings.yml": text }),
    );
    expect(config).toMatchObject({ logLevel: "error", allowAnonymous: false });
    const from = Object.fromEntries(origins.map((origin) => [origin.name, origin.from]));
    expect(from).toMatchObject({
      PWP__LOG_LEVEL: "environment",
      PWP__ALLOW_ANONYMOUS: "settings file",
      PWP__PURGE_AFTER: "default",
    });
    expect(warnings.join()).toContain("PWP__NO_SUCH_SETTING is not a setting");
    expect(unused.map(({ name }) => name)).toEqual(["PWP__THEME"]);
  });

  it("is found where Password Pusher has it, with the two files beside it", () => {
    const { config } = loadValid(
      {},
      files({
        [defaultSettingsFile]: "log_level: error\nallow_anonymous: false",
        "/opt/PasswordPusher/config/settings/production.yml": "log_level: warn",
        "/opt/PasswordPusher/config/settings.local.yml": "purge_after: 3 days",
      }),
    );
    expect(config).toMatchObject({ logLevel: "warn", allowAnonymous: false, purgeAfterMs: 3 * 86_400_000 });
  });

  it("stops the start if it is missing, broken or has a wrong value", () => {
    const PWP_SETTINGS_FILE = "/etc/settings.yml";
    expect(mistakesOf({ PWP_SETTINGS_FILE })).toEqual([
      "The settings file /etc/settings.yml cannot be read (no such file or folder).",
    ]);
    const broken = files({ [PWP_SETTINGS_FILE]: "a: 1\nb: [s3cret" });
    expect(mistakesOf({ PWP_SETTINGS_FILE }, broken)).toEqual([
      expect.stringMatching(/^\/etc\/settings\.yml, line 2: this is not valid YAML \([A-Z_]+\)\.$/),
    ]);
    const wrong = files({ [PWP_SETTINGS_FILE]: "disable_signups: 'no'" });
    expect(mistakesOf({ PWP_SETTINGS_FILE }, wrong)).toEqual([
      expect.stringMatching(/^PWP__DISABLE_SIGNUPS is "no", but/),
    ]);
  });

  it("gives way to a file that the environment names for the same secret", () => {
    const { config } = loadValid(
      {
        PWP_SETTINGS_FILE: "/etc/settings.yml",
        PWP__MAIL__SMTP_PASSWORD_FILE: "/run/password",
        PWP__OVERRIDE_BASE_URL: "https://a.example",
      },
      files({
        "/etc/settings.yml": "mail: { smtp_address: a.example, smtp_user_name: ada, smtp_password: old }",
        "/run/password": "fresh",
      }),
    );
    expect(config.mail?.signIn).toEqual({ userName: "ada", password: "fresh" });
  });
});

describe("a line of an environment file", () => {
  it.each([
    "",
    "plain",
    "a b",
    '"Acme" <a@example.com>',
    "it's",
    "#x",
    "\\A[^@\\s]+@a\\.example\\z",
    "$HOME `x`",
    "a=b",
    "ü",
  ])("keeps %j", (value) => {
    const line = environmentLine("PWP__BRAND__TITLE", value);
    expect(parseEnvFile(line ?? "").PWP__BRAND__TITLE).toBe(value);
  });

  it.each(["a\nb", `it's "$HOME"`, "it's\\"])("cannot contain %j", (value) => {
    expect(environmentLine("A", value)).toBeUndefined();
  });
});
