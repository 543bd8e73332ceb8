import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf, noFile } from "../../test/support/settings.ts";
import { settingTable } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { allSettings, type Environment } from "./setting.ts";

describe("the configuration", () => {
  it("has defaults for every setting", () => {
    const { config, warnings, origins } = loadValid({});
    const range = { days: { default: 7, min: 1, max: 90 }, views: { default: 5, min: 1, max: 100 } };
    const on = { offered: true, default: true };
    const kind = { enabled: true, ...range, retrievalStep: on, deletableByViewer: on, blur: true };
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 5100,
      shutdownGraceMs: 0,
      shutdownIdleMs: 1_000,
      dataDir: resolve("data"),
      database: { engine: "sqlite", path: resolve("data/sealpush.sqlite3") },
      masterKeys: [],
      allowAnonymous: true,
      kinds: {
        text: kind,
        file: kind,
        url: { ...kind, deletableByViewer: { offered: true, default: false } },
        qr: kind,
      },
      files: { allowAnonymous: false, maxFileUploads: 10, pushBytesMax: 2147483648, ticketTtlSeconds: 900 },
      overrideBaseUrl: undefined,
      allowedHosts: [],
      trustedProxies: ["127.0.0.0/8", "::1/128"],
      throttling: { minute: 120, second: 60 },
      logLevel: "info",
      requestLog: { addresses: false },
      metrics: undefined,
      tracing: undefined,
      purgeAfterMs: undefined,
      freeDiskBytesMin: "auto",
      anonymousReserveBytes: "auto",
      anonymousBytesMax: "auto",
      bytesPerDay: { client: 2 * 1024 ** 3, account: 20 * 1024 ** 3 },
      connectionsPerClientMax: 256,
      accounts: {
        signupsDisabled: false,
        loginsDisabled: false,
        signupEmailPattern: undefined,
        emails: false,
        requireSecondFactor: false,
        sessionTimeoutSeconds: 7200,
        sessionMaxSeconds: 90 * 86_400,
        signOnOnly: false,
      },
      mail: undefined,
      linkDeliveries: { enabled: false, dailyMax: 500 },
      singleSignOn: undefined,
      scim: undefined,
      secureCookies: "auto",
      forceHttps: false,
      brandTitle: undefined,
      defaultLocale: undefined,
    });
    expect(warnings).toEqual([]);
    const names = allSettings(settingTable).map(({ env }) => env);
    expect(origins).toEqual(names.map((name) => ({ name, from: "default", shown: expect.any(String) })));
  });

  it("uses every setting that is given", () => {
    const { config, warnings } = loadValid({
      PORT: "8080",
      HOST: "0.0.0.0",
      DATA_DIR: "/srv/push",
      DATABASE_URL: "sqlite:///srv/db/p.sqlite3",
      PWP__ALLOW_ANONYMOUS: "false",
      PWP__ENABLE_URL_PUSHES: "false",
      PWP__QR__EXPIRE_AFTER_DAYS_MAX: "3650",
      PWP__QR__ENABLE_BLUR: "false",
      PWP__FILES__MAX_PUSH_BYTES: "512MB",
      PWP__OVERRIDE_BASE_URL: "https://push.example.com/",
      PWP__ALLOWED_HOSTS: ".example.com",
      PWP__TRUSTED_PROXIES: "none",
      PWP__THROTTLING__SECOND: "unlimited",
      PWP__LOG_LEVEL: "FATAL",
      PWP__PURGE_AFTER: "3 months",
      PWP__DISK__FREE_MIN_BYTES: "0",
      PWP__DISK__RESERVE_BYTES: "2GiB",
      PWP__ANONYMOUS_BYTES_MAX: "10GiB",
      PWP__CLIENT_BYTES_PER_DAY: "0",
      PWP__ACCOUNT_BYTES_PER_DAY: "1GiB",
      PWP__LOGIN_SESSION_TIMEOUT: "3600",
      PWP__SECURE_COOKIES: "true",
      PWP__DISABLE_SIGNUPS: "true",
      PWP__DISABLE_LOGINS: "true",
      PWP__SIGNUP_EMAIL_REGEXP: "\\A[^@\\s]+@example\\.com\\z",
      PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
      PWP__REQUIRE_MFA: "true",
      PWP__MAIL__SMTP_ADDRESS: "smtp.example.com",
      PWP__MAIL__SMTP_PORT: "465",
      PWP__MAIL__SMTP_STARTTLS: "required",
      PWP__MAIL__SMTP_USER_NAME: "push",
      PWP__MAIL__SMTP_PASSWORD: "quartz",
      PWP__MAIL__MAILER_SENDER: "Sealpush <push@example.com>",
      PWP__OIDC__ISSUER: "https://id.example.com/realm",
      PWP__OIDC__CLIENT_ID: "sealpush",
      PWP__OIDC__CLIENT_SECRET: "lantern",
      PWP__OIDC__NAME: "Example ID",
    });
    expect(config).toMatchObject({
      port: 8080,
      host: "0.0.0.0",
      dataDir: "/srv/push",
      database: { engine: "sqlite", path: "/srv/db/p.sqlite3" },
      allowAnonymous: false,
      files: { pushBytesMax: 512_000_000 },
      overrideBaseUrl: "https://push.example.com",
      allowedHosts: [".example.com"],
      trustedProxies: [],
      throttling: { minute: 120, second: 0 },
      logLevel: "error",
      purgeAfterMs: 90 * 86_400_000,
      freeDiskBytesMin: 0,
      anonymousReserveBytes: 2 * 1024 ** 3,
      anonymousBytesMax: 10 * 1024 ** 3,
      bytesPerDay: { client: 0, account: 1024 ** 3 },
      accounts: {
        signupsDisabled: true,
        loginsDisabled: true,
        signupEmailPattern: expect.any(RegExp),
        emails: true,
        requireSecondFactor: true,
        sessionTimeoutSeconds: 3600,
      },
      mail: {
        host: "smtp.example.com",
        port: 465,
        startTls: "required",
        signIn: { userName: "push", password: "quartz" },
        sender: "Sealpush <push@example.com>",
        baseUrl: "https://push.example.com",
      },
      singleSignOn: {
        issuer: "https://id.example.com/realm",
        clientId: "sealpush",
        clientSecret: "lantern",
        name: "Example ID",
        baseUrl: "https://push.example.com",
      },
      secureCookies: true,
    });
    expect(config.kinds.url.enabled).toBe(false);
    expect(config.kinds.qr).toMatchObject({ enabled: true, blur: false, days: { default: 7, min: 1, max: 3650 } });
    expect(warnings).toEqual([expect.stringMatching(/^With PWP__DISABLE_LOGINS nobody can set up/)]);
  });

  it("sends emails to the submission port, with TLS where it is offered, if only the server is named", () => {
    const { config, warnings } = loadValid({
      PWP__MAIL__SMTP_ADDRESS: "smtp.example.com",
      PWP__OVERRIDE_BASE_URL: "https://push.example.com",
    });
    expect(config.mail).toEqual({
      host: "smtp.example.com",
      port: 587,
      startTls: "auto",
      authenticationMethod: undefined,
      greetingName: undefined,
      signIn: undefined,
      openTimeoutMs: 10_000,
      readTimeoutMs: 60_000,
      verifiesCertificate: true,
      sender: "sealpush@push.example.com",
      replyTo: undefined,
      defaultLocale: undefined,
      baseUrl: "https://push.example.com",
      pushBaseUrl: "https://push.example.com",
    });
    expect(warnings).toEqual([]);
  });

  it("treats an empty value as not set, and removes one pair of quotes", () => {
    const { config, origins } = loadValid({
      PORT: "",
      HOST: "  ",
      DATA_DIR: '""',
      PWP__ENABLE_QR_PUSHES: ' "false" ',
      PWP__LOG_LEVEL: "'warn'",
    });
    expect(config).toMatchObject({ port: 5100, host: "127.0.0.1", dataDir: resolve("data"), logLevel: "warn" });
    expect(config.kinds.qr.enabled).toBe(false);
    expect(origins.find(({ name }) => name === "DATA_DIR")?.from).toBe("default");
    expect(mistakesOf({ PORT: '""8080""' })).toHaveLength(1);
  });

  it("turns off defaults of options that are not offered, and anonymous files without anonymous pushes", () => {
    const { config, warnings } = loadValid({
      PWP__PW__ENABLE_RETRIEVAL_STEP: "false",
      PWP__FILES__ENABLE_DELETABLE_PUSHES: "false",
      PWP__ALLOW_ANONYMOUS: "false",
      PWP__FILES__ALLOW_ANONYMOUS: "true",
    });
    expect(config.kinds.text.retrievalStep).toEqual({ offered: false, default: false });
    expect(config.kinds.file.deletableByViewer).toEqual({ offered: false, default: false });
    expect(config.files.allowAnonymous).toBe(false);
    expect(warnings).toEqual(["PWP__FILES__ALLOW_ANONYMOUS has no effect while PWP__ALLOW_ANONYMOUS is off."]);
  });
});

describe("mistakes", () => {
  it("include single sign-on as the only way in, while it is off", () => {
    const issuer = { PWP__OIDC__ISSUER: "https://id.example.com", PWP__OVERRIDE_BASE_URL: "https://push.example.com" };
    for (const environment of [{}, issuer]) {
      expect(mistakesOf({ ...environment, PWP__OIDC__ONLY: "true" })).toEqual([
        "PWP__OIDC__ONLY is on, and single sign-on is off: it needs PWP__OIDC__ISSUER, PWP__OIDC__CLIENT_ID and a base URL.",
      ]);
    }
  });

  it("are reported all at once, each with the name, the value and what is allowed", () => {
    const mistakes = mistakesOf({
      PORT: "http",
      PWP__ALLOW_ANONYMOUS: "flase",
      PWP__URL__EXPIRE_AFTER_DAYS_DEFAULT: "91",
      PWP__FILES__MAX_FILE_UPLOADS: "ten",
      PWPUSH_MASTER_KEY: "short",
    });
    expect(mistakes).toEqual([
      'PORT is "http", but it must be a whole number from 0 to 65535.',
      'PWP__ALLOW_ANONYMOUS is "flase", but it must be true or false, in lower case.',
      'PWP__FILES__MAX_FILE_UPLOADS is "ten", but it must be a whole number from 1 to 1000000.',
      expect.stringMatching(/^PWPUSH_MASTER_KEY: .*64 hex digits/),
      "PWP__URL__EXPIRE_AFTER_DAYS_DEFAULT (91) is outside the range PWP__URL__EXPIRE_AFTER_DAYS_MIN (1) to PWP__URL__EXPIRE_AFTER_DAYS_MAX (90).",
    ]);
  });

  const switches = allSettings(settingTable).filter(({ allowed }) => /\btrue\b/.test(allowed));

  it.each(switches.map(({ env }) => env))(
    "include every other spelling of the switch %s, and an empty value",
    (env) => {
      for (const text of ["False", "TRUE", "no", "on", "0", "1"]) {
        expect(mistakesOf({ [env]: text }), text).toEqual([
          expect.stringMatching(`^${env} is "${text}", but .*true.*false`),
        ]);
      }
      for (const text of ["", " ", '""']) {
        expect(mistakesOf({ [env]: text })).toEqual([
          expect.stringMatching(`^${env} is empty, but it must be .*true.*false`),
        ]);
      }
    },
  );

  it.each(["PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT", "PWP__THROTTLING__MINUTE", "PWP__THROTTLING__SECOND"])(
    "include an empty %s, which has a meaning of its own in Password Pusher",
    (env) => {
      expect(mistakesOf({ [env]: "" })).toEqual([
        expect.stringMatching(`^${env} is empty, but it must be a number[,;] `),
      ]);
    },
  );

  it.each(["PWP__THROTTLING__MINUTE", "PWP__THROTTLING__SECOND"])(
    "include %s=0, which refuses every request in Password Pusher",
    (env) => {
      for (const text of ["0", "00"]) {
        expect(mistakesOf({ [env]: text })).toEqual([
          expect.stringContaining("write unlimited to switch the limit off"),
        ]);
      }
    },
  );

  it("never repeat a password in a URL, and are one short line", () => {
    const mistakes = mistakesOf({
      DATABASE_URL: "postgres://push:hunter2@db/push?connect=5",
      PWP__OVERRIDE_BASE_URL: "https://admin:hunter2@push.example.com",
      PWP__LOG_LEVEL: `loud\n\u202e${"!".repeat(5000)}`,
    });
    expect(mistakes.join()).not.toContain("hunter2");
    expect(mistakes[0]).toMatch(/^DATABASE_URL cannot be used: only the parameters .* are supported\.$/);
    for (const mistake of mistakes) {
      expect(mistake.length).toBeLessThan(300);
      expect(mistake).not.toMatch(/[\n\u202e]/);
    }
  });

  it("include contradicting bounds, whichever of them was given", () => {
    expect(mistakesOf({ PWP__PW__EXPIRE_AFTER_VIEWS_MIN: "20", PWP__PW__EXPIRE_AFTER_VIEWS_MAX: "10" })).toEqual([
      "PWP__PW__EXPIRE_AFTER_VIEWS_MIN (20) is above PWP__PW__EXPIRE_AFTER_VIEWS_MAX (10).",
    ]);
    expect(mistakesOf({ PWP__PW__EXPIRE_AFTER_DAYS_MIN: "91" })).toHaveLength(1);
    for (const value of ["0", "-1", "3651", "NaN", "1.5"]) {
      expect(mistakesOf({ PWP__PW__EXPIRE_AFTER_DAYS_MAX: value }), value).toHaveLength(1);
    }
  });

  it("include rules below what a kind of push needs at least", () => {
    const rules = { PWP__POLICY__MAX_VIEWS: "2", PWP__POLICY__MAX_MINUTES: "1440" };
    const least = { PWP__PW__EXPIRE_AFTER_VIEWS_MIN: "3", PWP__URL__EXPIRE_AFTER_DAYS_MIN: "2" };
    expect(mistakesOf({ ...rules, ...least })).toEqual([
      "PWP__POLICY__MAX_VIEWS (2) is below PWP__PW__EXPIRE_AFTER_VIEWS_MIN (3).",
      "PWP__POLICY__MAX_MINUTES (1440) is below PWP__URL__EXPIRE_AFTER_DAYS_MIN (2 days).",
    ]);
    // A kind that cannot be created needs nothing, and a life that begins its second day counts as two.
    const { policy } = loadValid({ ...rules, ...least, PWP__POLICY__KINDS: "file,qr" }).config;
    expect(policy).toMatchObject({ maxViews: 2, maxMinutes: 1_440 });
    loadValid({ ...least, PWP__POLICY__MAX_VIEWS: "3", PWP__POLICY__MAX_MINUTES: "1441" });
  });

  it("do not include a built-in default that adjusts to a bound", () => {
    const { config, warnings, origins } = loadValid({
      PWP__PW__EXPIRE_AFTER_DAYS_MAX: "3",
      PWP__URL__EXPIRE_AFTER_VIEWS_MIN: "8",
    });
    expect(config.kinds.text.days).toEqual({ default: 3, min: 1, max: 3 });
    expect(config.kinds.url.views).toEqual({ default: 8, min: 8, max: 100 });
    expect(warnings).toHaveLength(2);
    expect(origins).toContainEqual({ name: "PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT", from: "default", shown: "3" });
  });
});

describe("warnings", () => {
  it("name the most similar setting, and never a value", () => {
    const { warnings } = loadValid({
      PWP__ALOW_ANONYMOUS: "s3cret",
      PWPUSH_MASTERKEY: "s3cret",
      PWP__FEEDBACK__EMAIL: "s3cret",
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^PWP__FEEDBACK__EMAIL is not used here, because /),
      "PWPUSH_MASTERKEY is not a setting of this version and has no effect: did you mean PWPUSH_MASTER_KEY?",
      "PWP__ALOW_ANONYMOUS is not a setting of this version and has no effect: did you mean PWP__ALLOW_ANONYMOUS?",
    ]);
  });

  it.each([
    ["db.example.com", 1],
    ["10.0.0.7", 1],
    ["127.0.0.1", 0],
    ["[::1]", 0],
    ["localhost", 0],
    ["db", 0],
  ])("are given for a remote PostgreSQL server without TLS only: %s", (host, count) => {
    expect(loadValid({ DATABASE_URL: `postgres://push:quartz@${host}/push` }).warnings).toHaveLength(count);
    expect(loadValid({ DATABASE_URL: `postgres://push:quartz@${host}/push?sslmode=verify-full` }).warnings).toEqual([]);
  });

  it("are limited in number and length, and come with mistakes too", () => {
    const names = Array.from({ length: 500 }, (_, at) => [`PWP__X${at}_${"Y".repeat(300)}`, "1"]);
    const result = loadConfig({ ...Object.fromEntries(names), PORT: "x" }, noFile);
    expect(result.ok).toBe(false);
    expect(result.warnings).toHaveLength(21);
    expect(result.warnings.at(-1)).toMatch(/^480 more/);
    for (const warning of result.warnings) expect(warning.length).toBeLessThan(250);
  });

  it("ignore other programs' variables", () => {
    expect(loadValid({ PATH: "/bin", PWD: "/", PWPX: "1" }).warnings).toEqual([]);
  });

  it("are about settings that are probably not meant together", () => {
    const https = { PWP__OVERRIDE_BASE_URL: "https://push.example.com" };
    const cases: [Environment, RegExp][] = [
      [{ ...https, PWP__ALLOWED_HOSTS: "example.com" }, /not among PWP__ALLOWED_HOSTS/],
      [{ ...https, PWP__SECURE_COOKIES: "false" }, /=false has no effect: PWP__OVERRIDE_BASE_URL is HTTPS/],
      [{ FORCE_SSL: "true", PWP__SECURE_COOKIES: "false" }, /=false has no effect: FORCE_SSL is on/],
      [{ PWP__OVERRIDE_BASE_URL: "http://push.lan", PWP__SECURE_COOKIES: "true" }, /nobody could sign in/],
      [{ PWP__OVERRIDE_BASE_URL: "http://push.lan", FORCE_SSL: "true" }, /every page answers with a redirect to HTTPS/],
      [{ PWP__DISABLE_LOGINS: "true", PWP__REQUIRE_MFA: "true" }, /nobody can set up the two-step sign-in/],
      [{ PWP__TRUSTED_PROXIES: "10.0.0.1, ::/0" }, /includes every address/],
      [{ PWP__MAIL__SMTP_ADDRESS: "smtp.example.com" }, /^No email is sent: .*PWP__OVERRIDE_BASE_URL/],
      [{ ...https, PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" }, /^No email is sent: .*PWP__MAIL__SMTP_ADDRESS/],
      [{ PWP__MAIL__SMTP_PASSWORD: "quartz" }, /no effect without PWP__MAIL__SMTP_USER_NAME/],
      [
        { PWP__OIDC__USER_GROUP: "staff", PWP__OIDC__CLIENT_ID: "a" },
        /^Without PWP__OIDC__ISSUER, these have no effect: PWP__OIDC__CLIENT_ID, PWP__OIDC__USER_GROUP\.$/,
      ],
      [
        { PWP__POLICY__KINDS: "url,qr", PWP__POLICY__ENCRYPTION_REQUIRED: "true" },
        /^Nobody can create pushes: PWP__POLICY__KINDS and PWP__POLICY__ENCRYPTION_REQUIRED leave no kind/,
      ],
      [{ PWP__POLICY__KINDS: "url", PWP__ENABLE_URL_PUSHES: "false" }, /^Nobody can create pushes: PWP__POLICY__KINDS/],
      [{ ...https, PWP__OIDC__ISSUER: "https://id.example.com" }, /needs PWP__OIDC__CLIENT_ID/],
      [{ PWP__OIDC__ISSUER: "https://id.example.com", PWP__OIDC__CLIENT_ID: "a" }, /needs PWP__OVERRIDE_BASE_URL/],
      [{ PWP__SCIM__TOKEN: "s".repeat(32) }, /^PWP__SCIM__TOKEN is set, and single sign-on is off/],
      [{ PWP__ALLOW_ANONYMOUS: "false", PWP__REQUESTS__ALLOW_ANONYMOUS: "true" }, /while PWP__ALLOW_ANONYMOUS is off/],
      [{ PWP__REQUESTS__ENABLED: "false", PWP__REQUESTS__ALLOW_ANONYMOUS: "true" }, /while PWP__REQUESTS__ENABLED is/],
      [{ PWP__ENABLE_FILE_PUSHES: "false", PWP__FILES__ALLOW_ANONYMOUS: "true" }, /while PWP__ENABLE_FILE_PUSHES is/],
      [
        {
          ...https,
          PWP__OIDC__ISSUER: "https://id.example.com",
          PWP__OIDC__CLIENT_ID: "a",
          PWP__OIDC__ONLY: "true",
          PWP__REQUIRE_MFA: "true",
        },
        /^PWP__REQUIRE_MFA has no effect: with PWP__OIDC__ONLY/,
      ],
    ];
    for (const [environment, expected] of cases) {
      expect(loadValid(environment).warnings).toEqual([expect.stringMatching(expected)]);
    }
    expect(loadValid({ ...https, PWP__ALLOWED_HOSTS: "push.example.com" }).warnings).toEqual([]);
    expect(loadValid({ ...https, PWP__ALLOWED_HOSTS: ".push.example.com" }).warnings).toEqual([]);
    expect(loadValid({ ...https, PWP__ALLOWED_HOSTS: ".h.example.com" }).warnings).toHaveLength(1);
  });
});
