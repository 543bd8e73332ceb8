import { expect, onTestFinished, test } from "vitest";
import { connect, refusedForNow } from "../../../test/support/postgres/behind-proxy.ts";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { openTestDatabase } from "../../../test/support/postgres/open-database.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import type { PostgresSettings } from "../../config/config.ts";
import { type Database, OutcomeUnknownError } from "../database.ts";
import { sql } from "../statement.ts";
import { openPostgres } from "./postgres.ts";

interface Fixture {
  readonly db: Database;
  readonly url: string;
  /** A proxy between the database client and the server. */
  readonly proxy: TcpProxy;
}

const put = sql<[id: number, at: number]>("INSERT INTO deleted_users (user_id, deleted_at) VALUES (?, ?)");
const raise = sql<[by: number, id: number], { at: number }>(
  "UPDATE deleted_users SET deleted_at = deleted_at + ? WHERE user_id = ? RETURNING deleted_at AS at",
);
const find = sql<[id: number], { at: number }>("SELECT deleted_at AS at FROM deleted_users WHERE user_id = ?");
const total = sql<[], { total: number | null }>("SELECT sum(deleted_at) AS total FROM deleted_users");
/** Added to any of the numbers used here, it overflows the column. */
const tooMuch = 9_223_372_036_854_775_000;
const ids = Array.from({ length: 10 }, (_, at) => at + 1);

async function open(overrides: Partial<PostgresSettings> = {}): Promise<Fixture> {
  const { url } = await makePostgresDatabase();
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  const db = await openPostgres({
    settings: postgresSettings(proxy.url(url), overrides),
    monotonicMs: () => performance.now(),
    onStorageFailure: () => undefined,
  });
  onTestFinished(async () => {
    await db.close();
    await proxy[Symbol.asyncDispose]();
  });
  return { db, url, proxy };
}

const putAll = (db: Database) => Promise.all(ids.map((id) => db.hot.insert(put, id, 1_000)));
const raiseAll = (db: Database, byOf: (id: number) => number) =>
  Promise.allSettled(ids.map((id) => db.hot.update(id, raise, byOf(id), id)));

test("statements that arrive together share a transaction, and each gets its own result", async () => {
  const { db } = await open();
  const before = db.counts;
  expect(await putAll(db)).toEqual(ids.map(() => 1));
  expect(db.counts).toMatchObject({ commits: before.commits + 1, transactions: before.transactions + ids.length });
  expect(await raiseAll(db, (id) => id)).toEqual(ids.map((id) => ({ status: "fulfilled", value: { at: 1_000 + id } })));
  expect(db.counts.commits).toBe(before.commits + 2);
  const found = await Promise.all([...ids, 77].map((id) => db.hot.read(find, id)));
  expect(found).toEqual([...ids.map((id) => ({ at: 1_000 + id })), undefined]);
});

test("more statements than one batch holds all succeed", async () => {
  const { db } = await open();
  const many = Array.from({ length: 100 }, (_, at) => at + 1);
  await Promise.all(many.map((id) => db.hot.insert(put, id, 1)));
  expect(await db.read.one(total)).toEqual({ total: 100 });
});

test("a failing statement fails alone: the others are executed once", async () => {
  const { db } = await open();
  await putAll(db);
  const raised = await raiseAll(db, (id) => (id === 4 ? tooMuch : 1));
  expect(raised.map(({ status }) => status)).toEqual(ids.map((id) => (id === 4 ? "rejected" : "fulfilled")));
  expect(await db.read.one(total)).toEqual({ total: 10_000 + ids.length - 1 });

  const putMore = await Promise.allSettled([11, 4, 12].map((id) => db.hot.insert(put, id, 0)));
  expect(putMore.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await db.read.one(find, 12)).toEqual({ at: 0 });
});

test("a statement that exceeds the lock timeout fails alone, and the others are executed", async () => {
  const { db, url } = await open({ lockTimeoutMs: 200 });
  await putAll(db);
  const holder = await connect(url);
  await holder.query("BEGIN");
  await holder.query("UPDATE deleted_users SET deleted_at = deleted_at WHERE user_id = 4");
  const raised = await raiseAll(db, () => 1);
  expect(raised.filter(({ status }) => status === "fulfilled")).toHaveLength(ids.length - 1);
  expect(raised[3]).toMatchObject({ status: "rejected", reason: refusedForNow });
  await holder.query("ROLLBACK");
  expect(await db.read.one(total)).toEqual({ total: 10_000 + ids.length - 1 });
});

test("statements in progress when the database is closed are either executed and confirmed, or refused", async () => {
  const { db, url } = await open();
  await putAll(db);
  const raising = raiseAll(db, () => 1);
  const closing = db.close();
  const raisingLate = raiseAll(db, () => 1);
  const raised = [...(await raising), ...(await raisingLate)];
  await closing;
  const done = raised.filter(({ status }) => status === "fulfilled").length;
  for (const result of raised) {
    if (result.status === "rejected") expect(result.reason).toMatchObject(refusedForNow);
  }
  const { rows } = await (await connect(url)).query("SELECT sum(deleted_at)::int AS total FROM deleted_users");
  expect(rows).toEqual([{ total: 10_000 + done }]);
});

test("a connection that cannot roll back is not reused, and no statement is reported as done", async () => {
  const { db, proxy } = await open({ poolMax: 1 });
  await putAll(db);
  proxy.intercept((statement) => (statement === "ROLLBACK" ? "refuse" : "pass"));
  const raised = await raiseAll(db, (id) => (id === 4 ? tooMuch : 1));
  for (const result of raised) {
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(OutcomeUnknownError) });
  }
  expect(await db.read.one(total)).toEqual({ total: 10_000 });
  expect(await raiseAll(db, () => 1)).toEqual(ids.map(() => ({ status: "fulfilled", value: { at: 1_001 } })));
});

test.each([
  ["lose answer", 10],
  ["lose request", 0],
] as const)(
  "the outcome of changes whose shared commit met '%s' is unknown, and none is executed twice",
  async (verdict, done) => {
    const { db, proxy } = await open();
    await putAll(db);
    proxy.intercept((statement) => (statement === "COMMIT" ? verdict : "pass"));
    const raised = await raiseAll(db, () => 1);
    for (const result of raised) {
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(OutcomeUnknownError) });
    }
    proxy.intercept(() => "pass");
    expect(await db.read.one(total)).toEqual({ total: 10_000 + done });
  },
);

test("inserts whose answer was lost are executed once and confirmed", async () => {
  const { db, proxy } = await open();
  const putOnce = sql<[id: number]>(
    "INSERT INTO deleted_users (user_id, deleted_at) VALUES (?, 1) ON CONFLICT (user_id) DO NOTHING",
  );
  proxy.intercept((statement) => (statement.startsWith("INSERT") && proxy.lost.answers === 0 ? "lose answer" : "pass"));
  await Promise.all(ids.map((id) => db.hot.insert(putOnce, id)));
  expect(proxy.lost.answers).toBe(1);
  expect(await db.read.one(total)).toEqual({ total: ids.length });
});

test("processes that change the same rows in opposite orders never deadlock", async () => {
  const { db, url } = await openTestDatabase();
  const other = await openTestDatabase(url);
  await putAll(db);
  const rounds = 40;
  for (let round = 0; round < rounds; round += 1) {
    const forth = ids.map((id) => db.hot.update(id, raise, 1, id));
    const back = ids.toReversed().map((id) => other.db.hot.update(id, raise, 1, id));
    await Promise.all([...forth, ...back]);
  }
  expect([db.counts.conflicts, other.db.counts.conflicts]).toEqual([0, 0]);
  expect(await db.read.one(total)).toEqual({ total: 10_000 + 2 * rounds * ids.length });
});

test("behind a pooler, which does not keep statement names, each statement runs alone", async () => {
  const { db } = await open({ preparedStatements: false });
  const before = db.counts.commits;
  await putAll(db);
  expect(db.counts.commits).toBe(before + ids.length);
  await raiseAll(db, () => 1);
  expect(await db.hot.read(find, 3)).toEqual({ at: 1_001 });
});
