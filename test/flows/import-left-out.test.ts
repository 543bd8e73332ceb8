import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nothingElse } from "../../src/database/database.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  lostKey,
  makeImportTarget,
  problemsOf,
  pushTagged,
  retrieve,
  withReport,
} from "../support/password-pusher/import-run.ts";
import { installDefaultKey, installProduction, keysOfFixture } from "../support/password-pusher/installations.ts";
import { sealedByLockbox } from "../support/password-pusher/seal.ts";

const { production } = expected;

test("a push with a missing file is left out until the file exists; everything else is imported", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const report = withReport(target);
  const [file] = pushTagged("file-one").files;
  const { key = "" } = file ?? {};
  const blob = join(installation.storageFolder, key.slice(0, 2), key.slice(2, 4), key);
  renameSync(blob, `${blob}.away`);
  expect((await target.run(installation, "--dry-run", ...report.options)).exitCode).toBe(3);
  const lostFile = `pushes ${pushTagged("file-one").id} left_out`;
  expect(problemsOf(report).sort()).toEqual([lostKey, lostFile].sort());
  const { exitCode, stderr } = await target.run(installation, ...report.options);
  expect(exitCode).toBe(3);
  expect(problemsOf(report).sort()).toEqual([lostKey, lostFile].sort());
  const { shown_filename: name = "" } = file ?? {};
  const { problems } = report.read();
  expect(problems.find((problem: { file?: object }) => problem.file)).toMatchObject({
    id: pushTagged("file-one").id,
    file: { name, service: "local", key },
  });
  expect(report.text()).toContain(
    `It is missing. The file is "${name}", in the service "local" under the key "${key}".`,
  );
  expect(stderr).not.toContain(name);
  renameSync(`${blob}.away`, blob);
  await target.run(installation, ...report.options);
  expect(report.read()).toMatchObject({ pushes: { brought: 1 }, files: { brought: 1, left_out: 0 } });
  const app = await target.serve();
  expect((await retrieve(app, "file-one")).body.files).toHaveLength(1);
});

test("files have the names that the source shows", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) =>
    connection
      .prepare(
        `UPDATE active_storage_blobs SET filename = ? WHERE id =
           (SELECT blob_id FROM active_storage_attachments WHERE record_type = 'Push' AND record_id = ?)`,
      )
      .run('\t 2026/11: "cod\u202etxt" 100%?.exe ', pushTagged("file-one").id),
  );
  await target.run(installation);
  const { body } = await retrieve(await target.serve(), "file-one");
  expect(body.files[0].filename).toBe("2026-11- -cod-txt- 100--.exe");
});

test("a file that does not match its recorded checksum is not imported", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const report = withReport(target);
  const { key = "" } = pushTagged("file-three-unicode").files[1] ?? {};
  const blob = join(installation.storageFolder, key.slice(0, 2), key.slice(2, 4), key);
  const bytes = readFileSync(blob);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  writeFileSync(blob, bytes);
  await target.run(installation, ...report.options);
  const changed = `pushes ${pushTagged("file-three-unicode").id} left_out`;
  expect(problemsOf(report).sort()).toEqual([lostKey, changed].sort());
  await target.run(installation, "--without-lost-files", ...report.options);
  expect(report.read()).toMatchObject({ pushes: { brought: 1 }, files: { brought: 2, left_out: 1 } });
  await target.run(installation, ...report.options);
  const withoutFile = `pushes ${pushTagged("file-three-unicode").id} partly`;
  expect(problemsOf(report).sort()).toEqual([lostKey, withoutFile].sort());
  const app = await target.serve();
  const { body } = await retrieve(app, "file-three-unicode");
  expect(body.files.map(({ filename }: { filename: string }) => filename)).toEqual([
    "Überweisung – März.pdf",
    "🔑 keys (final).png",
  ]);
});

test("a damaged row is reported by its id, and the rest is imported", async () => {
  const target = makeImportTarget();
  const damaged = pushTagged("text-plain").id;
  const installation = installProduction((connection) => {
    connection.prepare("UPDATE pushes SET payload_ciphertext = 'AAAA' || payload_ciphertext WHERE id = ?").run(damaged);
    connection.prepare("UPDATE users SET encrypted_password = 'plain' WHERE email = 'carol@example.net'").run();
  });
  const report = withReport(target);
  expect((await target.run(installation, ...report.options)).exitCode).toBe(3);
  expect(problemsOf(report).sort()).toEqual([lostKey, `pushes ${damaged} left_out`, "users 6 partly"].sort());
  expect(report.read().pushes.brought).toBeGreaterThan(30);
});

test("a dry run reports conflicting rows exactly as the real run does", async () => {
  const target = makeImportTarget();
  const [first, second] = [pushTagged("text-passphrase-utf8"), pushTagged("text-crlf-multiline")];
  const installation = installProduction((connection) => {
    connection.exec("DROP INDEX index_pushes_on_url_token; DROP INDEX index_users_on_authentication_token");
    connection.prepare("UPDATE pushes SET url_token = ? WHERE id = ?").run(first.url_token, second.id);
    connection.exec("UPDATE users SET authentication_token = (SELECT authentication_token FROM users WHERE id = 3)");
    connection.exec("UPDATE users SET email = 'Alice@Example.com' WHERE id = 4");
  });
  const report = withReport(target);
  await target.run(installation, "--dry-run", ...report.options);
  const told = problemsOf(report).sort();
  expect(told).toEqual(
    expect.arrayContaining([`pushes ${second.id} left_out`, "users 3 partly", "users 4 left_out", "users 6 partly"]),
  );
  expect(told).not.toContain(`pushes ${first.id} left_out`);
  await target.run(installation, ...report.options);
  expect(problemsOf(report).sort()).toEqual(told);
  await target.run(installation, "--dry-run", ...report.options);
  expect(problemsOf(report).sort()).toEqual(told);
});

test("out-of-range limits do not stop a run: pushes with negative limits have ended, and large limits are kept", async () => {
  const target = makeImportTarget();
  const [ended, endless, used, unbounded] = [
    "text-plain",
    "text-crlf-multiline",
    "url-plain",
    "url-long-query",
  ] as const;
  const installation = installProduction((connection) => {
    const set = (column: string, value: number, tag: string) =>
      connection.prepare(`UPDATE pushes SET ${column} = ? WHERE id = ?`).run(value, pushTagged(tag).id);
    set("expire_after_days", Number.MIN_SAFE_INTEGER, ended);
    set("expire_after_days", Number.MAX_SAFE_INTEGER, endless);
    set("expire_after_views", Number.MIN_SAFE_INTEGER, used);
    set("expire_after_views", Number.MAX_SAFE_INTEGER, unbounded);
  });
  const report = withReport(target);
  expect((await target.run(installation, ...report.options)).exitCode).toBe(3);
  expect(problemsOf(report)).toEqual([lostKey]);
  expect(report.read().differences).toEqual([]);
  const app = await target.serve();
  expect((await retrieve(app, ended)).body).toMatchObject({ expired: true });
  expect((await retrieve(app, endless)).body).toMatchObject({ expired: false });
  expect((await retrieve(app, used)).body).toMatchObject({ expired: true });
  expect((await retrieve(app, unbounded)).body).toMatchObject({ expired: false });
});

test("an owner without a user row is reported, and the link of such a push works", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    connection.pragma("foreign_keys = OFF");
    connection.prepare("UPDATE pushes SET user_id = 77 WHERE id = ?").run(pushTagged("file-one").id);
    connection.prepare("UPDATE users SET email = '' WHERE email = 'carol@example.net'").run();
  });
  const report = withReport(target);
  for (let runs = 1; runs <= 2; runs += 1) {
    await target.run(installation, ...report.options);
    expect(report.read().warnings).toEqual([
      expect.stringContaining("1 user has backup codes, which are not imported"),
      expect.stringContaining("1 user has not confirmed the email address"),
      `1 push belongs to a user who is not in the source. It is imported without owner, name and note (${pushTagged("file-one").id}).`,
    ]);
    expect(problemsOf(report)).toContain("users 6 left_out");
  }
  expect((await retrieve(await target.serve(), "file-one")).body.files).toHaveLength(1);
});

test("an existing account is changed only with the option that says that it belongs to the same person", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const report = withReport(target);
  const create = ["user", "create", "--email", "alice@example.com", "--password-stdin"];
  await target.cli.run(create, { stdin: "another password of hers" });
  const ofAlice = production.pushes.filter((push) => push.owner === "alice@example.com");
  expect((await target.run(installation, "--dry-run", ...report.options)).exitCode).toBe(3);
  const wanted = [lostKey, "users 3 left_out", ...ofAlice.map(({ id }) => `pushes ${id} left_out`)].sort();
  expect(problemsOf(report).sort()).toEqual(wanted);
  await target.run(installation, ...report.options);
  expect(problemsOf(report).sort()).toEqual(wanted);
  await target.run(installation, "--merge-users", ...report.options);
  expect(problemsOf(report)).toEqual([lostKey]);
  const app = await target.serve();
  const { accounts } = app.app.domain;
  const client = { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "test" };
  const signIn = (password: string) => accounts.signIn({ email: "alice@example.com", password, client });
  expect(await signIn("another password of hers")).toMatchObject({ waitsForFactor: false });
  expect(await signIn("correct horse battery")).toBeUndefined();
  const token = production.users.find(({ id }) => id === 3)?.api_token;
  const answer = await app.server.inject({
    url: "/api/v2/pushes/active",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.json()).toHaveLength(ofAlice.filter((push) => !push.at_reference.expired).length);
});

test("this server's own style sheet is kept, and the skipped one is reported", async () => {
  const target = makeImportTarget();
  {
    const app = await target.serve();
    expect(await app.app.domain.branding.setStyle("body { color: red }", nothingElse)).toBeUndefined();
  }
  const report = withReport(target);
  const { stdout } = await target.run(installProduction(), ...report.options);
  expect(problemsOf(report)).toContain("site_settings 0 left_out");
  expect(stdout).toMatch(/\nReasons for what else was not imported:\n +1 {2}.*style sheet/);
});

test("a missing env file or database is reported in one sentence", async () => {
  const target = makeImportTarget();
  const installation = installDefaultKey();
  const folder = join(installation.folder, "nothing");
  mkdirSync(folder);
  const missing = await target.run({ ...installation, database: `sqlite:${join(folder, "none.sqlite3")}` });
  expect(missing).toMatchObject({ exitCode: 1, stdout: "" });
  expect(missing.stderr.trim().split("\n")).toHaveLength(1);
  const noEnv = await target.cli.run([
    "import",
    "password-pusher",
    "--database",
    installation.database,
    "--env-file",
    join(folder, "env"),
  ]);
  expect(noEnv.exitCode).toBe(1);
  expect(noEnv.stderr.trim().split("\n")).toHaveLength(1);
});

test("the report names users with backup codes, locks, pending or unconfirmed addresses", async () => {
  const target = makeImportTarget();
  const report = withReport(target);
  const installation = installProduction((connection) => {
    connection.exec("UPDATE users SET locked_at = '2026-11-20 11:50:00' WHERE id = 1");
    connection.exec("UPDATE users SET unconfirmed_email = 'new@example.com' WHERE id IN (3, 6)");
  });
  await target.run(installation, ...report.options);
  expect(report.text()).toMatch(/1 user has backup codes, which are not imported: .* \(3\)\./);
  expect(report.text()).toMatch(/1 user is locked there .* \(1\)\./);
  expect(report.text()).toMatch(/2 users have new email addresses that wait .* \(3, 6\)\./);
  expect(report.text()).toMatch(/1 user has not confirmed the email address, .* \(4\)\./);
  expect(report.text()).not.toContain("new@example.com");
});

test("emails that were waiting at the source have failed here, because this server does not send them", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    connection.exec(
      "UPDATE notify_by_emails SET status = 0, proceed_at = NULL, successful_sends_ciphertext = NULL WHERE id = 1",
    );
    connection.exec("UPDATE notify_by_emails SET status = 1 WHERE id = 2");
  });
  await target.run(installation);
  const app = await target.serve();
  const token = production.users.find(({ id }) => id === 3)?.api_token;
  const url = `/api/v2/pushes/${pushTagged("audit-emails").url_token}/audit`;
  const { logs } = (await app.server.inject({ url, headers: { authorization: `Bearer ${token}` } })).json();
  const [waiting, begun] = logs.filter(({ kind }: { kind: string }) => kind === "creation_email_send");
  expect(begun.notify_by_email.status).toBe("failed");
  expect(waiting.notify_by_email).toMatchObject({
    status: "failed",
    error_message: expect.stringContaining("does not send it"),
  });
});

test("an anonymous push that was flagged in the last 30 days is remembered, however old its end is", async () => {
  const target = makeImportTarget();
  const flagged = pushTagged("expired-anonymous");
  const installation = installProduction((connection) => {
    connection
      .prepare("UPDATE pushes SET created_at = '2025-01-01 00:00:00', expired_on = '2026-11-20 11:00:00' WHERE id = ?")
      .run(flagged.id);
  });
  await target.run(installation);
  expect(await retrieve(await target.serve(), "expired-anonymous")).toMatchObject({
    status: 200,
    body: { expired: true },
  });
});

test("url pushes of another scheme come in as text, are reported, and their view is answered", async () => {
  const target = makeImportTarget();
  const payloads = {
    "url-plain": "javascript:alert(1)",
    "url-iri": "just words",
    "url-long-query": "https://example.com/a\r\nb",
  };
  const installation = installProduction((connection) => {
    const change = connection.prepare("UPDATE pushes SET payload_ciphertext = ? WHERE id = ?");
    const place = { table: "pushes", column: "payload_ciphertext" } as const;
    for (const [tag, payload] of Object.entries(payloads)) {
      change.run(sealedByLockbox(keysOfFixture.PWPUSH_MASTER_KEY, place, payload), pushTagged(tag).id);
    }
  });
  const report = withReport(target);
  expect((await target.run(installation, ...report.options)).exitCode).toBe(3);
  const app = await target.serve();
  for (const [tag, payload] of Object.entries(payloads)) {
    expect(problemsOf(report)).toContain(`pushes ${pushTagged(tag).id} partly`);
    expect((await retrieve(app, tag)).body).toMatchObject({ kind: "text", payload });
  }
  await target.run(installation, ...report.options);
  expect(problemsOf(report)).toEqual([lostKey]);
});

test("url_tokens that are taken here, or collide with our paths, are reported and left out", async () => {
  const target = makeImportTarget();
  await target.run(installProduction());
  const another = installProduction((connection) => {
    connection.prepare("UPDATE pushes SET url_token = 'active' WHERE id = ?").run(pushTagged("text-plain").id);
    connection.prepare("UPDATE pushes SET url_token = 'expired' WHERE id = ?").run(pushTagged("file-one").id);
    connection.prepare("UPDATE pushes SET url_token = 'with a blank' WHERE id = ?").run(pushTagged("qr-wifi").id);
    connection.prepare("UPDATE ar_internal_metadata SET created_at = '2020-01-01 00:00:00'").run();
  });
  const report = withReport(target);
  for (const dryRun of [["--dry-run"], []]) {
    await target.run(another, "--merge-users", ...dryRun, ...report.options);
    expect(report.read()).toMatchObject({ users: { brought: 4 }, pushes: { brought: 0, known: 0 } });
    expect(Object.keys(report.read().problems_because).sort()).toEqual([
      "Another push here has the same link.",
      "Its link has characters or a length that this server does not allow.",
      "Its link is a word that this server's API uses in its own addresses.",
      "No key opens its payload.",
    ]);
  }
});
