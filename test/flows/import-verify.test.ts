import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { makeTestCli } from "../support/cli.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { signedIn } from "../support/domain.ts";
import { settingsOfEngine } from "../support/engine.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  type ImportTarget,
  makeImportTarget,
  pushTagged,
  retrieve,
  verificationOf,
} from "../support/password-pusher/import-run.ts";
import {
  changeDatabase,
  type Installation,
  installDefaultKey,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import { filesIn } from "../support/raw-files.ts";
import { storedIn } from "../support/stored.ts";

const { production } = expected;
const lost = `push ${pushTagged("sealed-lost-key").id} (failed): No key opens its payload.`;
const alice = 3;
const carol = 6;

/** The lines about rows, without the table of counts. */
const findingsIn = (stdout: string) => stdout.split("\n").filter((line) => /^(push|user) \d+ \(/.test(line));

async function verified(target: ImportTarget, installation: Installation) {
  const { exitCode, stdout, stderr } = await target.verify(installation);
  const findings = findingsIn(stdout).filter((line) => line !== lost);
  return { exitCode, findings, stdout, stderr };
}

/** Opening SQLite makes an empty log. */
async function dataOf({ cli }: ImportTarget) {
  const data = new Map(await storedIn(cli.dataDir));
  expect(data.get("sealpush.sqlite3-wal") ?? Buffer.alloc(0)).toHaveLength(0);
  for (const name of ["sealpush.sqlite3-wal", "sealpush.sqlite3-shm"]) data.delete(name);
  return data;
}

async function expectWholeVerification(installation: Installation): Promise<void> {
  const target = makeImportTarget();
  const imported = await target.run(installation);
  expect(imported.exitCode, imported.stderr).toBe(3);
  const stored = async () => [await dataOf(target), filesIn(installation.folder)];
  const before = await stored();
  const { exitCode, stdout, stderr } = await target.verify(installation);
  expect(findingsIn(stdout), stderr).toEqual([lost]);
  expect(exitCode).toBe(3);
  // Nothing is written on either side: no view is counted, and no audit entry is added.
  expect(await stored()).toEqual(before);
  expect(stdout).toMatch(/users +4 +4 +0 +0 +0 +0\n/);
  expect(stdout).toMatch(/pushes +48 +32 +15 +0 +0 +1\n/);
  expect(stdout).toMatch(/Read 9 files with 5246905 bytes completely\./);
  expect(stdout).toContain("1 row failed, listed above. No view was counted.");
  expect(stderr).toContain("pushes: 48 of 48");
}

const whole = "a complete import is verified, and nothing is written";

describe.each([
  ["SQLite", async () => installProduction()],
  ["PostgreSQL", installProductionOnPostgres],
] as const)("an installation on %s", (_name, install) => {
  it(whole, async () => await expectWholeVerification(await install()));
});

describe.runIf(mariadbProgram !== undefined)("an installation on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it(whole, async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    await expectWholeVerification(await installProductionOnMysql(mariadb));
  });
});

test("an import without problems has exit code 0", async () => {
  const target = makeImportTarget();
  await target.run(installDefaultKey());
  const { exitCode, stdout } = await target.verify(installDefaultKey());
  expect([exitCode, findingsIn(stdout)]).toEqual([0, []]);
  expect(stdout).toContain("Everything is here and opens. No view was counted.");
});

/** The id that a row of the source has here. */
async function idHere(db: Database, kind: "user" | "push", sourceId: number): Promise<number> {
  const [row] = await readRows(db, `SELECT id FROM imported_rows WHERE kind = '${kind}' AND source_id = ${sourceId}`);
  return Number(row?.id);
}

/** Runs the SQL on the data here. `$push` and `$user` are the ids of these rows of the source. */
async function damage(target: ImportTarget, statement: string, sourceId: number): Promise<void> {
  const changed = await withDatabaseOf(target.cli.dataDir, async (db) => {
    const kind = statement.includes("$user") ? "user" : "push";
    return await changeRows(db, statement.replaceAll(`$${kind}`, String(await idHere(db, kind, sourceId))));
  });
  expect(changed).toBeGreaterThan(0);
}

const { id: plain } = pushTagged("text-plain");
const { id: protectedPush } = pushTagged("text-passphrase-utf8");

/** Each on a push of its own. */
const damagedPushes: readonly (readonly [tag: string, finding: string, statement: string])[] = [
  [
    "text-plain",
    "Its payload does not open: it was damaged, or one of its files is lost.",
    "UPDATE payloads SET sealed = (SELECT max(sealed) FROM payloads WHERE push_id <> $push) WHERE push_id = $push",
  ],
  ["text-edge-whitespace", "Its payload is missing.", "DELETE FROM payloads WHERE push_id = $push"],
  [
    "text-crlf-multiline",
    "Its key does not open with its link.",
    `UPDATE row_secrets SET sealed = (SELECT max(sealed) FROM row_secrets AS other WHERE other.id <> row_secrets.id)
     WHERE id = (SELECT row_secret_id FROM pushes WHERE id = $push)`,
  ],
  [
    "text-passphrase-utf8",
    "Its key does not open with its link.",
    "UPDATE pushes SET key_check = (SELECT max(key_check) FROM pushes WHERE id <> $push) WHERE id = $push",
  ],
  [
    "text-passphrase",
    "It has no passphrase here, unlike at the source.",
    "UPDATE pushes SET passphrase_salt = NULL WHERE id = $push",
  ],
  ["text-emoji-nfd", "It is not here any more.", "DELETE FROM pushes WHERE id = $push"],
  ["expired-by-owner", "It is not here any more.", "DELETE FROM pushes WHERE id = $push"],
  ["text-html-like", "It is here, but its link does not find it.", "DELETE FROM imported_links WHERE push_id = $push"],
  ["url-iri", "Its owner's lists cannot show its link.", "UPDATE pushes SET owner_check = NULL WHERE id = $push"],
  [
    "qr-emoji",
    "Its owner's lists cannot show its link.",
    `UPDATE pushes SET token_sealed = (
       SELECT max(token_sealed) FROM pushes AS other WHERE other.owner_id = pushes.owner_id AND other.id <> pushes.id
     ) WHERE id = $push`,
  ],
  [
    "url-long-query",
    "It does not belong to the account of its owner here.",
    "UPDATE pushes SET owner_id = NULL WHERE id = $push",
  ],
  [
    "text-token-dash",
    "It allows 6 more views here, and 5 at the source.",
    "UPDATE pushes SET expire_after_views = expire_after_views + 1 WHERE id = $push",
  ],
  ["url-plain", "It allows 5 more views here, and 3 at the source.", "UPDATE pushes SET views = 0 WHERE id = $push"],
  ["qr-wifi", "It expires at ", "UPDATE pushes SET expires_at = expires_at + 1 WHERE id = $push"],
  [
    "text-no-step-not-deletable",
    "Viewers may delete it here, unlike at the source.",
    "UPDATE pushes SET deletable_by_viewer = 1 WHERE id = $push",
  ],
  [
    "one-hour-left",
    "It has no retrieval step here, unlike at the source.",
    "UPDATE pushes SET retrieval_step = 0 WHERE id = $push",
  ],
  [
    "expired-by-viewer",
    "It has ended at the source and can still be opened here.",
    "UPDATE pushes SET ended_at = NULL, expires_at = 4000000000000 WHERE id = $push",
  ],
  [
    "file-three-unicode",
    "It has 2 files here, and 3 at the source.",
    "DELETE FROM files WHERE push_id = $push AND id = (SELECT max(id) FROM files WHERE push_id = $push)",
  ],
  [
    "file-in-db-folder",
    "File 1 of 1 (…) does not open.",
    "UPDATE files SET key_sealed = (SELECT max(key_sealed) FROM files WHERE push_id <> $push) WHERE push_id = $push",
  ],
  [
    "file-one",
    "File 1 of 1 (…) has a name that does not open.",
    "UPDATE files SET details_sealed = (SELECT max(details_sealed) FROM files WHERE push_id <> $push) WHERE push_id = $push",
  ],
  [
    "qr-1024",
    "It was not imported. Run the import again: it says why.",
    "DELETE FROM imported_rows WHERE kind = 'push' AND id = $push",
  ],
];

test("damage of each kind to a push here is found", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  for (const [tag, , statement] of damagedPushes) await damage(target, statement, pushTagged(tag).id);
  const { exitCode, findings } = await verified(target, installation);
  expect(exitCode).toBe(3);
  for (const [tag, finding] of damagedPushes) {
    const found = failuresOf(findings, "push", pushTagged(tag).id).map((line) =>
      line.replace(/\([0-9a-f]{32}\)/, "(…)"),
    );
    expect([tag, found]).toEqual([tag, expect.arrayContaining([expect.stringContaining(finding)])]);
  }
  const damaged = new Set(damagedPushes.map(([tag]) => `push ${pushTagged(tag).id}`));
  const others = findings.filter((line) => !damaged.has(line.replace(/ \(.*$/, "")));
  expect(others).toEqual([]);
});

test.each([
  [
    "is gone",
    "DELETE FROM users WHERE id = $user",
    carol,
    "Its account is not here any more: it was deleted, or is lost.",
  ],
  [
    "was changed",
    "UPDATE users SET admin = 1 WHERE id = $user",
    carol,
    "Its account was changed in the database of this server, so nobody can sign in to it.",
  ],
  [
    "lost its password",
    "UPDATE users SET password_sealed = NULL WHERE id = $user",
    carol,
    "Its password does not open here.",
  ],
  [
    "lost its second factor",
    "DELETE FROM totp_factors WHERE user_id = $user",
    alice,
    "One of its second steps is lost here.",
  ],
  [
    "has another sealed second factor",
    "UPDATE totp_factors SET secret_sealed = (SELECT password_sealed FROM users WHERE id = $user) WHERE user_id = $user",
    alice,
    "Its authenticator app does not open here.",
  ],
  ["lost its API token", "DELETE FROM api_tokens WHERE user_id = $user", alice, "Its API token is not here."],
  [
    "has an API token that was changed",
    "UPDATE api_tokens SET scopes = 'read' WHERE user_id = $user",
    alice,
    "Its API token was changed in the database of this server.",
  ],
])("an account here that %s is found", async (_what, statement, id, finding) => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await damage(target, statement, id);
  const { exitCode, findings } = await verified(target, installation);
  expect([exitCode, findings]).toEqual([3, [`user ${id} (failed): ${finding}`]]);
});

const failuresOf = (findings: readonly string[], table: "user" | "push", id: number) =>
  findings
    .filter((line) => line.startsWith(`${table} ${id} (failed): `))
    .map((line) => line.replace(/^.*? \(failed\): /, ""));

test("damage here is found: a link that leads to another push", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  changeDatabase(installation.databasePath, (connection) => connection.exec(statement));
  const { exitCode, findings, stdout } = await verified(target, installation);
  expect([exitCode, findings]).toEqual([3, [finding]]);
  if (statement.startsWith("INSERT")) expect(stdout).toContain("Password Pusher has changed since the import: ");
});

test("views at the source and here since the import are a failure", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
  await damage(target, "UPDATE imported_rows SET source_id = source_id + 90000 WHERE id = $push", plain);
  const { exitCode, stderr } = await target.verify(installation);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("in the table imported_rows was changed in the database"),
  ]);
});

test("an interruption ends it with exit code 1, and says so", async () => {
  const installation = installProduction();
  const target = makeImportTarget();
  await target.run(installation);
  const interrupted = makeTestCli({ clock: target.clock, interruption: () => AbortSignal.abort() });
  const environment = { ...(await settingsOfEngine(target.cli.dataDir)), DATA_DIR: target.cli.dataDir };
  const { exitCode, stdout } = await interrupted.run(verificationOf(installation), { environment });
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("Interrupted: the other rows were not compared.")]);
});

test("the output holds no secret, link, name or address", async () => {
  const target = makeImportTarget();
  const installation = installProduction();
  await target.run(installation);
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
