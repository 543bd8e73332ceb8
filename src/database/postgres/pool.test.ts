import { describe, expect, onTestFinished, test } from "vitest";
import {
  count,
  find,
  openBehindProxy,
  ownBackend,
  put,
  raise,
  refusedForNow,
  wait,
} from "../../../test/support/postgres/behind-proxy.ts";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { limitConnections } from "../../../test/support/postgres/limited-role.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { OutcomeUnknownError } from "../database.ts";
import { withDatabaseBudget } from "../request-budget.ts";
import { openPostgres } from "./postgres.ts";

const minuteMs = 60_000;

describe("a server that grants fewer connections than the pool wants", () => {
  test("serves every request on the granted connections, and is asked for more only at intervals", async () => {
    const { url } = await makePostgresDatabase();
    const failures: string[] = [];
    const db = await openPostgres({
      settings: postgresSettings(await limitConnections(url, 4), { poolMax: 10, connectTimeoutMs: minuteMs }),
      monotonicMs: () => performance.now(),
      onStorageFailure: (code) => failures.push(code),
    });
    onTestFinished(() => db.close());
    const write = (id: number) =>
      id % 2 === 0
        ? db.autocommit({ retry: "whenNotExecuted" }).run(put, id, id)
        : db.write((tx) => tx.run(put, id, id));
    for (let round = 0; round < 10; round += 1) {
      const works = Array.from({ length: 100 }, (_, at) => write(round * 100 + at));
      expect(await Promise.all(works)).toEqual(Array(100).fill(1));
      expect(db.poolUse()?.open).toBeLessThanOrEqual(4);
    }
    expect(await db.read.one(count)).toEqual({ rows: 1_000 });
    expect(new Set(failures)).toEqual(new Set(["53300"]));
    // First as many attempts as the pool wants connections, then one after each pause.
    expect(failures.length).toBeLessThan(40);
  });

  test("keeps a process without connections waiting until another process closes one", async () => {
    const { url } = await makePostgresDatabase();
    const settings = postgresSettings(await limitConnections(url, 2), { poolMax: 1, connectTimeoutMs: minuteMs });
    const open = () =>
      openPostgres({ settings, monotonicMs: () => performance.now(), onStorageFailure: (code) => failures.push(code) });
    const failures: string[] = [];
    const first = await open();
    const second = await open();
    const third = open();
    await expect.poll(() => failures).toContain("53300");
    await first.close();
    const db = await third;
    expect(await db.read.one(count)).toEqual({ rows: 0 });
    await db.close();
    await second.close();
  });
});

test("while one connection works, failures to open others fail no request", async () => {
  const { db, proxy, failures } = await openBehindProxy({ poolMax: 8, connectTimeoutMs: minuteMs });
  await db.read.one(count);
  proxy.pointTo({ port: 1 });
  const works = Array.from({ length: 200 }, (_, id) => db.write((tx) => tx.run(put, id, 1)));
  expect(await Promise.all(works)).toEqual(Array(200).fill(1));
  expect(db.poolUse()).toMatchObject({ open: 1, waiting: 0 });
  expect(failures.length).toBeGreaterThan(0);
});

test("a host that refuses connections is skipped, and so is a name that does not resolve", async () => {
  const { url } = await makePostgresDatabase();
  const settings = postgresSettings(url);
  const { host, port } = settings;
  const db = await openPostgres({
    settings: {
      ...settings,
      port: 1,
      otherHosts: [
        { host: "nowhere.invalid", port },
        { host, port },
      ],
    },
    monotonicMs: () => performance.now(),
    onStorageFailure: () => undefined,
  });
  expect(await db.read.one(count)).toEqual({ rows: 0 });
  await db.close();
});

describe("connections that are dropped silently", () => {
  /** Time limits that are longer than the test. */
  const patient = { statementTimeoutMs: 10 * minuteMs, connectTimeoutMs: 10 * minuteMs };

  test("reads and transactions are repeated on new connections", async () => {
    const { db, proxy } = await openBehindProxy({ ...patient, poolMax: 3 });
    const ids = [1, 2, 3];
    const allHold = Promise.withResolvers<void>();
    const puts = ids.map(async (id) => {
      await db.write(async (tx) => {
        await tx.run(put, id, 10);
        if (id === ids.at(-1)) allHold.resolve();
        await allHold.promise;
      });
    });
    await Promise.all(puts);
    expect(db.poolUse()).toMatchObject({ open: 3, idle: 3 });
    proxy.stallOpen();
    const reads = [db.read.one(find, 1), db.hot.read(find, 2)];
    expect(await Promise.all([...reads, db.write((tx) => tx.run(raise, 5, 3))])).toEqual([{ at: 10 }, { at: 10 }, 1]);
    expect(await db.read.one(find, 3)).toEqual({ at: 15 });
  });

  test("a connection that is lost while it is opened delays requests for seconds only", async () => {
    const { db, proxy } = await openBehindProxy({ ...patient, poolMax: 3 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const holding = db.write(() => held);
    const lost = proxy.stallNext();
    const reading = db.read.one(count);
    await lost;
    expect(await reading).toEqual({ rows: 0 });
    release();
    await holding;
    proxy.cut();
  });

  test("a write that cannot be repeated is answered soon", async () => {
    const { db, proxy } = await openBehindProxy({ ...patient, poolMax: 1 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    proxy.stallOpen();
    const raising = db.autocommit({ retry: "whenNotExecuted" }).run(raise, 5, 1);
    await expect(raising).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(await db.read.one(find, 1)).toEqual({ at: 10 });
  });

  test("a statement that the server still executes is waited for", async () => {
    const { db } = await openBehindProxy({ ...patient, poolMax: 1 });
    const backend = await db.read.one(ownBackend);
    await db.read.one(wait, 6);
    expect(await db.read.one(ownBackend)).toEqual(backend);
  });
});

test("the total time that a request waits for the database is bounded", async () => {
  const { db } = await openBehindProxy({ poolMax: 1, connectTimeoutMs: minuteMs, statementTimeoutMs: 2_000 });
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  withDatabaseBudget(500, () => {
    const inTurn = async () => {
      const first = await db.read.one(wait, 0.2).then(() => "done");
      // It holds the connection, so the others wait for one.
      const long = db.read.one(wait, 30);
      const others = [
        db.read.one(count),
        db.write((tx) => tx.run(put, 1, 1)),
        db.writeSerialized("mail", (tx) => tx.run(put, 2, 1)),
      ];
      const ends = await Promise.allSettled([long, ...others]);
      const after = await db.read.one(count).catch((error: unknown) => error);
      return [first, ...ends.map((end) => end.status === "rejected" && end.reason), after];
    };
    resolve(inTurn());
  });
  const [first, ...late] = await promise;
  expect(first).toBe("done");
  for (const reason of late) expect(reason).toMatchObject(refusedForNow);
  expect(late).toHaveLength(5);
});
