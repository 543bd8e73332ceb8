import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { Canaries } from "../support/canaries.ts";
import { CookieClient } from "../support/cookie-client.ts";
import { appFor } from "../support/factors.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  type ImportTarget,
  lostKey,
  makeImportTarget,
  problemsOf,
  pushTagged,
  retrieve,
  withReport,
} from "../support/password-pusher/import-run.ts";
import { type Installation, installDefaultKey, installProduction } from "../support/password-pusher/installations.ts";
import { addManyPushes } from "../support/password-pusher/many-pushes.ts";

const { production } = expected;

test("a dry run counts, decrypts and checks everything, and writes nothing", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const report = withReport(target);
  const run = await target.run(installation, "--dry-run", ...report.options);
  expect(run.exitCode).toBe(3);
  expect(existsSync(target.cli.dataDir)).toBe(false);
  const told = report.read();
  expect(told).toMatchObject({ dry_run: true, outcome: "with_problems" });
  expect(told.users).toEqual({ brought: 4, known: 0, left_out: 0, skipped: 0 });
  expect(told.pushes).toMatchObject({ known: 0, left_out: 1 });
  expect(problemsOf(report)).toEqual([lostKey]);
  const real = await target.run(installation, ...report.options);
  expect(real.exitCode).toBe(3);
  const {
    pushes,
    pushes_by_kind_and_state: kinds,
    files,
    file_bytes: fileBytes,
    audit_entries: entries,
  } = report.read();
  expect({ pushes, kinds, files, fileBytes, entries }).toEqual({
    pushes: told.pushes,
    kinds: told.pushes_by_kind_and_state,
    files: told.files,
    fileBytes: told.file_bytes,
    entries: told.audit_entries,
  });
  const again = await target.run(installation, "--dry-run", ...report.options);
  expect(again.exitCode).toBe(3);
  expect(report.read().pushes).toMatchObject({ brought: 0, known: pushes.brought });
});

test("a second run imports nothing twice", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const report = withReport(target);
  await target.run(installation, ...report.options);
  const first = report.read();
  expect((await target.run(installation, ...report.options)).exitCode).toBe(3);
  expect(report.read()).toMatchObject({
    users: { brought: 0, known: 4 },
    pushes: { brought: 0, known: first.pushes.brought, skipped: first.pushes.skipped },
    style_sheet: { brought: 0, known: 1 },
    audit_entries: { brought: 0, known: first.audit_entries.brought },
    files: { brought: 0, known: first.files.brought },
    differences: [],
  });
  const { domain } = (await target.serve()).app;
  expect(await domain.pushes.totals()).toMatchObject({ files: first.files.brought, uploads: 0, filesToDelete: 0 });
});

test("the counts of each table add up: imported, imported before, and left out or not needed with a reason", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    connection.prepare("UPDATE pushes SET kind = 9 WHERE id = ?").run(pushTagged("file-three-unicode").id);
    connection
      .prepare("UPDATE pushes SET created_at = '2025-02-30 00:00:00' WHERE id = ?")
      .run(pushTagged("url-plain").id);
    connection.exec("PRAGMA foreign_keys = OFF; UPDATE audit_logs SET push_id = 99999 WHERE id IN (1, 2, 3)");
  });
  const report = withReport(target);
  const tables = ["users", "pushes", "audit_entries", "notifications", "files"];
  for (const options of [["--dry-run"], [], []]) {
    await target.run(installation, ...options, ...report.options);
    const told = report.read();
    expect(told.differences).toEqual([]);
    for (const table of tables) {
      const { brought, known, left_out: leftOut, skipped } = told[table];
      expect([table, brought + known + leftOut + skipped]).toEqual([table, told.there[table]]);
      const name = { audit_entries: "audit entries", notifications: "link deliveries" }[table] ?? table;
      const behind = told.behind.filter((entry: { table: string }) => entry.table === name);
      const reasoned = behind.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
      expect([table, reasoned]).toEqual([table, leftOut + skipped]);
    }
    expect(told.files).toMatchObject({ left_out: 3 });
    expect(report.text()).toMatch(/3 {2}audit entries not needed: Their push is not in the source any more\./);
    expect(report.text()).toMatch(/\d {2}files not needed: Their push had ended\./);
  }
  expect(report.text()).toContain("Its time of creation (created_at) cannot be read.");
});

test("a second run after a complete import says that everything is imported", async () => {
  const target = makeImportTarget();
  await target.run(installDefaultKey());
  const again = await target.run(installDefaultKey());
  expect(again.exitCode).toBe(0);
  expect(again.stdout).toContain("Everything is imported. The counts of source and destination agree.");
  expect(again.stdout).toMatch(/audit entries +7 +0 +7 +0 +0/);
});

test("the pushes of users with passphrases wait for each other's hashes", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    addManyPushes(connection, 40);
    connection
      .prepare(
        `UPDATE pushes SET user_id = 3, passphrase_ciphertext = (SELECT passphrase_ciphertext FROM pushes WHERE id = 14)
         WHERE id >= 10000`,
      )
      .run();
  });
  const imported = await target.run(installation);
  expect(imported.exitCode, imported.stderr).toBe(3);
  const verified = await target.verify(installation);
  expect(verified.stdout + verified.stderr).not.toContain("right now");
});

test("a user whose account was deleted here is not imported again, nor are new pushes of that user", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  const deleted = await target.cli.run(["user", "delete", "--email", "bob@example.org", "--yes"]);
  expect(deleted.exitCode, deleted.stderr).toBe(0);
  const report = withReport(target);
  await target.run(installation, ...report.options);
  expect(report.read()).toMatchObject({ users: { brought: 0, known: 4 }, pushes: { brought: 0 } });
  expect((await target.cli.run(["user", "list"])).stdout).not.toContain("bob@example.org");
});

test("users who never had to confirm their address can sign in, also with account emails on", async () => {
  const target = makeImportTarget();
  await target.run(installProduction());
  const mails = {
    PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
    PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
    PWP__MAIL__MAILER_SENDER: "a@example.com",
  };
  const { domain } = (await target.serve(mails)).app;
  const { password = "" } = production.users.find(({ confirmed }) => !confirmed) ?? {};
  const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };
  expect(await domain.accounts.signIn({ email: "bob@example.org", password, client })).toBeDefined();
});

test("an unconfirmed address stays unconfirmed if the source required confirmation", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const environment = { ...installation.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" };
  await target.run({ ...installation, environment });
  const { domain } = (await target.serve()).app;
  expect(await domain.accounts.findUserByEmail("bob@example.org")).toMatchObject({ confirmedAt: null });
  expect(await domain.accounts.findUserByEmail("alice@example.com")).toMatchObject({ confirmedAt: expect.any(Number) });
});

test("without a setting, users who may have been asked to confirm their address stay unconfirmed unless the operator decides", async () => {
  // Bob, 4, was created on 24 January 2026 at 11:53 and has confirmed nothing. Alice, 3, has confirmed by email.
  const installedAfter = (created: string) =>
    installProduction((connection) =>
      connection.exec(`UPDATE users SET created_at = '${created}', confirmed_at = '2026-02-01 10:00:00' WHERE id = 3`),
    );
  const importInto = async (target: ImportTarget, installation: Installation, ...options: readonly string[]) => {
    const { stdout } = await target.run(installation, ...options);
    const { stdout: users } = await target.cli.run(["user", "list"]);
    return { stdout, isConfirmed: !/\tbob@example\.org\t.*unconfirmed/.test(users) };
  };

  const early = await importInto(makeImportTarget(), installedAfter("2026-01-24 12:00:00"));
  expect(early.isConfirmed).toBe(true);
  expect(early.stdout).toMatch(/1 user has not confirmed the email address, which counts as confirmed here \(4\)\./);

  const target = makeImportTarget();
  const installation = installedAfter("2026-01-24 11:00:00");
  const undecided = await importInto(target, installation);
  expect(undecided.isConfirmed).toBe(false);
  expect(undecided.stdout).toMatch(/1 user's email address is not confirmed here either, .* \(4\)\. If the source/);
  expect(undecided.stdout).toContain("import into an empty data folder with --unconfirmed-users confirmed");
  const decided = await importInto(makeImportTarget(), installation, "--unconfirmed-users", "confirmed");
  expect(decided.isConfirmed).toBe(true);
  expect(decided.stdout).toContain("counts as confirmed here (4).");

  const strict = await importInto(makeImportTarget(), installProduction(), "--unconfirmed-users", "unconfirmed");
  expect(strict.isConfirmed).toBe(false);
});

test("a user whose backup codes were not imported is led to make new ones when signing in with the app", async () => {
  const target = makeImportTarget();
  await target.run(installProduction());
  const app = await target.serve();
  const { email = "", password = "", otp } = production.users.find((user) => user.otp?.enabled) ?? {};
  const signIn = async () => {
    const visitor = new CookieClient(app);
    await visitor.signIn(email, password);
    const { code } = appFor(otp?.secret ?? "", () => target.clock.now());
    const answer = await visitor.post("/users/second_factor", { code: code(), next: "/dashboard" });
    return { visitor, location: answer.headers.location };
  };

  const { visitor, location } = await signIn();
  expect(location).toBe("/users/factors?next=%2Fdashboard");
  const page = await visitor.get(location ?? "");
  expect(page.body).toContain(en.factors.codes.missing);
  expect(page.body).toMatch(new RegExp(`href="/dashboard"[^>]*>${en.factors.codes.later}`));
  const action = "/users/factors/backup_codes?next=%2Fdashboard";
  expect(page.body).toContain(`action="${action}"`);
  const refused = await visitor.post(action, { proof: "wrong" });
  expect([refused.statusCode, refused.body.includes(`action="${action}"`)]).toEqual([422, true]);
  const made = await visitor.post(action, { proof: password });
  expect([made.statusCode, made.body.includes(en.factors.codes.madeHeading)]).toEqual([200, true]);
  expect(made.body).toMatch(new RegExp(`href="/dashboard"[^>]*>${en.factors.codes.done}`));
  expect((await visitor.get("/users/factors")).body).not.toContain(en.factors.codes.missing);

  target.clock.advance(30_000);
  expect((await signIn()).location).toBe("/dashboard");
});

test("an installation that uses the default key is imported with a warning", async () => {
  const run = await makeImportTarget().run(installDefaultKey());
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toMatch(/4 pushes were sealed under the published default key, .*\(3, 7, 8, 12\)/);
  expect(run.stdout).toMatch(/1 user's two-step sign-in was sealed under the published default key/);
});

test("neither the output nor the report contains a secret, token, name or email address", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    connection.prepare("UPDATE pushes SET payload_ciphertext = 'broken' WHERE id IN (11, 17, 56)").run();
  });
  const report = withReport(target);
  const dry = await target.run(installation, "--dry-run", ...report.options);
  const dryReport = Buffer.concat([readFileSync(report.path), Buffer.from(report.text())]);
  const run = await target.run(installation, ...report.options);
  const canaries = secretsOf(installation);
  const said = [dry.stdout, dry.stderr, run.stdout, run.stderr, dryReport.toString(), report.text()].join("\n");
  const everything = Buffer.concat([Buffer.from(said), readFileSync(report.path)]);
  expect(canaries.findingsIn(everything)).toEqual([]);
  for (const push of production.pushes) expect(said).not.toContain(push.url_token);
  for (const user of production.users) expect(said).not.toContain(user.email);
  for (const path of [report.path, report.path.replace(".json", ".txt")])
    expect(statSync(path).mode & 0o777).toBe(0o600);
});

function secretsOf(installation: Installation): Canaries {
  const canaries = new Canaries();
  const add = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value.length >= 16) canaries.add(name, value);
  };
  for (const [name, value] of Object.entries(installation.environment)) add(name, value);
  for (const push of production.pushes) {
    add(`payload of ${push.tag}`, push.payload);
    add(`passphrase of ${push.tag}`, push.passphrase);
    add(`note of ${push.tag}`, push.note);
  }
  for (const user of production.users) {
    add(`password of ${user.email}`, user.password);
    add(`token of ${user.email}`, user.api_token);
    add(`factor of ${user.email}`, user.otp?.secret);
  }
  return canaries;
}

test("without --report, the report is written to the data folder; a dry run writes none", async () => {
  const target = makeImportTarget();
  const run = await target.run(installDefaultKey());
  expect(run.exitCode).toBe(0);
  const names = readdirSync(target.cli.dataDir).filter((name) => name.startsWith("import-"));
  expect(names.sort()).toEqual(["import-20261120T120000Z.json", "import-20261120T120000Z.txt"]);
  for (const name of names) rmSync(join(target.cli.dataDir, name));
  await target.run(installDefaultKey(), "--dry-run");
  expect(readdirSync(target.cli.dataDir).filter((name) => name.startsWith("import-"))).toEqual([]);
});

test("a run in the same second as another does not overwrite either of its report files", async () => {
  const target = makeImportTarget();
  const reports = () => readdirSync(target.cli.dataDir).filter((name) => name.startsWith("import-"));
  const read = (name: string) => readFileSync(join(target.cli.dataDir, name), "utf8");
  const first = await target.run(installDefaultKey());
  expect(first.stdout).toContain("import-20261120T120000Z.json and ");
  const before = reports().map((name) => [name, read(name)]);
  // A report of which only the text file is left.
  writeFileSync(join(target.cli.dataDir, "import-20261120T120000Z-2.txt"), "kept");
  const second = await target.run(installDefaultKey());
  expect(second.stdout).toContain("import-20261120T120000Z-3.json and ");
  expect(before.map(([name = ""]) => [name, read(name)])).toEqual(before);
  expect(read("import-20261120T120000Z-2.txt")).toBe("kept");
  expect(reports().sort()).toEqual([
    "import-20261120T120000Z-2.txt",
    "import-20261120T120000Z-3.json",
    "import-20261120T120000Z-3.txt",
    "import-20261120T120000Z.json",
    "import-20261120T120000Z.txt",
  ]);
});

test("links of one letter or with capitals, and limits that are no longer allowed, keep working", async () => {
  const target = makeImportTarget();
  const changed = { a: pushTagged("text-plain").id, MiXeD: pushTagged("text-edge-whitespace").id };
  const installation = installProduction((connection) => {
    const change = connection.prepare(
      "UPDATE pushes SET url_token = ?, expire_after_days = 2000000000, expire_after_views = 2000000000 WHERE id = ?",
    );
    for (const [urlToken, id] of Object.entries(changed)) change.run(urlToken, id);
  });
  await target.run(installation);
  const app = await target.serve();
  for (const urlToken of Object.keys(changed)) {
    expect((await app.server.inject({ url: `/p/${urlToken}` })).statusCode).toBe(200);
    const { body } = await app.server.inject({ url: `/p/${urlToken}.json` });
    expect(JSON.parse(body)).toMatchObject({
      expire_after_days: 2_000_000_000,
      expire_after_views: 2_000_000_000,
      expired: false,
      payload: expect.any(String),
    });
  }
  expect((await app.server.inject({ url: "/api/v2/pushes/mixed" })).statusCode).toBe(404);
});

test("a server running during the import answers, and serves each row once it is imported", async () => {
  const target = makeImportTarget();
  const app = await target.serve();
  const create = () =>
    app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "made meanwhile" } } });
  const running = target.run(installProduction());
  const made: number[] = [];
  let isOver = false;
  const over = running.then(() => {
    isOver = true;
  });
  while (!isOver) made.push((await create()).statusCode);
  await over;
  expect((await running).exitCode).toBe(3);
  expect(made.length).toBeGreaterThan(0);
  expect(made.every((status) => status === 201)).toBe(true);
  expect((await retrieve(app, "text-plain")).body.payload).toBe(pushTagged("text-plain").payload);
  expect((await app.server.inject({ url: "/first_run" })).statusCode).not.toBe(200);
});
