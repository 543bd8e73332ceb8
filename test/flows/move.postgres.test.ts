import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { countEveryone, openTestDomain, stranger, TestClock } from "../support/domain.ts";
import { countRows } from "../support/engine-database.ts";
import { makeFolder } from "../support/folders.ts";
import { makeGroup, makeServiceToken } from "../support/groups.ts";
import { createOwnedPushes } from "../support/owned-pushes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { preloaded } from "../support/preload.ts";
import { runProgram, runToItsEnd, spawnProgram } from "../support/processes.ts";
import { statusWithCookie } from "../support/signed-in-client.ts";

const masterKey = { PWPUSH_MASTER_KEY: "5ea1".repeat(16) };

/** One folder for both engines, so that files are not moved, and the addresses of its two databases. */
async function makeDatabases() {
  const dataDir = makeFolder();
  const { url } = await makePostgresDatabase();
  return {
    dataDir,
    sqlite: `sqlite:${join(dataDir, "moved.sqlite3")}`,
    postgres: url,
    second: `sqlite:${join(dataDir, "back.sqlite3")}`,
  };
}

type Databases = Awaited<ReturnType<typeof makeDatabases>>;

const settingsAt = ({ dataDir }: Databases, address: string) => ({
  ...masterKey,
  DATA_DIR: dataDir,
  DATABASE_URL: address,
});

const startAt = (databases: Databases, address: string, clock: TestClock): Promise<TestApp> =>
  startTestApp({ dataDir: databases.dataDir, environment: { ...masterKey, DATABASE_URL: address }, clock });

const move = (databases: Databases, from: string, to: string) =>
  runProgram(["move", "--from", from, "--to", to], settingsAt(databases, from));

/** A command would change what no server serves any more. */
async function expectMovedAway(databases: Databases, from: string) {
  const refused = /^The data of this database were moved to another one/;
  const disable = ["user", "disable", "--email", "owner@example.com"];
  for (const command of [["user", "list"], disable]) {
    const run = await runProgram(command, settingsAt(databases, from));
    expect(run).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringMatching(refused) });
  }
  const doctor = await runProgram(["doctor"], { ...settingsAt(databases, from), PORT: "1" });
  expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail {2}move: The data of this/m) });
}

/** The lines of the tables in the output: name, rows, digest. */
const digestsIn = (output: string) => output.split("\n").filter((line) => /rows {2}[0-9a-f]{64}$/.test(line));

const keyed = { "idempotency-key": "a-random-key-of-the-client" };

async function create(app: TestApp, push: object, token?: string, more: object = {}): Promise<string> {
  const headers = token === undefined ? {} : { ...bearer(token), ...more };
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const retrieve = async (app: TestApp, urlToken: string, passphrase = "") =>
  (await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers: { "x-push-passphrase": passphrase } })).json();

/** Everything that an owner can read about the pushes without counting a view. */
async function ownersView(app: TestApp, token: string, urlTokens: readonly string[]): Promise<unknown> {
  const read = async (path: string) =>
    (await app.server.inject({ url: `/api/v2/pushes/${path}`, headers: bearer(token) })).json();
  const audits = await Promise.all(urlTokens.map((urlToken) => read(`${urlToken}/audit`)));
  return { active: await read("active"), expired: await read("expired"), audits };
}

test("every link, token, session and audit entry moves to PostgreSQL and back unchanged", async () => {
  const databases = await makeDatabases();
  const clock = new TestClock(Date.now());
  const app = await startAt(databases, databases.sqlite, clock);
  const ownedPushes = await createOwnedPushes(app);
  const kinds = [
    { payload: "text", expire_after_views: 3 },
    { payload: "https://example.com/", kind: "url" },
    { payload: "qr", kind: "qr" },
    { payload: "", files: [{ filename: "a.txt", content_type: "text/plain", data: btoa("content") }] },
    { payload: "kept", passphrase: "open sesame", name: "name", note: "note" },
  ];
  const owned: string[] = [];
  for (const push of kinds) owned.push(await create(app, push, ownedPushes.apiToken));
  const [text = "", , , file = "", locked = ""] = owned;
  const ended = await create(app, { payload: "x", expire_after_views: 1 }, ownedPushes.apiToken);
  const anonymous = await create(app, { payload: "nobody's", expire_after_views: 2 });
  const repeatable = await create(app, { payload: "shown once", expire_after_views: 1 });
  await app.app.domain.pushes.claimView(
    repeatable,
    { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" },
    stranger,
  );
  const createAgain = (at: TestApp) => create(at, { payload: "made once" }, ownedPushes.apiToken, keyed);
  const made = await createAgain(app);
  const claimAgain = async (at: TestApp) =>
    (await at.server.inject({ url: `/api/v2/pushes/${text}`, headers: keyed })).statusCode;
  expect(await claimAgain(app)).toBe(200);
  await retrieve(app, ended);
  await retrieve(app, locked, "wrong");
  const shell = { userId: null, email: "shell", address: "" };
  const { db, accounts } = app.app.domain;
  await db.write(accounts.adminEntry("restored_backup", "before the move", shell));
  const provisioned = await accounts.scim.create({ userName: "p@example.com", externalId: "p-1", active: false }, "");
  await accounts.endProviderSessions({ issuer: "https://id.example", sid: undefined, subject: "s-1", issuedAt: 1 });
  const group = await makeGroup(app, "Deploy", [], { rules: { maxViews: 2 } });
  const service = await makeServiceToken(app, group.id, "root@example.com");
  const ofService = await create(app, { payload: "pipeline", expire_after_views: 2 }, service);
  const preset = { name: "Short", isDefault: true, settings: { expireAfterViews: 1 } };
  expect(await app.app.domain.presets.save({ groupId: group.id }, preset)).toBe("saved");
  const serviceView = await ownersView(app, service, [ofService]);
  const before = await ownersView(app, ownedPushes.apiToken, [...owned, ended]);
  const cookie = ownedPushes.person.cookie();
  await app[Symbol.asyncDispose]();

  const there = await move(databases, databases.sqlite, databases.postgres);
  expect(there).toMatchObject({ exitCode: 0 });
  expect(there.stdout).toContain("both databases were read completely and are equal");
  await expect(startAt(databases, databases.sqlite, clock)).rejects.toThrow(/were moved to another one/);
  await expectMovedAway(databases, databases.sqlite);
  const backupDir = makeFolder();
  const backup = await runProgram(["backup", "--to", join(backupDir, "b")], settingsAt(databases, databases.sqlite));
  expect(backup).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^The data of this database were moved/) });
  expect(readdirSync(backupDir)).toEqual([]);

  const moved = await startAt(databases, databases.postgres, clock);
  // The claim cannot be repeated after the move, so its payload is not moved either.
  const endedPush = "push_id IN (SELECT id FROM pushes WHERE ended_at IS NOT NULL)";
  expect(await countRows(moved.app.domain.db, "payloads", endedPush)).toBe(0);
  expect(await ownersView(moved, ownedPushes.apiToken, [...owned, ended])).toEqual(before);
  expect(await ownersView(moved, service, [ofService])).toEqual(serviceView);
  expect(await statusWithCookie(moved, cookie)).toBe(200);
  expect(await moved.app.domain.accounts.scim.findByExternalId("p-1")).toEqual(provisioned);
  expect(await countRows(moved.app.domain.db, "provider_logouts")).toBe(1);
  // Keys stay used.
  expect(await createAgain(moved)).toBe(made);
  expect(await claimAgain(moved)).toBe(422);
  expect(await retrieve(moved, text)).toMatchObject({ payload: "text", views_remaining: 1 });
  expect(await retrieve(moved, ended)).toMatchObject({ payload: null, expired: true });
  expect(await retrieve(moved, locked, "open sesame")).toMatchObject({ payload: "kept" });
  expect(await retrieve(moved, anonymous)).toMatchObject({ payload: "nobody's", views_remaining: 1 });
  const { files } = await retrieve(moved, file);
  const download = await moved.server.inject({ url: new URL(files[0].url).pathname });
  expect(download.body).toBe("content");
  const after = moved.app.domain;
  await after.db.write(after.accounts.adminEntry("restored_backup", "after the move", shell));
  const latest = await create(moved, { payload: "made on PostgreSQL" });
  await moved[Symbol.asyncDispose]();

  const back = await move(databases, databases.postgres, databases.second);
  expect(back).toMatchObject({ exitCode: 0 });
  await expectMovedAway(databases, databases.postgres);
  const returned = await startAt(databases, databases.second, clock);
  expect(await retrieve(returned, latest)).toMatchObject({ payload: "made on PostgreSQL" });
  expect(await retrieve(returned, anonymous)).toMatchObject({ payload: "nobody's", views_remaining: 0 });
  expect(await retrieve(returned, anonymous)).toMatchObject({ payload: null, expired: true });
  expect(await statusWithCookie(returned, cookie)).toBe(200);
  // With the rules of its group.
  await create(returned, { payload: "pipeline", expire_after_views: 2, preset: "Short" }, service);
  expect(await returned.app.domain.presets.list({ groupId: group.id })).toEqual([expect.objectContaining(preset)]);
  await expect(create(returned, { payload: "pipeline", expire_after_views: 3 }, service)).rejects.toThrow(/422/);
  await create(returned, { payload: "ids go on" });
  await returned[Symbol.asyncDispose]();
});

/** Runs a move that is killed when it reports progress the given time. From outside, it might have gone on meanwhile. */
async function killedMove(databases: Databases, from: string, to: string, times: number) {
  const killed = preloaded(`
    let steps = 0;
    process.stderr.write = () => {
      steps += 1;
      if (steps === ${times}) process.kill(process.pid, "SIGKILL");
      return true;
    };`);
  const settings = { ...settingsAt(databases, from), NODE_OPTIONS: killed };
  const child = spawnProgram(["move", "--from", from, "--to", to], settings);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const { exitCode, stdout } = await runToItsEnd(child);
  return { ended: exitCode ?? "killed", stdout };
}

/** Repeats the move until it completes: each run gets further than the previous one. */
async function moveInSpiteOfKills(
  databases: Databases,
  from: string,
  to: string,
): Promise<{ kills: number; stdout: string }> {
  for (let kills = 0; ; kills += 1) {
    const { ended, stdout } = await killedMove(databases, from, to, 1 + 3 * kills);
    if (ended === 0) return { kills, stdout };
    expect(ended).toBe("killed");
    await expect(startAt(databases, to, new TestClock(Date.now()))).rejects.toThrow(/was not finished/);
  }
}

test("a move that is killed repeatedly resumes, in both directions", async () => {
  const databases = await makeDatabases();
  const environment = { ...masterKey, DATABASE_URL: databases.sqlite };
  const urlTokens: string[] = [];
  {
    await using fixture = await openTestDomain({
      dataDir: databases.dataDir,
      environment,
      clock: new TestClock(Date.now()),
    });
    for (let made = 0; made < 1_500; made += 1) {
      const payload = `payload ${made}`;
      urlTokens.push((await fixture.domain.pushes.create({ payload, expireAfterViews: 2 }, stranger)).urlToken);
    }
  }
  const directions = [
    [databases.sqlite, databases.postgres],
    [databases.postgres, databases.second],
  ] as const;
  const outputs: string[] = [];
  for (const [from, to] of directions) {
    const { kills, stdout } = await moveInSpiteOfKills(databases, from, to);
    expect(kills).toBeGreaterThan(1);
    expect(stdout).toContain("Continued and moved all data");
    outputs.push(stdout);
  }
  expect(digestsIn(outputs[0] ?? "").length).toBeGreaterThan(15);
  const withoutMarks = (output = "") => digestsIn(output).filter((line) => !line.startsWith("meta "));
  expect(withoutMarks(outputs[1])).toEqual(withoutMarks(outputs[0]));
  await using fixture = await openTestDomain({
    dataDir: databases.dataDir,
    environment: { ...masterKey, DATABASE_URL: databases.second },
    clock: new TestClock(Date.now()),
  });
  for (const [at, urlToken] of urlTokens.entries()) {
    const claimed = await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger);
    expect(claimed).toMatchObject({ outcome: "revealed", payload: `payload ${at}` });
  }
});

test("a move that would mix, overwrite or split data is refused with one sentence", async () => {
  const databases = await makeDatabases();
  const clock = new TestClock(Date.now());
  const elsewhere = await makePostgresDatabase();
  await (await startAt(databases, databases.sqlite, clock))[Symbol.asyncDispose]();
  const other = await startTestApp({
    dataDir: makeFolder(),
    environment: { ...masterKey, DATABASE_URL: elsewhere.url },
    clock,
  });
  await other.makeToken("somebody@example.com");
  const refusals = [
    [databases.sqlite, `sqlite:${join(databases.dataDir, "other.sqlite3")}`, /from SQLite to PostgreSQL or back/],
    [`sqlite:${join(databases.dataDir, "missing.sqlite3")}`, databases.postgres, /no database at/],
    [databases.sqlite, elsewhere.url, /not empty|process\(es\) used/],
    [elsewhere.url, databases.second, /process\(es\) used/],
    [
      databases.sqlite,
      "postgres://user:hunter2@127.0.0.1:1/db",
      /does not answer \(connection refused\): check --to\.\n/,
    ],
    [databases.sqlite, "mysql://user:hunter2@host/db", /^--to cannot be used/],
  ] as const;
  for (const [from, to, sentence] of refusals) {
    const refused = await move(databases, from, to);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toMatch(sentence);
    expect(refused.stderr).not.toContain("hunter2");
  }
  await other[Symbol.asyncDispose]();
  // No refused move has closed the source.
  await (await startAt(databases, databases.sqlite, clock))[Symbol.asyncDispose]();

  expect(await move(databases, databases.sqlite, databases.postgres)).toMatchObject({ exitCode: 0 });
  const reopened = await runProgram(["move", "--reopen", databases.sqlite], settingsAt(databases, databases.sqlite));
  expect(reopened).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("can start on this database again") });
  await (await startAt(databases, databases.sqlite, clock))[Symbol.asyncDispose]();
});
