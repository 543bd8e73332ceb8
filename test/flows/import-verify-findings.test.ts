import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTestCli } from "../support/cli.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { signedIn } from "../support/domain.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  type ImportTarget,
  makeImportTarget,
  pushTagged,
  retrieve,
  verificationOf,
} from "../support/password-pusher/import-run.ts";
import { changeDatabase, installDefaultKey, installProduction } from "../support/password-pusher/installations.ts";
import {
  alice,
  carol,
  damage,
  failuresOf,
  findingsIn,
  idHere,
  lost,
  plain,
  protectedPush,
  shareImport,
  verified,
} from "../support/password-pusher/verification.ts";

const { production } = expected;
const imported = shareImport();

test("an import without problems has exit code 0", async () => {
  const target = makeImportTarget();
  await target.run(installDefaultKey());
  const { exitCode, stdout } = await target.verify(installDefaultKey());
  expect([exitCode, findingsIn(stdout)]).toEqual([0, []]);
  expect(stdout).toContain("Everything is here and opens. No view was counted.");
});

test("damage here is found: a link that leads to another push", async () => {
  const { target, installation } = await imported();
  const { id: other } = pushTagged("text-edge-whitespace");
  await withDatabaseOf(target.cli.dataDir, async (db) => {
    const [own, others] = [await idHere(db, "push", plain), await idHere(db, "push", other)];
    await changeRows(db, `DELETE FROM imported_links WHERE push_id = ${own}`);
    await changeRows(db, `UPDATE imported_links SET push_id = ${own} WHERE push_id = ${others}`);
    const check = `SELECT link_check FROM pushes WHERE id = ${others}`;
    await changeRows(db, `UPDATE pushes SET link_check = (${check}) WHERE id = ${own}`);
  });
  const { findings } = await verified(target, installation);
  expect(failuresOf(findings, "push", other)).toEqual(["Its link leads to another push here."]);
});

/** The path of the stored file of a push with one file. */
async function pathOfFile(target: ImportTarget, sourceId: number): Promise<string> {
  const [file] = await withDatabaseOf(target.cli.dataDir, async (db) =>
    readRows(db, `SELECT blob_key FROM files WHERE push_id = ${await idHere(db, "push", sourceId)}`),
  );
  const key = String(file?.blob_key);
  return join(target.cli.dataDir, "blobs", key.slice(0, 2), key);
}

test("a file in the store that is missing, cut off or changed is found", async () => {
  const { target, installation } = await imported();
  const { id } = pushTagged("file-5-mb");
  const path = await pathOfFile(target, id);
  const content = readFileSync(path);
  for (const [reason, change] of [
    ["missing", () => rmSync(path)],
    ["damaged", () => truncateSync(path, content.length - 1)],
    ["damaged", () => flipLastByte(path)],
  ] as const) {
    change();
    const { exitCode, findings } = await verified(target, installation);
    expect([exitCode, findings.map((line) => line.replace(/[0-9a-f]{32}/, "…"))]).toEqual([
      3,
      [`push ${id} (failed): File 1 of 1 (…) is ${reason} in the store.`],
    ]);
    writeFileSync(path, content);
  }
});

function flipLastByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test("a file without a checksum is compared with the source's file", async () => {
  const target = makeImportTarget();
  const installation = installProduction((connection) => {
    connection.exec("UPDATE active_storage_blobs SET checksum = NULL");
  });
  await target.run(installation);
  expect((await verified(target, installation)).findings).toEqual([]);
  const [file] = pushTagged("file-one").files;
  const key = file?.key ?? "";
  const path = join(installation.storageFolder, key.slice(0, 2), key.slice(2, 4), key);
  flipLastByte(path);
  const changed = await verified(target, installation);
  expect(changed.findings).toEqual([
    expect.stringMatching(/^push 56 \(failed\): File 1 of 1 .* differs from the source's\.$/),
  ]);
  rmSync(path);
  const missing = await verified(target, installation);
  expect(missing.findings).toEqual([
    expect.stringMatching(/ has no checksum and cannot be compared with the source's\. It is missing\.$/),
  ]);
});

test.each([
  [
    "a view",
    `INSERT INTO audit_logs (push_id, kind, ip, user_agent, referrer, created_at, updated_at)
     VALUES (${plain}, 1, '192.0.2.9', '', '', '2026-11-20 11:59:00', '2026-11-20 11:59:00')`,
    `push ${plain} (failed): It allows 4 more views here, and 3 at the source.`,
  ],
  [
    "an end",
    `UPDATE pushes SET expired = 1, expired_on = '2026-11-20 11:59:00', payload_ciphertext = NULL WHERE id = ${plain}`,
    `push ${plain} (failed): It has ended at the source and can still be opened here.`,
  ],
  [
    "another payload",
    `UPDATE pushes SET payload_ciphertext = (SELECT payload_ciphertext FROM pushes WHERE id = ${protectedPush}) WHERE id = ${plain}`,
    `push ${plain} (failed): Its payload differs from the source's.`,
  ],
  [
    "another password",
    `UPDATE users SET encrypted_password = (SELECT encrypted_password FROM users WHERE id = 1) WHERE id = ${carol}`,
    `user ${carol} (failed): Its password at the source is not the one that was imported.`,
  ],
  [
    "another name",
    `UPDATE pushes SET name = 'other' WHERE id = ${protectedPush}`,
    `push ${protectedPush} (failed): Its name differs from the source's.`,
  ],
])("a change at the source after the import is found: %s", async (_what, statement, finding) => {
  const { target, installation } = await imported();
  changeDatabase(installation.databasePath, (connection) => connection.exec(statement));
  const { exitCode, findings, stdout } = await verified(target, installation);
  expect([exitCode, findings]).toEqual([3, [finding]]);
  if (statement.startsWith("INSERT")) expect(stdout).toContain("Password Pusher has changed since the import: ");
});

test("views at the source and here since the import are a failure", async () => {
  const { target, installation } = await imported();
  const app = await target.serve();
  await retrieve(app, "text-plain");
  changeDatabase(installation.databasePath, (connection) =>
    connection.exec(
      `INSERT INTO audit_logs (push_id, kind, ip, user_agent, referrer, created_at, updated_at)
       VALUES (${plain}, 1, '192.0.2.9', '', '', '2026-11-20 11:59:00', '2026-11-20 11:59:00')`,
    ),
  );
  const { findings } = await verified(target, installation);
  expect(findings).toEqual([
    `push ${plain} (failed): Its audit trail at the source has more entries than were imported (1): views among them do not count here.`,
  ]);
});

test("what people do here after the import is no failure", async () => {
  const { target, installation } = await imported();
  const app = await target.serve();
  const { pushes, accounts } = app.app.domain;
  expect((await retrieve(app, "text-plain")).status).toBe(200);
  expect((await retrieve(app, "text-no-step-not-deletable")).body).toMatchObject({ views_remaining: 0 });
  const owner = await accounts.findUserByEmail("alice@example.com");
  const { url_token: edited } = pushTagged("text-crlf-multiline");
  expect(
    await pushes.edit(
      edited,
      { payload: "another text", passphrase: "another one", expireAfterViews: 90 },
      signedIn(owner?.id ?? 0),
    ),
  ).toMatchObject({ outcome: "edited" });
  await accounts.revokeToken(owner?.id ?? 0, (await accounts.listTokens(owner?.id ?? 0))[0]?.id ?? 0);
  // The server is still running.
  const { exitCode, findings, stdout } = await verified(target, installation);
  const { id } = pushTagged("text-crlf-multiline");
  expect(findings.sort()).toEqual([
    `push ${id} (changed): It was edited here, so its content and limits are not compared.`,
    `push ${id} (changed): Its passphrase here is not the source's, so it could not be opened.`,
    `user ${alice} (changed): Its API token was revoked here.`,
  ]);
  // The one push that was not imported.
  expect(exitCode).toBe(3);
  expect(stdout).toMatch(/pushes +48 +30 +16 +1 +0 +1\n/);
});

test("API tokens that a replacement of the access secret ended are not lost, and a missing one is", async () => {
  const { target, installation } = await imported();
  expect((await target.cli.run(["keys", "replace-access", "--yes"])).exitCode).toBe(0);
  const withToken = production.users.filter(({ api_token: token }) => token !== null).map(({ id }) => id);
  const ended = "Its API token was ended here by `sealpush keys replace-access`, as all tokens were.";
  expect((await verified(target, installation)).findings).toEqual(
    withToken.map((id) => `user ${id} (changed): ${ended}`),
  );
  await damage(target, "DELETE FROM api_tokens WHERE user_id = $user", alice);
  const { findings } = await verified(target, installation);
  expect(findings.filter((line) => line.includes("(failed)"))).toEqual([
    `user ${alice} (failed): Its API token is not here.`,
  ]);
});

test("a deleted account is reported, and its pushes are not needed", async () => {
  const { target, installation } = await imported();
  await target.cli.run(["user", "delete", "--email", "carol@example.net", "--yes"]);
  const { findings } = await verified(target, installation);
  expect(findings).toEqual([`user ${carol} (failed): Its account is not here any more: it was deleted, or is lost.`]);
});

test("it refuses if nothing was imported here, or no key fits, or the master key is another", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  const before = await target.verify(installation);
  expect([before.exitCode, before.stderr]).toEqual([1, expect.stringContaining("There is no data here yet")]);
  await target.run(installation);
  const other = await target.verify(installDefaultKey());
  expect([other.exitCode, other.stderr]).toEqual([
    1,
    expect.stringContaining("Nothing of this Password Pusher was imported here"),
  ]);
  const wrong = await target.verify({ ...installation, environment: { PWPUSH_MASTER_KEY: "ab".repeat(32) } });
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("opens with a key")]);
  const argv = verificationOf(installation);
  const environment = { PWPUSH_MASTER_KEY: "cd".repeat(32) };
  const lostKey = await target.cli.run(argv, { environment });
  expect([lostKey.exitCode, lostKey.stderr]).toEqual([
    1,
    expect.stringContaining("The master key of the database here was not found"),
  ]);
});

test("in the place of a Password Pusher, import and verify need no options", async () => {
  const installation = installProduction();
  const target = makeImportTarget();
  const DATA_DIR = join(installation.storageFolder, "sealpush");
  const asSwapped = { ...installation.environment, DATA_DIR, DATABASE_URL: "" };
  const run = (...argv: string[]) => target.cli.run(argv, { environment: { ...asSwapped, SEALPUSH_MOVE_IN: "yes" } });
  expect(await run("import", "password-pusher")).toMatchObject({ exitCode: 3 });
  const { exitCode, stdout, stderr } = await run("import", "verify");
  expect([exitCode, findingsIn(stdout)], stderr).toEqual([3, [lost]]);
  for (const command of ["password-pusher", "verify"]) {
    const without = await target.cli.run(["import", command], { environment: { DATA_DIR, DATABASE_URL: "" } });
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining("Give --env-file")]);
  }
});

test("a record of the import that was changed in the database stops it", async () => {
  const { target, installation } = await imported();
  await damage(target, "UPDATE imported_rows SET source_id = source_id + 90000 WHERE id = $push", plain);
  const { exitCode, stderr } = await target.verify(installation);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("in the table imported_rows was changed in the database"),
  ]);
});

test("an interruption ends it with exit code 1, and says so", async () => {
  const { target, installation } = await imported();
  const interrupted = makeTestCli({ clock: target.clock, interruption: () => AbortSignal.abort() });
  const environment = { DATA_DIR: target.cli.dataDir };
  const { exitCode, stdout } = await interrupted.run(verificationOf(installation), { environment });
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("Interrupted: the other rows were not compared.")]);
});

test("the output holds no secret, link, name or address", async () => {
  const { target, installation } = await imported();
  await withDatabaseOf(target.cli.dataDir, (db) =>
    changeRows(db, "UPDATE pushes SET key_check = (SELECT min(key_check) FROM pushes)"),
  );
  const { stdout, stderr } = await target.verify(installation);
  const output = stdout + stderr;
  for (const push of production.pushes) {
    for (const text of [push.url_token, push.passphrase, push.payload, push.name, push.note]) {
      if (text !== null && text.length >= 8) expect(output).not.toContain(text);
    }
  }
  for (const { email, api_token: token } of production.users) {
    for (const text of [email, token]) if (text !== null) expect(output).not.toContain(text);
  }
});
