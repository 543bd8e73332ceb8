import { describe, expect, test } from "vitest";
import {
  connect,
  count,
  find,
  openBehindProxy,
  ownBackend,
  put,
  raise,
  refusedForNow,
  wait,
} from "../../../test/support/postgres/behind-proxy.ts";
import { sql } from "../statement.ts";

describe("time limits", () => {
  test("a statement that exceeds its timeout is cancelled by the server, and the next one runs", async () => {
    const { db, failures } = await openBehindProxy({ poolMax: 1, statementTimeoutMs: 100 });
    await expect(db.read.one(wait, 600)).rejects.toMatchObject(refusedForNow);
    await expect(db.write((tx) => tx.one(wait, 600))).rejects.toMatchObject(refusedForNow);
    expect(await db.answers()).toBe(true);
    expect(failures).toEqual(["57014", "57014"]);
  });

  test("waiting for a row that another client has locked is bounded", async () => {
    const { db, url } = await openBehindProxy({ lockTimeoutMs: 100 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    const holder = await connect(url);
    await holder.query("BEGIN");
    await holder.query("SELECT * FROM deleted_users FOR UPDATE");
    await expect(db.autocommit({ retry: "whenNotExecuted" }).run(raise, 1, 1)).rejects.toMatchObject(refusedForNow);
    await expect(db.write((tx) => tx.run(raise, 1, 1))).rejects.toMatchObject(refusedForNow);
    await holder.query("COMMIT");
    expect(await db.read.one(find, 1)).toEqual({ at: 10 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(raise, 1, 1);
    expect(await db.read.one(find, 1)).toEqual({ at: 11 });
  });

  test("an unresponsive server times out soon, and is used again when it recovers", async () => {
    const { db, proxy } = await openBehindProxy({ statementTimeoutMs: 2_000, connectTimeoutMs: 2_000 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    proxy.stall();
    const asked = [
      db.read.one(find, 1),
      db.write((tx) => tx.run(raise, 1, 1)),
      db.autocommit({ retry: "whenNotExecuted" }).run(raise, 1, 1),
    ];
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    for (const end of ends) expect(end).toMatchObject({ reason: refusedForNow });
    proxy.heal();
    await expect.poll(() => db.answers()).toBe(true);
    expect(await db.read.one(count)).toEqual({ rows: 1 });
  });
});

describe("the pool", () => {
  test("a request that gets no connection in time is refused", async () => {
    const { db } = await openBehindProxy({ poolMax: 1, connectTimeoutMs: 2_000 });
    const held = Promise.withResolvers<void>();
    const holding = db.write(() => held.promise);
    await expect(db.read.one(count)).rejects.toMatchObject(refusedForNow);
    held.resolve();
    await holding;
    expect(await db.read.one(count)).toEqual({ rows: 0 });
  });

  test("a request is refused at once when too many are waiting", async () => {
    const { db } = await openBehindProxy({ poolMax: 1, waitingMax: 2, connectTimeoutMs: 600_000 });
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const holding = db.write(async () => {
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    const waiting = [db.read.one(count), db.read.one(count)];
    await expect(db.read.one(count)).rejects.toMatchObject(refusedForNow);
    expect(db.poolUse()).toEqual({ max: 1, open: 1, idle: 0, waiting: 2 });
    held.resolve();
    await holding;
    expect(await Promise.all(waiting)).toEqual([{ rows: 0 }, { rows: 0 }]);
  });

  test("five hundred requests on two connections are all served", async () => {
    const { db } = await openBehindProxy({ poolMax: 2 });
    const works = Array.from({ length: 500 }, (_, id) =>
      id % 2 === 0
        ? db.autocommit({ retry: "whenNotExecuted" }).run(put, id, id)
        : db.write((tx) => tx.run(put, id, id)),
    );
    expect(await Promise.all(works)).toEqual(Array(500).fill(1));
    expect(await db.read.one(count)).toEqual({ rows: 500 });
  });

  test("serialized transactions wait with one connection and leave the others free", async () => {
    const { db } = await openBehindProxy({ poolMax: 2, connectTimeoutMs: 1_000 });
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = db.writeSerialized("accounts", async () => {
      begun.resolve();
      await held.promise;
    });
    const others = Array.from({ length: 20 }, (_, id) => db.writeSerialized("accounts", (tx) => tx.run(put, id, 1)));
    await begun.promise;
    expect(await db.read.one(count)).toEqual({ rows: 0 });
    held.resolve();
    await Promise.all([first, ...others]);
    expect(await db.read.one(count)).toEqual({ rows: 20 });
  });

  test("a broken idle connection is reported, and the next request opens another", async () => {
    const { db, url, failures } = await openBehindProxy({ poolMax: 1 });
    const other = await connect(url);
    const works = [
      () => db.read.one(count),
      () => db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 1),
      () => db.write((tx) => tx.run(put, 2, 1)),
      () => db.writeSerialized("mail", (tx) => tx.run(put, 3, 1)),
    ];
    for (const [at, work] of works.entries()) {
      const backend = (await db.read.one(ownBackend))?.backend;
      await other.query("SELECT pg_terminate_backend($1)", [backend]);
      await expect.poll(() => failures).toHaveLength(at + 1);
      await work();
    }
    expect(failures).toEqual(Array(works.length).fill("57P01"));
    expect(await db.read.one(count)).toEqual({ rows: 3 });
  });

  test("a server message on a closing connection is not a failure", async () => {
    const { db, url, proxy, failures } = await openBehindProxy({ poolMax: 1 });
    const backend = (await db.read.one(ownBackend))?.backend;
    proxy.stall();
    const other = await connect(url);
    await other.query("SELECT pg_terminate_backend($1)", [backend]);
    await db.close();
    proxy.heal();
    await proxy.empty();
    expect(failures).toEqual([]);
  });

  test("a closed database refuses requests", async () => {
    const { db } = await openBehindProxy();
    await db.close();
    await expect(db.read.one(count)).rejects.toMatchObject(refusedForNow);
    await expect(db.writeSerialized("keys", (tx) => tx.run(put, 1, 1))).rejects.toMatchObject(refusedForNow);
  });
});

describe("prepared statements", () => {
  const left = sql<[], { statements: number }>("SELECT count(*) AS statements FROM pg_prepared_statements");

  test("stay prepared on their connection under one name per text", async () => {
    const { db } = await openBehindProxy({ poolMax: 1 });
    for (let at = 0; at < 3; at += 1) {
      await db.read.one(find, at);
      await db.write((tx) => tx.run(put, at, 1));
    }
    // Those two, and the statement that counts them.
    expect(await db.read.one(left)).toEqual({ statements: 3 });
  });

  test("do not stay prepared behind a pooler that gives each transaction another connection", async () => {
    const { db } = await openBehindProxy({ poolMax: 1, preparedStatements: false });
    for (let at = 0; at < 3; at += 1) {
      await db.read.one(find, at);
      await db.write((tx) => tx.run(put, at, 1));
    }
    expect(await db.read.one(left)).toEqual({ statements: 0 });
  });

  test("behind a pooler no session settings are sent, but the client's own timeout applies", async () => {
    const { db, failures } = await openBehindProxy({ preparedStatements: false, answerMsMax: 1_000 });
    const setting = sql<[name: string], { value: string }>("SELECT current_setting(?) AS value");
    for (const name of ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]) {
      expect(await db.read.one(setting, name)).toEqual({ value: "0" });
    }
    await expect(db.read.one(wait, 600)).rejects.toMatchObject(refusedForNow);
    // A read is repeated once on another connection.
    expect(failures).toEqual(["CONNECTION_LOST", "CONNECTION_LOST"]);
  });
});
