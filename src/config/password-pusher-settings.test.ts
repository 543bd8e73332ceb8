import { describe, expect, it } from "vitest";
import { documentedSettings } from "../../test/support/password-pusher-names.ts";
import { loadValid, mistakesOf } from "../../test/support/settings.ts";
import { settingTable } from "./config.ts";
import { reasonAgainst, unusedSettings } from "./password-pusher-settings.ts";
import { fileNameOf, settingsByFile } from "./secret-files.ts";
import { allSettings } from "./setting.ts";

const rows = allSettings(settingTable);
const honoured = new Set([...rows.map(({ env }) => env), ...settingsByFile(rows).map(fileNameOf)]);

describe("a setting that Password Pusher documents", () => {
  it.each(documentedSettings)("%s is either supported or listed with a reason", (name) => {
    expect([honoured.has(name), reasonAgainst(name) !== undefined].filter(Boolean)).toHaveLength(1);
  });

  it("is reported at the start if it is not used, without its value", () => {
    const environment = Object.fromEntries(
      documentedSettings.filter((name) => !honoured.has(name)).map((name) => [name, "s3cret"]),
    );
    const { warnings, unused } = loadValid(environment);
    expect(unused.map(({ name }) => name)).toEqual(Object.keys(environment).sort());
    for (const name of Object.keys(environment)) {
      expect(warnings.filter((warning) => warning.startsWith(`${name} is not used here, because `))).toHaveLength(1);
    }
    expect(warnings).toHaveLength(unused.length);
    expect(warnings.join()).not.toContain("s3cret");
  });

  it("counts as not set while it is empty", () => {
    expect(loadValid({ PWP__THEME: "", PWP__FEEDBACK__EMAIL: "  " })).toMatchObject({ warnings: [], unused: [] });
  });

  it("causes at most 300 warnings", () => {
    const names = Array.from({ length: 1_000 }, (_, at) => [`PWP__GEN__PASSWORD__${at}`, "1"] as const);
    expect(loadValid(Object.fromEntries(names)).warnings).toHaveLength(300);
  });
});

it("reasons are given only for settings that are not supported, and each is a clause", () => {
  for (const { name, because } of unusedSettings) {
    expect(honoured.has(name), name).toBe(false);
    expect(because).toMatch(/^[a-zP].*[^.]$/);
  }
});

it("a misspelled name is still reported with the nearest setting", () => {
  expect(loadValid({ PWP__TEHME: "x", PWP__BRAND__TITEL: "x" }).warnings).toEqual([
    expect.stringMatching(/^PWP__BRAND__TITEL .*did you mean PWP__BRAND__TITLE\?$/),
    expect.stringMatching(/^PWP__TEHME is not a setting/),
  ]);
});

describe("values in the spelling of Password Pusher's env files", () => {
  it("a sender in quotes", () => {
    const mail = { PWP__MAIL__SMTP_ADDRESS: "smtp.example.com", PWP__HOST_DOMAIN: "push.example.com" };
    const sender = (PWP__MAIL__MAILER_SENDER: string) =>
      loadValid({ ...mail, PWP__MAIL__MAILER_SENDER }).config.mail?.sender;
    expect(sender('"Company Name" <user@example.com>')).toBe("Company Name <user@example.com>");
    expect(mistakesOf({ PWP__MAIL__MAILER_SENDER: '"A" "B" <user@example.com>' })).toHaveLength(1);
  });

  it("levels of the log, with the colon of a Ruby symbol", () => {
    const level = (PWP__LOG_LEVEL: string) => loadValid({ PWP__LOG_LEVEL }).config.logLevel;
    expect([level(":warn"), level("Warn"), level("fatal"), level("unknown")]).toEqual([
      "warn",
      "warn",
      "error",
      "error",
    ]);
    expect(mistakesOf({ PWP__LOG_LEVEL: "::warn" })).toHaveLength(1);
  });

  it("parameters of a database address that have no effect are named", () => {
    const url = "postgres://push@localhost/push?reconnect=true&gssencmode=prefer&pool=5";
    expect(loadValid({ DATABASE_URL: url }).warnings).toEqual([
      "reconnect in DATABASE_URL has no effect: lost connections are always replaced.",
      "gssencmode in DATABASE_URL has no effect: connections are encrypted by TLS only (sslmode).",
    ]);
  });

  it("a host and a scheme for the links in emails only", () => {
    const mail = { PWP__MAIL__SMTP_ADDRESS: "smtp.example.com", PWP__HOST_DOMAIN: "push.example.com" };
    const { config, warnings } = loadValid(mail);
    expect(warnings).toEqual([]);
    expect(config.mail).toMatchObject({ baseUrl: "https://push.example.com", sender: "sealpush@push.example.com" });
    expect(config.overrideBaseUrl).toBeUndefined();
    expect(
      loadValid({ ...mail, PWP__HOST_PROTOCOL: "http", PWP__HOST_DOMAIN: "push.example.com:5100" }).config.mail
        ?.baseUrl,
    ).toBe("http://push.example.com:5100");
    expect(loadValid({ ...mail, PWP__OVERRIDE_BASE_URL: "https://a.example.com" }).config.mail?.baseUrl).toBe(
      "https://a.example.com",
    );
    for (const host of [
      "https://push.example.com",
      "push.example.com/x",
      "a b",
      "push.example.com:0",
      "push.example.com:70000",
      "a@b",
    ]) {
      expect(mistakesOf({ PWP__HOST_DOMAIN: host }), host).toHaveLength(1);
    }
  });

  it.each([
    [{}, "auto"],
    [{ PWP__MAIL__SMTP_STARTTLS: "true" }, "required"],
    [{ PWP__MAIL__SMTP_STARTTLS: "false" }, "auto"],
    [{ PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO: "false" }, "off"],
    [{ PWP__MAIL__SMTP_STARTTLS: "true", PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO: "false" }, "required"],
  ] as const)("TLS to the mail server: %j is %s", (environment, startTls) => {
    const mail = { PWP__MAIL__SMTP_ADDRESS: "smtp.example.com", PWP__HOST_DOMAIN: "push.example.com" };
    expect(loadValid({ ...mail, ...environment }).config.mail?.startTls).toBe(startTls);
  });

  it("files at Amazon, whose endpoint follows from the region, and at compatible stores", () => {
    const amazon = {
      PWP__FILES__STORAGE: "amazon",
      PWP__FILES__S3__BUCKET: "pushes",
      PWP__FILES__S3__REGION: "eu-central-1",
      PWP__FILES__S3__ACCESS_KEY_ID: "id",
      PWP__FILES__S3__SECRET_ACCESS_KEY: "key",
    };
    expect(loadValid(amazon).config.files.s3?.endpoint).toBe("https://s3.eu-central-1.amazonaws.com");
    const other = { ...amazon, PWP__FILES__S3__ENDPOINT: "https://s3.example.com" };
    expect(loadValid(other).config.files.s3?.endpoint).toBe("https://s3.example.com");
    const compatibleStores = [
      "minio",
      "backblaze_b2",
      "cloudflare_r2",
      "digitalocean_spaces",
      "linode_object_storage",
      "wasabi",
    ];
    for (const storage of compatibleStores) {
      const given = { ...other, PWP__FILES__STORAGE: storage };
      expect(loadValid(given)).toMatchObject({ warnings: [], config: { files: { s3: { bucket: "pushes" } } } });
      const { PWP__FILES__S3__ENDPOINT: _, ...withoutEndpoint } = given;
      expect(mistakesOf(withoutEndpoint)).toEqual([
        expect.stringContaining("PWP__FILES__S3__ENDPOINT must be given too"),
      ]);
    }
    for (const storage of ["google", "microsoft"]) {
      expect(mistakesOf({ PWP__FILES__STORAGE: storage })[0]).toMatch(/S3-compatible store only/);
    }
  });

  it("Cloudflare as the proxy", () => {
    const { trustedProxies } = loadValid({ PWP__CLOUDFLARE_PROXY: "true", PWP__TRUSTED_PROXIES: "10.0.0.1" }).config;
    expect(trustedProxies).toContain("10.0.0.1");
    expect(trustedProxies).toContain("173.245.48.0/20");
    expect(loadValid({}).config.trustedProxies).toEqual(["127.0.0.0/8", "::1/128"]);
  });

  it("a title, and a language that is not supported", () => {
    expect(loadValid({ PWP__BRAND__TITLE: "Acme Corp." }).config.brandTitle).toBe("Acme Corp.");
    for (const title of ["a".repeat(61), "a\u202eb"]) expect(mistakesOf({ PWP__BRAND__TITLE: title })).toHaveLength(1);
    expect(loadValid({ PWP__DEFAULT_LOCALE: "pt-BR" })).toMatchObject({
      warnings: [],
      config: { defaultLocale: "pt-BR" },
    });
    expect(loadValid({ PWP__DEFAULT_LOCALE: ":de" }).config.defaultLocale).toBe("de");
    expect(loadValid({ PWP__DEFAULT_LOCALE: "sv" }).warnings).toEqual([
      expect.stringContaining("English is used instead"),
    ]);
    expect(mistakesOf({ PWP__DEFAULT_LOCALE: "<de>" })).toHaveLength(1);
  });

  it("a domain for certificates: outside of the image, two commands do the same", () => {
    const { warnings } = loadValid({ TLS_DOMAIN: "push.example.com" });
    expect(warnings).toEqual([expect.stringMatching(/`apt-get install caddy .*`, and `SEALPUSH_URL=.* caddy run .*`/)]);
  });

  it("HTTPS for all requests, including cookies", () => {
    expect(loadValid({ FORCE_SSL: "true" }).config).toMatchObject({ forceHttps: true, secureCookies: true });
    expect(loadValid({ FORCE_SSL: "true", PWP__SECURE_COOKIES: "false" }).config.secureCookies).toBe(true);
    expect(loadValid({}).config).toMatchObject({ forceHttps: false, secureCookies: "auto" });
    for (const name of ["FORCE_SSL", "PWP_PUBLIC_GATEWAY"]) {
      expect(mistakesOf({ [name]: "false" })).toEqual([
        expect.stringContaining("any value switches it on, even false"),
      ]);
    }
  });
});
