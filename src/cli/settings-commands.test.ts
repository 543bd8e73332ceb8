import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createUser, makeTestCli, password } from "../../test/support/cli.ts";

describe("keys", () => {
  it("generate prints 64 hex digits, different ones each time", async () => {
    const cli = makeTestCli();
    const [one, other] = [await cli.run(["keys", "generate"]), await cli.run(["keys", "generate"])];
    expect(one).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/), stderr: "" });
    expect(other.stdout).not.toBe(one.stdout);
  });

  it("rotate seals everything under the new key, so that the old one can be removed", async () => {
    const cli = makeTestCli();
    const [old, fresh] = ["11".repeat(32), "22".repeat(32)];
    await cli.run(createUser, { stdin: password, environment: { PWPUSH_MASTER_KEY: old } });
    const both = { PWPUSH_MASTER_KEY: fresh, PWPUSH_MASTER_KEY_PREVIOUS: old };

    const early = await cli.run(["keys", "rotate"], { environment: { PWPUSH_MASTER_KEY: fresh } });
    expect(early).toMatchObject({ exitCode: 1, stdout: "" });
    expect(early.stderr).toMatch(/^The database is sealed under the master key with id [0-9a-f]{8}, /);

    const rotated = await cli.run(["keys", "rotate"], { environment: both });
    expect(rotated).toMatchObject({ exitCode: 0, stderr: "" });
    expect(rotated.stdout).toMatch(/can be removed: [0-9a-f]{8}\.\n$/);
    const after = await cli.run(["keys", "rotate"], { environment: { PWPUSH_MASTER_KEY: fresh } });
    expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("rotate creates neither database nor key", async () => {
    const cli = makeTestCli();
    const run = await cli.run(["keys", "rotate"]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(existsSync(cli.dataDir)).toBe(false);
  });
});

describe("config check", () => {
  const masterKey = "ab".repeat(32);

  it("prints every setting with its origin, and no secret", async () => {
    const run = await makeTestCli().run(["config", "check"], {
      environment: { PORT: "6000", PWPUSH_MASTER_KEY: masterKey },
    });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain("PORT = 6000 (environment)\n");
    expect(run.stdout).toContain("HOST = 127.0.0.1 (default)\n");
    expect(run.stdout).toContain("PWPUSH_MASTER_KEY = (hidden) (environment)\n");
    expect(run.stdout).not.toContain(masterKey);
  });

  it("prints all mistakes and warnings and ends with 2", async () => {
    const environment = { PORT: "many", PWP__ALLOW_ANONYMOUS: "perhaps", PWP__ENABLE_FILE_PUSHS: "true" };
    const run = await makeTestCli().run(["config", "check"], { environment });
    expect(run.exitCode).toBe(2);
    expect(run.stdout).toContain("PORT = many (environment)\n");
    expect(run.stderr).toMatch(/^mistake: PORT /m);
    expect(run.stderr).toMatch(/^mistake: PWP__ALLOW_ANONYMOUS /m);
    expect(run.stderr).toMatch(/^warning: .*PWP__ENABLE_FILE_PUSHES/m);
  });

  it("names the lines of a file that it does not read, without their text", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "settings.env");
    writeFileSync(
      file,
      '\ufeffPORT=7000\r\n# comment\n\nPWP__NOINDEX false\nA="two\nlines"\n  s3cret\n #end\nHOST=::1',
    );
    const run = await cli.run(["config", "check", "--env-file", file]);
    expect(run.exitCode).toBe(0);
    expect(run.stderr.split("\n").filter((line) => line.includes("Line"))).toEqual(
      [4, 7].map((line) => `warning: Line ${line} is neither NAME=value nor a comment, so it is not read.`),
    );
    expect(run.stderr + run.stdout).not.toContain("s3cret");
  });

  it("reads a file instead of the environment", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "settings.env");
    writeFileSync(file, `# comment\nPORT=7000\nPWP__LOG_LEVEL="debug"\nPWPUSH_MASTER_KEY=${masterKey}\n`);
    const run = await cli.run(["config", "check", "--env-file", file], { environment: { HOST: "0.0.0.0" } });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain("PORT = 7000 (environment)\n");
    expect(run.stdout).toContain("HOST = 127.0.0.1 (default)\n");
    expect(run.stdout).not.toContain(masterKey);
    const missing = await cli.run(["config", "check", "--env-file", `${file}.none`]);
    expect(missing).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `${file}.none cannot be read (no such file or folder).\n`,
    });
  });

  it("lists the effect of every name in a file, without secret values", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "password-pusher.env");
    const lines = [
      `export PWPUSH_MASTER_KEY='${masterKey}'`,
      "SECRET_KEY_BASE=s3cret-1 # for Rails",
      "PWP__BRAND__TITLE=Before",
      'PWP__BRAND__TITLE="Acme Corp"',
      'PWP__MAIL__MAILER_SENDER="Acme" <push@example.com>',
      "PWP__MAIL__SMTP_PASSWORD=s3cret-2",
      "PWP__MAIL__SMTP_USER_NAME=acme",
      "PWP__THEME=quartz",
      "PWP__FEEDBACK__EMAIL=",
      "PWP__PURGE_AFTER=",
      "PWP__DISABLE_SIGNUP=true",
      "TZ=Europe/Berlin",
      "s3cret3=",
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    const run = await cli.run(["config", "check", "--env-file", file]);
    expect(run.exitCode).toBe(0);
    expect(run.stdout.split("\nEffect of the names that are set:\n")[1]?.split("\n")).toEqual([
      "PWPUSH_MASTER_KEY            used: (hidden)",
      expect.stringMatching(/^SECRET_KEY_BASE {14}not used here, because sessions are stored in the database/),
      "PWP__BRAND__TITLE            used: Acme Corp",
      'PWP__MAIL__MAILER_SENDER     used: "Acme" <push@example.com>',
      "PWP__MAIL__SMTP_PASSWORD     used: (hidden)",
      "PWP__MAIL__SMTP_USER_NAME    used: acme",
      expect.stringMatching(/^PWP__THEME {19}not used here, because pages have one design/),
      expect.stringMatching(/^PWP__FEEDBACK__EMAIL {9}not used here, because /),
      "PWP__PURGE_AFTER             empty, so not set",
      "PWP__DISABLE_SIGNUP          not a setting of this version",
      "TZ                           not a setting of this version",
      "(not the name of a setting)  not a setting of this version",
      "",
    ]);
    expect(run.stderr).toMatch(
      /\nwarning: PWP__DISABLE_SIGNUP is not a setting .*did you mean PWP__DISABLE_SIGNUPS\?\n$/,
    );
    expect(run.stdout + run.stderr).not.toMatch(/s3cret|abab/);
  });

  it("reads the env file of another server, and exits with 2 if a value cannot be used here", async () => {
    const file = join(import.meta.dirname, "../../test/fixtures/password-pusher/env");
    const run = await makeTestCli().run(["config", "check", "--env-file", file]);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toMatch(/^PWP__FILES__STORAGE +used: local$/m);
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const other = join(cli.dataDir, "other.env");
    writeFileSync(other, "PWP__FILES__STORAGE=google\nDATABASE_URL=mysql2://a:s3cret@db/pwpush\n");
    const rejected = await cli.run(["config", "check", "--env-file", other]);
    expect(rejected.exitCode).toBe(2);
    expect(rejected.stdout).toMatch(/^PWP__FILES__STORAGE +rejected: google$/m);
    expect(rejected.stdout).toMatch(/^DATABASE_URL +rejected: \(hidden\)$/m);
    expect(rejected.stdout + rejected.stderr).not.toContain("s3cret");
  });

  it("names the lines of a Password Pusher's env file that must not be copied, and no other lines", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "old.env");
    const own = `DATABASE_URL=sqlite3:storage/db/production.sqlite3\nPWPUSH_MASTER_KEY=${"ab".repeat(32)}`;
    const check = async (lines: string) => {
      writeFileSync(file, `${own}\n${lines}\n`);
      return (await cli.run(["config", "check", "--env-file", file])).stderr;
    };
    expect(await check("")).toBe("");
    const warned = await check(
      "RAILS_ENV=production\nPWPUSH_MASTER_KEY_PREVIOUS=\nPWP__FILES__S3__BUCKET=pwpush-files",
    );
    expect(warned.match(/Do not copy \S+/g)).toEqual([
      "Do not copy DATABASE_URL",
      "Do not copy PWPUSH_MASTER_KEY",
      "Do not copy PWP__FILES__S3__BUCKET",
    ]);
    expect(warned).toContain("it names Password Pusher's database, and this server needs its own.");
    expect(await check("RAILS_ENV=production\nSEALPUSH_MOVE_IN=yes")).not.toContain("Do not copy");
    const environment = { RAILS_ENV: "production", PWPUSH_MASTER_KEY: "ab".repeat(32) };
    expect((await cli.run(["config", "check"], { environment })).stderr).toContain("Do not copy PWPUSH_MASTER_KEY");
  });

  it.each([
    ["a missing key file", "PWPUSH_MASTER_KEY_FILE=/run/no-such-key", ["PWPUSH_MASTER_KEY_FILE"]],
    ["an invalid key", "PWPUSH_MASTER_KEY=zz", ["PWPUSH_MASTER_KEY"]],
    ["a missing file of a secret", "PWP__MAIL__SMTP_PASSWORD_FILE=/run/none", ["PWP__MAIL__SMTP_PASSWORD_FILE"]],
    [
      "a secret that is given twice",
      "PWP__MAIL__SMTP_PASSWORD=a\nPWP__MAIL__SMTP_PASSWORD_FILE=/run/none",
      ["PWP__MAIL__SMTP_PASSWORD", "PWP__MAIL__SMTP_PASSWORD_FILE"],
    ],
    ["limits that contradict each other", "PWP__PW__EXPIRE_AFTER_DAYS_MIN=91", ["PWP__PW__EXPIRE_AFTER_DAYS_MIN"]],
  ])("does not list a setting as used if it prevents the start: %s", async (_, lines, names) => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "wrong.env");
    writeFileSync(file, `${lines}\n`);
    const run = await cli.run(["config", "check", "--env-file", file]);
    expect(run.exitCode).toBe(2);
    for (const name of names) expect(run.stdout).toMatch(new RegExp(`^${name} +rejected`, "m"));
    expect(run.stdout).not.toMatch(/ used(:|$)/m);
  });

  it("lists settings in the environment that have no effect", async () => {
    const run = await makeTestCli().run(["config", "check"], { environment: { PWP__TIMEZONE: "Berlin" } });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toMatch(/\nPWP__TIMEZONE {2}not used here, because .*\n$/);
  });
});

describe("config convert", () => {
  it("prints a settings.yml as an env file, which config check reads", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const [file, envFile] = [join(cli.dataDir, "settings.yml"), join(cli.dataDir, "settings.env")];
    writeFileSync(file, "brand:\n  title: Acme & Co\n  disclaimer: |\n    two\n    lines\npurge_after: 3 days\n");
    const run = await cli.run(["config", "convert", file]);
    expect(run).toEqual({
      exitCode: 0,
      stdout: "PWP__BRAND__TITLE='Acme & Co'\nPWP__PURGE_AFTER='3 days'\n",
      stderr: "warning: PWP__BRAND__DISCLAIMER is left out: no environment file can contain its value.\n",
    });
    writeFileSync(envFile, run.stdout);
    const checked = await cli.run(["config", "check", "--env-file", envFile]);
    expect(checked.stdout).toContain("PWP__BRAND__TITLE = Acme & Co (environment)\n");
  });

  it("refuses a file with Ruby code or with a mistake, and names the line", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "settings.yml");
    writeFileSync(file, "a: 1\nb: <%= 1 %>\n");
    expect(await cli.run(["config", "convert", file])).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: `${file}, line 2: Ruby code in <% %> is not executed: write the value instead.\n`,
    });
  });

  it("is not needed: config check names what comes from the file", async () => {
    const cli = makeTestCli();
    mkdirSync(cli.dataDir);
    const file = join(cli.dataDir, "settings.yml");
    writeFileSync(file, "purge_after: 3 days\n");
    const run = await cli.run(["config", "check"], { environment: { PWP_SETTINGS_FILE: file } });
    expect(run.stdout).toContain("PWP__PURGE_AFTER = 3 days (settings file)\n");
  });
});
