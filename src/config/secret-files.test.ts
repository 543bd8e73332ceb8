import { describe, expect, it } from "vitest";
import { filesWith, loadValid, mistakesOf, noFile } from "../../test/support/settings.ts";

const mail = { PWP__MAIL__SMTP_ADDRESS: "mail.example.com", PWP__MAIL__SMTP_USER_NAME: "push" };
const site = { PWP__OVERRIDE_BASE_URL: "https://push.example.com" };

function files(contents: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => contents[path] ?? noFile(path);
}

describe("a secret in a file", () => {
  it("has the effect of the variable, without the final line feed, and is not shown", () => {
    const { config, warnings, origins } = loadValid(
      { ...mail, ...site, PWP__MAIL__SMTP_PASSWORD_FILE: "/run/secrets/smtp" },
      files({ "/run/secrets/smtp": "opens the mail\n" }),
    );
    expect(config.mail?.signIn).toEqual({ userName: "push", password: "opens the mail" });
    expect(warnings).toEqual([]);
    expect(origins.find(({ name }) => name === "PWP__MAIL__SMTP_PASSWORD")).toEqual({
      name: "PWP__MAIL__SMTP_PASSWORD",
      from: "environment",
      shown: "(hidden)",
    });
  });

  it("can contain the database address, which may include a password", () => {
    const { origins } = loadValid({ DATABASE_URL_FILE: "/run/db" }, files({ "/run/db": "sqlite:/srv/push.sqlite3\n" }));
    expect(origins.find(({ name }) => name === "DATABASE_URL")?.shown).toBe("sqlite:/srv/push.sqlite3");
  });

  it("is refused if both the variable and the file are set", () => {
    expect(
      mistakesOf({ PWP__MAIL__SMTP_PASSWORD: "a", PWP__MAIL__SMTP_PASSWORD_FILE: "/run/b" }, files({ "/run/b": "b" })),
    ).toEqual(["PWP__MAIL__SMTP_PASSWORD and PWP__MAIL__SMTP_PASSWORD_FILE are both given: give one of them."]);
  });

  it("is refused if the file is missing, empty or too large", () => {
    const environment = { PWP__OIDC__CLIENT_SECRET_FILE: "/run/oidc" };
    expect(mistakesOf(environment)).toEqual([
      'PWP__OIDC__CLIENT_SECRET_FILE names "/run/oidc", which cannot be read (no such file or folder).',
    ]);
    expect(mistakesOf(environment, filesWith(" \n"))).toEqual([
      'PWP__OIDC__CLIENT_SECRET_FILE names "/run/oidc", which is empty.',
    ]);
    expect(mistakesOf(environment, filesWith("x".repeat(100_000)))).toEqual([
      'PWP__OIDC__CLIENT_SECRET_FILE names "/run/oidc", which is too large for a secret.',
    ]);
  });

  it("is supported for secrets only: other names with _FILE are unknown", () => {
    const { warnings } = loadValid({ PWP__BRAND_FILE: "/x", PWP__LOG_LEVEL_FILE: "/run/level" });
    expect(warnings.filter((warning) => warning.startsWith("PWP__LOG_LEVEL_FILE is not a setting"))).toHaveLength(1);
  });
});
