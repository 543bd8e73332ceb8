import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { countEveryone, openTestDomain, stranger, TestClock } from "../support/domain.ts";
import { makeFolder } from "../support/engine-database.ts";
import { createOwnedPushes } from "../support/owned-pushes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { runProgram, spawnProgram } from "../support/processes.ts";
import { statusWithCookie } from "../support/signed-in-client.ts";

const masterKey = { PWPUSH_MASTER_KEY: "5ea1".repeat(16) };

/** A folder for both, so that files stay where they are; the addresses of its two databases. */
async function makePlaces() {
  const dataDir = makeFolder();
  const { url } = await makePostgresDatabase();
  return {
    dataDir,
    sqlite: `sqlite:${join(dataDir, "moved.sqlite3")}`,
    postgres: url,
    second: `sqlite:${join(dataDir, "back.sqlite3")}`,
  };
}

type Places = Awaited<ReturnType<typeof makePlaces>>;

const settingsAt = ({ dataDir }: Places, address: string) => ({
  ...masterKey,
  DATA_DIR: dataDir,
  DATABASE_URL: address,
});

const startAt = (places: Places, address: string, clock: TestClock): Promise<TestApp> =>
  startTestApp({ dataDir: places.dataDir, environment: { ...masterKey, DATABASE_URL: address }, clock });

const move = (places: Places, from: string, to: string) =>
  runProgram(["move", "--from", from, "--to", to], settingsAt(places, from));

/** What stands on the lines of the tables: name, rows, digest. */
const digestsIn = (output: string) => output.split("\n").filter((line) => /rows {2}[0-9a-f]{64}$/.test(line));

async function create(app: TestApp, push: object, token?: string): Promise<string> {
  const headers = token === undefined ? {} : bearer(token);
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const retrieve = async (app: TestApp, urlToken: string, passphrase = "") =>
  (await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers: { "x-push-passphrase": passphrase } })).json();

/** All that an owner can read of the pushes, without counting anything. */
async function ownersView(app: TestApp, token: string, urlTokens: readonly string[]): Promise<unknown> {
  const read = async (path: string) =>
    (await app.server.inject({ url: `/api/v2/pushes/${path}`, headers: bearer(token) })).json();
  const audits = await Promise.all(urlTokens.map((urlToken) => read(`${urlToken}/audit`)));
  return { active: await read("active"), expired: await read("expired"), audits };
}

test("every link, token, session and audit entry moves to PostgreSQL and back unchanged", async () => {
  const places = await makePlaces();
  const clock = new TestClock(Date.now());
  const app = await startAt(places, places.sqlite, clock);
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
  await retrieve(app, text);
  await retrieve(app, ended);
  await retrieve(app, locked, "wrong");
  const shell = { userId: null, email: "shell", address: "" };
  const { db, accounts } = app.app.domain;
  await db.write(accounts.adminEntry("restored_backup", "before the move", shell));
  const before = await ownersView(app, ownedPushes.apiToken, [...owned, ended]);
  const cookie = ownedPushes.person.cookie();
  await app[Symbol.asyncDispose]();

  const there = await move(places, places.sqlite, places.postgres);
  expect(there).toMatchObject({ exitCode: 0 });
  expect(there.stdout).toContain("both databases were read completely and are equal");
  await expect(startAt(places, places.sqlite, clock)).rejects.toThrow(/were moved to another one/);

  const moved = await startAt(places, places.postgres, clock);
  expect(await ownersView(moved, ownedPushes.apiToken, [...owned, ended])).toEqual(before);
  expect(await statusWithCookie(moved, cookie)).toBe(200);
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

  const back = await move(places, places.postgres, places.second);
  expect(back).toMatchObject({ exitCode: 0 });
  const returned = await startAt(places, places.second, clock);
  expect(await retrieve(returned, latest)).toMatchObject({ payload: "made on PostgreSQL" });
  expect(await retrieve(returned, anonymous)).toMatchObject({ payload: "nobody's", views_remaining: 0 });
  expect(await retrieve(returned, anonymous)).toMatchObject({ payload: null, expired: true });
  expect(await statusWithCookie(returned, cookie)).toBe(200);
  await create(returned, { payload: "ids go on" });
  await returned[Symbol.asyncDispose]();
});

/** Runs the move and kills it when it says for the `times`th time that it has come a little further. */
async function killedMove(places: Places, from: string, to: string, times: number) {
  const child = spawnProgram(["move", "--from", from, "--to", to], settingsAt(places, from));
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let stdout = "";
  child.stdout?.on("data", (chunk) => {
    stdout += String(chunk);
  });
  const ended = new Promise<number | "killed">((done) => child.on("close", (code) => done(code ?? "killed")));
  if (child.stderr === null) throw new Error("The move says nothing.");
  let steps = 0;
  for await (const _progress of createInterface({ input: child.stderr })) {
    steps += 1;
    if (steps === times) child.kill("SIGKILL");
  }
  return { ended: await ended, stdout };
}

/** As often as it takes: each run comes further than the one before. */
async function moveInSpiteOfKills(
  places: Places,
  from: string,
  to: string,
): Promise<{ kills: number; stdout: string }> {
  for (let kills = 0; ; kills += 1) {
    const { ended, stdout } = await killedMove(places, from, to, 1 + 3 * kills);
    if (ended === 0) return { kills, stdout };
    expect(ended).toBe("killed");
    await expect(startAt(places, to, new TestClock(Date.now()))).rejects.toThrow(/was not finished/);
  }
}

test("a move that is killed repeatedly resumes, in both directions", async () => {
  const places = await makePlaces();
  const environment = { ...masterKey, DATABASE_URL: places.sqlite };
  const urlTokens: string[] = [];
  {
    await using fixture = await openTestDomain({
      dataDir: places.dataDir,
      environment,
      clock: new TestClock(Date.now()),
    });
    for (let made = 0; made < 1_500; made += 1) {
      const payload = `payload ${made}`;
      urlTokens.push((await fixture.domain.pushes.create({ payload, expireAfterViews: 2 }, stranger)).urlToken);
    }
  }
  const directions = [
    [places.sqlite, places.postgres],
    [places.postgres, places.second],
  ] as const;
  const outputs: string[] = [];
  for (const [from, to] of directions) {
    const { kills, stdout } = await moveInSpiteOfKills(places, from, to);
    expect(kills).toBeGreaterThan(1);
    expect(stdout).toContain("Continued and moved all data");
    outputs.push(stdout);
  }
  expect(digestsIn(outputs[0] ?? "").length).toBeGreaterThan(15);
  const withoutMarks = (output = "") => digestsIn(output).filter((line) => !line.startsWith("meta "));
  expect(withoutMarks(outputs[1])).toEqual(withoutMarks(outputs[0]));
  await using fixture = await openTestDomain({
    dataDir: places.dataDir,
    environment: { ...masterKey, DATABASE_URL: places.second },
    clock: new TestClock(Date.now()),
  });
  for (const [at, urlToken] of urlTokens.entries()) {
    const claimed = await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger);
    expect(claimed).toMatchObject({ outcome: "revealed", payload: `payload ${at}` });
  }
});

test("a move that would mix, overwrite or split data is refused with one sentence", async () => {
  const places = await makePlaces();
  const clock = new TestClock(Date.now());
  const elsewhere = await makePostgresDatabase();
  await (await startAt(places, places.sqlite, clock))[Symbol.asyncDispose]();
  const other = await startTestApp({
    dataDir: makeFolder(),
    environment: { ...masterKey, DATABASE_URL: elsewhere.url },
    clock,
  });
  await other.makeToken("somebody@example.com");
  const refusals = [
    [places.sqlite, `sqlite:${join(places.dataDir, "other.sqlite3")}`, /from SQLite to PostgreSQL or back/],
    [`sqlite:${join(places.dataDir, "missing.sqlite3")}`, places.postgres, /no database at/],
    [places.sqlite, elsewhere.url, /not empty|process\(es\) used/],
    [elsewhere.url, places.second, /process\(es\) used/],
    [places.sqlite, "mysql://user:hunter2@host/db", /DATABASE_URL cannot be used/],
  ] as const;
  for (const [from, to, sentence] of refusals) {
    const refused = await move(places, from, to);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toMatch(sentence);
    expect(refused.stderr).not.toContain("hunter2");
  }
  await other[Symbol.asyncDispose]();
  // Nothing that was refused has closed the source.
  await (await startAt(places, places.sqlite, clock))[Symbol.asyncDispose]();

  expect(await move(places, places.sqlite, places.postgres)).toMatchObject({ exitCode: 0 });
  const reopened = await runProgram(["move", "--reopen", places.sqlite], settingsAt(places, places.sqlite));
  expect(reopened).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("can start on this database again") });
  await (await startAt(places, places.sqlite, clock))[Symbol.asyncDispose]();
});
