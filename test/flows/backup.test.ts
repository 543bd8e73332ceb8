import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { clearedTables } from "../../src/backup/sqlite/clear-transient-state.ts";
import { markerName } from "../../src/blobs/file-blob-store.ts";
import { forBothEngines, type SchemaVersion } from "../../src/database/schema/both-engines.ts";
import { noRules } from "../../src/policies/policies.ts";
import { type BackupFixture, keySettings, makeBackupFixture } from "../support/backups.ts";
import { databaseFile } from "../support/database-file.ts";
import { countEveryone, signedIn, stranger, TestClock, type TestDomain } from "../support/domain.ts";
import { claimFiles, makeFile, pushFiles } from "../support/files.ts";
import { makeGroup, makeServiceToken } from "../support/groups.ts";
import { filesIn } from "../support/raw-files.ts";
import { startForeignStore } from "../support/s3/foreign-store.ts";

/** Versions of the schema that a newer program would know. */
const laterVersions = vi.hoisted((): SchemaVersion[] => []);
vi.mock("../../src/database/schema/versions.ts", async (importOriginal) => {
  const { schemaVersions } = await importOriginal<typeof import("../../src/database/schema/versions.ts")>();
  const current = () => [...schemaVersions, ...laterVersions];
  return {
    get schemaVersions() {
      return current();
    },
  };
});

const content = "sealed content ".repeat(10_000);
const longPassword = "correct horse battery staple";

interface Known {
  readonly once: string;
  readonly thrice: string;
  readonly owned: string;
  readonly withFile: string;
  readonly over: string;
}

/** Pushes in different states: one has one of three views, one has ended. */
async function fill({ domain }: TestDomain): Promise<Known> {
  const { pushes } = domain;
  const create = async (payload: string, expireAfterViews: number, owner?: number) =>
    (await pushes.create({ payload, expireAfterViews }, owner === undefined ? stranger : signedIn(owner))).urlToken;
  const known = {
    once: await create("opened once", 1),
    thrice: await create("opened thrice", 3),
    owned: await create("owned", 5, 7),
    withFile: (await pushFiles(pushes, signedIn(7), [makeFile("report.txt", content)], { expireAfterViews: 2 }))
      .urlToken,
    over: await create("over before the backup", 1),
  };
  await claim(domain, known.thrice);
  await claim(domain, known.over);
  return known;
}

async function claim(domain: TestDomain["domain"], urlToken: string): Promise<string> {
  const claimed = await domain.pushes.claimView(urlToken, countEveryone, stranger);
  return claimed.outcome === "revealed" ? (claimed.payload ?? "") : claimed.outcome;
}

async function download(domain: TestDomain["domain"], urlToken: string): Promise<string> {
  const [file] = await claimFiles(domain.pushes, urlToken, stranger);
  const opened = await domain.pushes.openTicket(file?.ticket ?? "", stranger);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened?.read({ start: 0, end: content.length - 1 }) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The three formats of a backup, with the arguments that make and restore them. */
const ways = {
  folder: {
    backUp: (fixture: BackupFixture) => fixture.run(["backup", "--to", join(fixture.backupDir, "b")]),
    from: (fixture: BackupFixture) => ({ argv: ["--from", join(fixture.backupDir, "b")], stdin: Buffer.alloc(0) }),
  },
  archive: {
    backUp: (fixture: BackupFixture) => fixture.run(["backup", "--to", join(fixture.backupDir, "b.tar")]),
    from: (fixture: BackupFixture) => ({ argv: ["--from", join(fixture.backupDir, "b.tar")], stdin: Buffer.alloc(0) }),
  },
} as const;

describe.each(Object.entries(ways))("a backup as a %s", (_name, way) => {
  test("of a running domain restores every view count and file", async () => {
    const fixture = makeBackupFixture();
    const source = await fixture.open();
    const known = await fill(source);
    const said = await way.backUp(fixture);
    expect(said).toMatch(/5 pushes \(4 of them live, with 1 file\), 0 users, encrypted under key [0-9a-f]{8}\./);
    // Later changes are not in the backup.
    expect(await claim(source.domain, known.once)).toBe("opened once");

    const { argv, stdin } = way.from(fixture);
    expect(await fixture.run(["backup", "verify", ...argv], { stdin })).toContain("The backup is complete");
    const dataDir = join(fixture.backupDir, "restored");
    await fixture.run(["restore", ...argv, "--keep-open"], { dataDir, stdin });
    const { domain } = await fixture.open(dataDir);
    expect(await claim(domain, known.once)).toBe("opened once");
    expect(await claim(domain, known.once)).toBe("gone");
    for (const expected of ["opened thrice", "opened thrice", "gone"]) {
      expect(await claim(domain, known.thrice)).toBe(expected);
    }
    expect(await claim(domain, known.owned)).toBe("owned");
    expect(await claim(domain, known.over)).toBe("gone");
    expect(await download(domain, known.withFile)).toBe(content);
    expect((await domain.accounts.listAdminEntries(1))[0]).toMatchObject({
      action: "restored_backup",
      adminEmail: "shell",
      subject: new Date(fixture.clock.now()).toISOString(),
    });
  });

  test("restored with --end-all has no retrievable push and no file, and the audit trail records that", async () => {
    const fixture = makeBackupFixture();
    const source = await fixture.open();
    const known = await fill(source);
    await way.backUp(fixture);
    const { argv, stdin } = way.from(fixture);
    const dataDir = join(fixture.backupDir, "restored");
    const said = await fixture.run(["restore", ...argv, "--end-all"], { dataDir, stdin });
    expect(said).toContain("Ended 4 pushes");
    expect([...filesIn(dataDir).keys()]).toEqual([`blobs/${markerName}`, "sealpush.sqlite3"]);
    const { domain } = await fixture.open(dataDir);
    for (const urlToken of Object.values(known)) expect(await claim(domain, urlToken)).toBe("gone");
    const trail = await domain.pushes.trail(known.owned, signedIn(7), 1);
    expect(trail?.events.map(({ kind }) => kind)).toContain("expire");
  });
});

test("groups, rules, presets and service tokens are as before after a restore, a rotation and another access secret", async () => {
  const fixture = makeBackupFixture();
  const source = await fixture.open();
  const { accounts, policies, presets } = source.domain;
  const member = await accounts.createUser({ email: "ada@example.com", password: longPassword, admin: false });
  const group = await makeGroup({ app: source }, "Deploy", [member.id], { rules: { maxViews: 2 }, claim: "deploy" });
  const token = await makeServiceToken({ app: source }, group.id, "root@example.com");
  const everybodys = { policy: { ...noRules, maxMinutes: 60 }, revision: 0 };
  await policies.save("instance", everybodys, async () => undefined);
  for (const scope of ["instance", { groupId: group.id }, { userId: member.id }] as const) {
    const settings = { expireAfterViews: 1 };
    expect(await presets.save(scope, { name: JSON.stringify(scope), isDefault: true, settings })).toBe("saved");
  }
  const seen = async (domain: TestDomain["domain"], id: number | undefined = member.id) => ({
    groups: await domain.groups.list(),
    memberships: await domain.groups.listOf(id),
    rules: await domain.policies.find({ id }),
    presets: await domain.presets.of({ id }),
  });
  const serviceIdAt = async ({ domain }: TestDomain) =>
    (await domain.accounts.authenticateToken({ token, address: "192.0.2.1" }))?.user.id;
  const before = await seen(source.domain);
  expect(before.rules).toMatchObject({ policy: { maxViews: 2, maxMinutes: 60 }, sources: [{}, { name: "Deploy" }] });
  expect(before.presets.map(({ from }) => from)).toEqual(["own", "group", "instance"]);
  const serviceId = await serviceIdAt(source);
  const rulesOfService = (await seen(source.domain, serviceId)).rules;
  expect(rulesOfService).toEqual(before.rules);

  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);
  const dataDir = join(fixture.backupDir, "restored");
  const kept = ["--keep-open", "--keep-tokens"];
  await fixture.run(["restore", "--from", join(fixture.backupDir, "b"), ...kept], { dataDir });
  const settings = { PWPUSH_MASTER_KEY: "7e57".repeat(16), PWPUSH_MASTER_KEY_PREVIOUS: keySettings.PWPUSH_MASTER_KEY };
  const steps = [
    { settings: keySettings, argv: null, tokenWorks: true },
    { settings, argv: ["keys", "rotate"], tokenWorks: true },
    { settings, argv: ["keys", "replace-access", "--yes"], tokenWorks: false },
  ];
  for (const { settings, argv, tokenWorks } of steps) {
    if (argv !== null) await fixture.run(argv, { dataDir, settings });
    await using opened = await fixture.open(dataDir, settings);
    expect(await seen(opened.domain)).toEqual(before);
    expect(await serviceIdAt(opened)).toBe(tokenWorks ? serviceId : undefined);
    expect((await opened.domain.accounts.findServiceAccount(group.id))?.id).toBe(serviceId);
    expect((await seen(opened.domain, serviceId)).rules).toEqual(rulesOfService);
  }
});

test("a folder contains database, blobs, manifest and seal, readable by its user only, with standard checksums", async () => {
  const fixture = makeBackupFixture();
  await fill(await fixture.open());
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);
  const folder = join(fixture.backupDir, "b");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  expect(manifest).toMatchObject({
    format: "sealpush-backup",
    format_version: 1,
    created_at: "2026-01-15T12:00:00.000Z",
    application_version: "1.2.3",
    counts: { pushes: 5, live_pushes: 4, files: 1, users: 0 },
    pushes_without_files: [],
  });
  for (const { path, bytes, sha256 } of manifest.files) {
    expect(statSync(join(folder, path)).size).toBe(bytes);
    expect(
      createHash("sha256")
        .update(readFileSync(join(folder, path)))
        .digest("hex"),
    ).toBe(sha256);
  }
  const names = [...filesIn(folder).keys()].sort();
  const listed = manifest.files.map((file: { path: string }) => file.path);
  expect(names).toEqual(["manifest.json", "manifest.seal", ...listed].sort());
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  for (const name of ["", "blobs"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
  expect(readdirSync(fixture.backupDir)).toEqual(["b"]);
});

test("the system's tar unpacks an archive to a folder that can be restored", async () => {
  const fixture = makeBackupFixture();
  const known = await fill(await fixture.open());
  const archive = join(fixture.backupDir, "b.tar");
  await fixture.run(["backup", "--to", archive]);
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  const folder = join(fixture.backupDir, "unpacked");
  execFileSync("mkdir", [folder]);
  execFileSync("tar", ["-xf", archive, "-C", folder]);
  await fixture.run(["restore", "--from", folder, "--keep-open"], { dataDir: join(fixture.backupDir, "restored") });
  const { domain } = await fixture.open(join(fixture.backupDir, "restored"));
  expect(await download(domain, known.withFile)).toBe(content);
});

test("a restore requires --keep-open or --end-all and changes nothing without it", async () => {
  const fixture = makeBackupFixture();
  await fill(await fixture.open());
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);
  const dataDir = join(fixture.backupDir, "restored");
  const restore = ["restore", "--from", join(fixture.backupDir, "b")];
  const asked = await fixture.refused(restore, { dataDir });
  expect(asked).toContain("--keep-open");
  expect(asked).toContain("--end-all");
  expect(await fixture.refused([...restore, "--keep-open", "--end-all"], { dataDir })).toContain("cannot be used with");
  expect(existsSync(dataDir)).toBe(false);
});

test("a backup contains the files of the bucket, and a restore uploads them to the configured bucket", async () => {
  // The object store checks the time of each request.
  const fixture = makeBackupFixture(new TestClock(Date.now()));
  const [from, to] = [await startForeignStore(), await startForeignStore()];
  const settings = { ...keySettings, ...from.environment };
  const source = await fixture.open(fixture.cli.dataDir, settings);
  const known = await fill(source);
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b.tar")], { settings });
  await source.domain.pushes.expire(known.withFile, signedIn(7));

  const more = { dataDir: join(fixture.backupDir, "restored"), settings: { ...keySettings, ...to.environment } };
  await fixture.run(["restore", "--from", join(fixture.backupDir, "b.tar"), "--keep-open"], more);
  expect([...filesIn(more.dataDir).keys()]).toEqual(["sealpush.sqlite3"]);
  expect(to.objects().size).toBe(1);
  const restored = await fixture.open(more.dataDir, more.settings);
  expect(await download(restored.domain, known.withFile)).toBe(content);
});

test("a restore ends all sessions, voids links and codes, drops queued emails and what is short-lived, and revokes tokens unless they are to stay", async () => {
  const fixture = makeBackupFixture();
  const source = await fixture.open();
  const email = "ada@example.com";
  await fixture.run(["user", "create", "--email", email, "--password-stdin"], { stdin: Buffer.from(longPassword) });
  const token = (await fixture.run(["token", "create", "--email", email, "--name", "t"])).trim();
  const provisioned = await source.domain.accounts.scim.create(
    { userName: "p@example.com", externalId: "p-1", active: false },
    "",
  );
  await source[Symbol.asyncDispose]();
  fillAccountTables(databaseFile(fixture.cli.dataDir), fixture.clock.now());
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);

  fixture.clock.advance(3_600_000);
  const restore = ["restore", "--from", join(fixture.backupDir, "b"), "--keep-open"];
  const kept = join(fixture.backupDir, "kept");
  const said = await fixture.run([...restore, "--keep-tokens"], { dataDir: kept });
  expect(said).toContain("Ended 1 session; links in emails are invalid; dropped 1 queued email.");
  expect(said).toContain("API tokens work (1)");
  expect(leftOf(databaseFile(kept))).toEqual({
    rows: 0,
    lastStep: Math.floor(fixture.clock.now() / 30_000),
    tokensInUse: 1,
  });
  const authenticate = async (dataDir: string) => {
    const { domain } = await fixture.open(dataDir);
    return await domain.accounts.authenticateToken({ token, address: "192.0.2.1" });
  };
  expect(await authenticate(kept)).toBeDefined();
  expect(await (await fixture.open(kept)).domain.accounts.scim.findByExternalId("p-1")).toEqual(provisioned);

  const revoked = join(fixture.backupDir, "revoked");
  expect(await fixture.run(restore, { dataDir: revoked })).toContain("Revoked 1 API token.");
  expect(leftOf(databaseFile(revoked))).toMatchObject({ tokensInUse: 0 });
  expect(await authenticate(revoked)).toBeUndefined();
});

test.each(["--keep-open", "--end-all"])(
  "a restore with %s revives no download ticket, no retrieval that could be repeated, and no upload",
  async (choice) => {
    const fixture = makeBackupFixture();
    const source = await fixture.open();
    const { pushes } = source.domain;
    const { urlToken } = await pushFiles(pushes, signedIn(7), [makeFile("a.txt", content)], { expireAfterViews: 1 });
    const again = { ...countEveryone, idempotencyKey: "a key that a client sends again" };
    const claimed = await pushes.claimView(urlToken, again, stranger);
    if (claimed.outcome !== "revealed") throw new Error(claimed.outcome);
    const ticket = claimed.files[0]?.ticket ?? "";
    await pushes.openUpload({ filename: "b.txt", contentType: "", sizeBytes: 10 }, signedIn(7));
    const path = databaseFile(fixture.cli.dataDir);
    const keyIds = ["claim_retries", "download_tickets", "resumable_uploads"].flatMap((table) =>
      rowsOf(path, `SELECT row_secret_id AS id FROM ${table}`).map(({ id }) => Number(id)),
    );
    expect(keyIds).toHaveLength(3);
    await source[Symbol.asyncDispose]();
    await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);

    const dataDir = join(fixture.backupDir, "restored");
    await fixture.run(["restore", "--from", join(fixture.backupDir, "b"), choice], { dataDir });
    const restored = databaseFile(dataDir);
    const kept = `SELECT id FROM row_secrets WHERE id IN (${keyIds.join()}) AND sealed <> zeroblob(length(sealed))`;
    expect(rowsOf(restored, kept)).toEqual([]);
    expect(rowsOf(restored, "SELECT push_id FROM payloads")).toEqual([]);
    const { domain } = await fixture.open(dataDir);
    expect((await domain.pushes.claimView(urlToken, again, stranger)).outcome).toBe("gone");
    expect(await domain.pushes.openTicket(ticket, stranger)).toBeUndefined();
  },
);

/** What stays as it was at the backup. A new table is either here or cleared: docs/operations.md says what a restore does. */
const keptTables = [
  "admin_audit_entries",
  "api_tokens",
  "audit_entries",
  "backup_codes",
  "blob_deletions",
  "bulk_endings",
  "claim_retries",
  "creation_keys",
  "deleted_users",
  "files",
  "group_members",
  "id_blocks",
  "identities",
  "imported_links",
  "imported_rows",
  "known_clients",
  "link_deliveries",
  "link_delivery_days",
  "link_secret_users",
  "link_secrets",
  "meta",
  "passkey_challenges",
  "passkeys",
  "payloads",
  "policies",
  "presets",
  "pushes",
  "request_answers",
  "requests",
  "row_secrets",
  "scim_users",
  "theme_parts",
  "totals",
  "totp_factors",
  "user_groups",
  "users",
];

test("of every table it is known what a restore does with its rows", async () => {
  const fixture = makeBackupFixture();
  await (await fixture.open())[Symbol.asyncDispose]();
  const tables = rowsOf(databaseFile(fixture.cli.dataDir), "SELECT name FROM sqlite_master WHERE type = 'table'");
  const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith("sqlite_"));
  expect(names.sort()).toEqual([...keptTables, ...clearedTables].sort());
});

test("a backup of an older schema is upgraded by the restore; the backup before an upgrade keeps the older schema", async () => {
  const fixture = makeBackupFixture();
  await (await fixture.open())[Symbol.asyncDispose]();
  laterVersions.push(forBothEngines(() => ""));
  onTestFinished(() => void laterVersions.splice(0));
  await fixture.run(["backup", "--to", join(fixture.backupDir, "b")]);
  expect(JSON.parse(readFileSync(join(fixture.backupDir, "b/manifest.json"), "utf8")).schema_version).toBe(1);
  const restored = join(fixture.backupDir, "restored");
  await fixture.run(["restore", "--from", join(fixture.backupDir, "b"), "--keep-open"], { dataDir: restored });
  expect(rowsOf(databaseFile(fixture.cli.dataDir), "PRAGMA user_version")).toEqual([{ user_version: 1 }]);
  expect(rowsOf(databaseFile(restored), "PRAGMA user_version")).toEqual([{ user_version: 2 }]);
});

function rowsOf(path: string, text: string): readonly Record<string, unknown>[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare<[], Record<string, unknown>>(text).all();
  } finally {
    db.close();
  }
}

/** Inserts one row into each table whose rows a restore must not make valid again. */
function fillAccountTables(path: string, now: number): void {
  const db = new Database(path);
  const some = Buffer.alloc(32, 1);
  const userId = db.prepare("SELECT id FROM users").pluck().get();
  db.prepare(
    `INSERT INTO sessions (digest, id, user_id, way, created_at, seen_at, waits_for_factor, persistent, address, user_agent)
     VALUES (?, 1, ?, 0, ?, ?, 0, 0, '', '')`,
  ).run(some, userId, now, now);
  db.prepare("INSERT INTO mailed_links VALUES (?, ?, 1, NULL, NULL, 0, ?, NULL)").run(some, userId, now);
  db.prepare("INSERT INTO sign_on_steps VALUES (?, ?, 'client', ?)").run(some, some, now);
  db.prepare("INSERT INTO provider_logouts VALUES ('sub https://id.example b-1', ?, ?)").run(now / 1_000, now);
  db.prepare("INSERT INTO outbox VALUES (1, ?, ?, ?, 0, NULL)").run(some, now, now);
  db.prepare("INSERT INTO outbox VALUES (2, ?, ?, NULL, 9, 'given up')").run(some, now);
  db.prepare("INSERT INTO processes VALUES ('p', 'k', 'k', ?)").run(now);
  db.prepare("INSERT INTO totp_factors VALUES (?, ?, 1, ?)").run(userId, some, now);
  db.close();
}

function leftOf(path: string) {
  const db = new Database(path, { readonly: true });
  const ask = (text: string) => db.prepare(text).pluck().get();
  const rows = clearedTables.reduce((sum, table) => sum + Number(ask(`SELECT count(*) FROM ${table}`)), 0);
  const lastStep = ask("SELECT last_step FROM totp_factors");
  const tokensInUse = ask("SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL");
  db.close();
  return { rows, lastStep, tokensInUse };
}
