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
} from "../../../test/support/postgres/behind-proxy.ts";
import { OutcomeUnknownError } from "../database.ts";
import { sql } from "../statement.ts";

describe("a lost connection", () => {
  test("within a transaction: the transaction is retried and executed once", async () => {
    const { db, url } = await openBehindProxy();
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    const other = await connect(url);
    let runs = 0;
    await db.write(async (tx) => {
      runs += 1;
      await tx.run(raise, 1, 1);
      const backend = (await tx.one(ownBackend))?.backend;
      if (runs === 1) await other.query("SELECT pg_terminate_backend($1)", [backend]);
      await tx.run(raise, 1, 1);
    });
    expect(runs).toBe(2);
    expect(await db.read.one(find, 1)).toEqual({ at: 12 });
  });

  test.each([
    ["before a statement", "none", true],
    ["before the commit", "none", false],
    ["before a statement", "transaction", true],
    ["before the commit", "transaction", false],
  ] as const)(
    "because the process stood still %s (pooler: %s): the locks are given up, and nothing is written or run again",
    async (_, pooler, goesOn) => {
      const { db, url, failures } = await openBehindProxy({ preparedStatements: pooler === "none" });
      await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
      const other = await connect(url);
      let runs = 0;
      const tx = db.write(async (tx) => {
        runs += 1;
        await tx.run(raise, 1, 1);
        // Another process waits for the row until the server has ended this transaction.
        await other.query("UPDATE deleted_users SET deleted_at = deleted_at + 5 WHERE user_id = 1");
        if (goesOn) await tx.run(raise, 1, 1);
      });
      await expect(tx).rejects.toMatchObject(refusedForNow);
      await expect(tx).rejects.not.toBeInstanceOf(OutcomeUnknownError);
      expect(runs).toBe(1);
      expect(failures).toHaveLength(1);
      expect(await db.read.one(find, 1)).toEqual({ at: 15 });
    },
  );

  test.each(["lose answer", "lose request"] as const)(
    "at the commit (%s): the transaction is not retried and not reported as done",
    async (verdict) => {
      const { db, proxy } = await openBehindProxy();
      proxy.intercept((statement) => (statement === "COMMIT" ? verdict : "pass"));
      let runs = 0;
      const tx = db.write(async (tx) => {
        runs += 1;
        await tx.run(put, 1, 1);
      });
      await expect(tx).rejects.toBeInstanceOf(OutcomeUnknownError);
      await expect(tx).rejects.toMatchObject(refusedForNow);
      expect(runs).toBe(1);
      expect(await db.read.one(count)).toEqual({ rows: verdict === "lose answer" ? 1 : 0 });
    },
  );

  test("is not reused if it is lost at the rollback of a failed transaction", async () => {
    const { db, proxy } = await openBehindProxy({ poolMax: 1 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    proxy.intercept((statement) => (statement === "ROLLBACK" ? "refuse" : "pass"));
    const tx = db.write(async (tx) => {
      await tx.run(raise, 1, 1);
      throw new Error("No.");
    });
    await expect(tx).rejects.toMatchObject(refusedForNow);
    expect(await db.read.one(find, 1)).toEqual({ at: 10 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(raise, 1, 1);
    expect(await db.read.one(find, 1)).toEqual({ at: 11 });
  });

  test("causes a retry of a single statement only if that is idempotent", async () => {
    const { db, proxy } = await openBehindProxy();
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    let losses = 1;
    proxy.intercept((statement) => {
      if (!statement.startsWith("UPDATE") || losses === 0) return "pass";
      losses -= 1;
      return "lose answer";
    });
    await expect(db.autocommit({ retry: "whenNotExecuted" }).run(raise, 1, 1)).rejects.toBeInstanceOf(
      OutcomeUnknownError,
    );
    expect(await db.read.one(find, 1)).toEqual({ at: 11 });
    losses = 2;
    await db.autocommit({ retry: "idempotent" }).run(sql("UPDATE deleted_users SET deleted_at = 20"));
    expect(proxy.lost.answers).toBe(3);
    expect(await db.read.one(find, 1)).toEqual({ at: 20 });
  });

  test("an unknown outcome stays unknown, even if the server then stays unreachable", async () => {
    const { db, proxy } = await openBehindProxy({ connectTimeoutMs: 100 });
    await db.autocommit({ retry: "whenNotExecuted" }).run(put, 1, 10);
    proxy.intercept((statement) => {
      if (!statement.startsWith("UPDATE")) return "pass";
      setImmediate(() => proxy.cut());
      return "lose answer";
    });
    const asked = db.autocommit({ retry: "idempotent" }).run(raise, 0, 1);
    await expect(asked).rejects.toBeInstanceOf(OutcomeUnknownError);
  });
});

describe("conflicting transactions", () => {
  test("both succeed after a deadlock, which the server resolves", async () => {
    const { db } = await openBehindProxy();
    for (const id of [1, 2]) await db.autocommit({ retry: "whenNotExecuted" }).run(put, id, 0);
    const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const inOrder = (first: number, second: number) =>
      db.write(async (tx) => {
        await tx.run(raise, 1, first);
        met[first - 1]?.resolve();
        await Promise.all(met.map(({ promise }) => promise));
        await tx.run(raise, 1, second);
      });
    await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
    expect(await db.read.all(sql("SELECT deleted_at AS at FROM deleted_users"))).toEqual([{ at: 2 }, { at: 2 }]);
    // At least once: the aborted transaction may lock its row first again and deadlock a second time.
    expect(db.counts.conflicts).toBeGreaterThan(0);
  });

  test.each([
    ["40001", "serialization_failure"],
    ["40P01", "deadlock_detected"],
  ])("that keep conflicting (%s) fail after a limited number of attempts without any change", async (_, condition) => {
    const { db, url } = await openBehindProxy();
    const other = await connect(url);
    await other.query(`CREATE FUNCTION collide() RETURNS BIGINT LANGUAGE plpgsql AS 'BEGIN RAISE ${condition}; END'`);
    const collide = sql<[], { collide: number }>("SELECT collide()");
    let runs = 0;
    const tx = db.write(async (tx) => {
      runs += 1;
      await tx.run(put, 1, 1);
      await tx.one(collide);
    });
    await expect(tx).rejects.toMatchObject(refusedForNow);
    expect(runs).toBe(40);
    expect(db.counts.conflicts).toBe(40);
    expect(await db.read.one(count)).toEqual({ rows: 0 });
  });
});
