import { expect, test } from "vitest";
import { openBehindProxy } from "../../test/support/postgres/behind-proxy.ts";
import { openWithNestedLoops } from "../../test/support/postgres/nested-loops.ts";
import { openTestDatabase } from "../../test/support/postgres/open-database.ts";
import { seededNumbers } from "../../test/support/seeded-numbers.ts";
import type { Interception } from "../../test/support/tcp-proxy.ts";
import { systemRandom } from "../base/random.ts";
import type { Database } from "../database/database.ts";
import { sql } from "../database/statement.ts";
import { createLimits } from "./create-limits.ts";
import { describeLimits } from "./limits.contract.ts";
import type { Charge, Limits } from "./limits.ts";

const start = Date.UTC(2030, 0, 1);
const limit = { name: "tries", windowMs: 60_000, max: 2, rememberedMax: 1_000 };
const kinds = ["inWindows", "sliding"] as const;

function assertAnswered(error: unknown): never {
  throw error;
}

/** Two processes on one database. */
async function openTwo(): Promise<{ limits: readonly [Limits, Limits]; db: Database }> {
  const { db, url } = await openTestDatabase();
  const other = await openTestDatabase(url);
  return {
    db,
    limits: [createLimits(db, systemRandom, assertAnswered), createLimits(other.db, systemRandom, assertAnswered)],
  };
}

async function refund(charge: Charge | undefined): Promise<void> {
  if (charge?.outcome !== "charged") throw new Error("The attempt was refused.");
  await charge.refund();
}

describeLimits("counted in PostgreSQL by two processes", async () => (await openTwo()).limits);

describeLimits("counted under serializable isolation", async () => {
  const { db, url } = await openTestDatabase();
  const name = new URL(url).pathname.slice(1);
  await db
    .autocommit({ retry: "whenNotExecuted" })
    .run(sql(`ALTER DATABASE "${name}" SET default_transaction_isolation = 'serializable'`));
  const processes = [await openTestDatabase(url), await openTestDatabase(url)];
  return processes.map((process) => createLimits(process.db, systemRandom, assertAnswered));
});

test.each(kinds)("%s: machines whose clocks differ slightly share their windows", async (kind) => {
  const { limits } = await openTwo();
  const [ahead, behind] = limits.map((one) => one[kind](limit));
  expect(await ahead?.charge("a", start + 30_000)).toMatchObject({ outcome: "charged" });
  expect(await behind?.charge("a", start)).toMatchObject({ outcome: "charged" });
  expect(await behind?.charge("a", start)).toMatchObject({ outcome: "refused" });
  expect(await ahead?.charge("a", start + 30_001)).toMatchObject({ outcome: "refused" });
});

test("expired counters are deleted in bounded steps, and current ones are kept", async () => {
  const { limits, db } = await openTwo();
  const [one] = limits;
  for (let at = 0; at < 5; at += 1) {
    for (const kind of kinds) await one[kind](limit).charge(`old ${at}`, start);
  }
  const now = start + 200_000;
  for (const kind of kinds) for (let at = 0; at < 2; at += 1) await one[kind](limit).charge("young", now);
  expect(await one.removeExpired(now, 3)).toBe(6);
  expect(await one.removeExpired(now, 3)).toBe(4);
  expect(await one.removeExpired(now, 3)).toBe(0);
  for (const table of ["limit_windows", "limit_attempts"]) {
    expect(await db.read.one(sql(`SELECT count(*) AS count FROM ${table}`))).toEqual({ count: 1 });
  }
  for (const kind of kinds) expect(await one[kind](limit).charge("young", now)).toMatchObject({ outcome: "refused" });
});

test("expired counters are deleted in bounded steps with every join strategy", async () => {
  const { db } = await openWithNestedLoops();
  const limits = createLimits(db, systemRandom, assertAnswered);
  for (const kind of kinds) for (let at = 0; at < 5; at += 1) await limits[kind](limit).charge(`old ${at}`, start);
  for (const expected of [6, 4, 0]) expect(await limits.removeExpired(start + 200_000, 3)).toBe(expected);
});

test("the tables contain no address, and no charge waits for a disk", async () => {
  const { limits, db } = await openTwo();
  for (const kind of kinds) await limits[0][kind](limit).charge("192.0.2.77 ada@example.com", start);
  const keys = sql<[], { key: Buffer }>("SELECT key FROM limit_windows UNION ALL SELECT key FROM limit_attempts");
  const rows = await db.read.all(keys);
  expect(rows.map(({ key }) => key.length)).toEqual([32, 32]);
  const logged = sql<[], { name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname LIKE 'limit%' AND relpersistence <> 'u'",
  );
  expect(await db.read.all(logged)).toEqual([]);
});

test.each(kinds)("%s: while the database does not answer, the process counts alone and reports it", async (kind) => {
  const { db, close } = await openTestDatabase();
  const failures: unknown[] = [];
  const counter = createLimits(db, systemRandom, (error) => failures.push(error))[kind](limit);
  const charged = await counter.charge("a", start);
  await counter.charge("a", start);
  await close();
  // The attempt was correct, but the refund cannot be written: the attempt succeeds anyway.
  if (charged.outcome !== "charged") throw new Error("The attempt was refused.");
  await charged.refund();
  expect(failures).toHaveLength(1);

  const alone = await counter.charge("a", start);
  expect(await counter.charge("a", start)).toMatchObject({ outcome: "charged" });
  expect(await counter.charge("a", start)).toMatchObject({ outcome: "refused" });
  if (alone.outcome !== "charged") throw new Error("The attempt was refused.");
  await alone.refund();
  expect(await counter.charge("a", start)).toMatchObject({ outcome: "charged" });
  expect(failures).toHaveLength(5);
});

test("right attempts are not counted although requests to the database and its answers are lost", async () => {
  const { db, proxy } = await openBehindProxy();
  const counter = createLimits(db, systemRandom, () => undefined).sliding({ ...limit, max: 3 });
  const faults = seededNumbers(0x429);
  const kinds: readonly Interception[] = ["lose answer", "lose request", "refuse"];
  proxy.intercept((statement) =>
    /limit_attempts/.test(statement) && faults() < 0.3
      ? (kinds[Math.floor(faults() * kinds.length)] ?? "pass")
      : "pass",
  );
  for (let at = 0; at < 20; at += 1) await refund(await counter.charge("a", start + at));
  expect(proxy.lost.answers).toBeGreaterThan(0);
  proxy.intercept(() => "pass");
  await refund(await counter.charge("a", start + 20));
  const counted = sql<[], { count: number }>("SELECT count(*) AS count FROM limit_attempts, unnest(charged_at)");
  await expect.poll(() => db.read.one(counted)).toEqual({ count: 0 });
});

test("a process reserves an amount at once and counts it locally, and the maximum holds over all processes", async () => {
  const { limits, db } = await openTwo();
  const bytes = { name: "bytes", windowMs: 60_000, max: 1_000, rememberedMax: 1_000, reservedAtOnce: 100 };
  const [one, other] = limits.map((each) => each.inWindows(bytes));
  const counted = sql<[], { count: number }>("SELECT count FROM limit_windows");
  for (let at = 0; at < 10; at += 1) expect(await one?.charge("a", start, 10)).toMatchObject({ outcome: "charged" });
  expect(await db.read.one(counted)).toEqual({ count: 100 });
  const spent = await one?.charge("a", start, 60);
  expect(await db.read.one(counted)).toEqual({ count: 200 });
  await refund(spent);
  expect(await one?.charge("a", start, 99)).toMatchObject({ outcome: "charged" });
  expect(await db.read.one(counted)).toEqual({ count: 200 });
  expect(await other?.charge("a", start, 750)).toMatchObject({ outcome: "charged" });
  // 50 are left: less than a process reserves at once.
  expect(await other?.charge("a", start, 50)).toMatchObject({ outcome: "charged" });
  expect(await other?.charge("a", start, 1)).toMatchObject({ outcome: "refused", retryAfterSeconds: 60 });
  expect(await other?.charge("a", start + 60_000, 1)).toMatchObject({ outcome: "charged" });
});
