import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { openTestDatabase } from "../../../test/support/postgres/open-database.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import type { PostgresSettings } from "../../config/config.ts";
import { type Database, OutcomeUnknownError } from "../database.ts";
import { sql } from "../statement.ts";
import { openPostgres } from "./postgres.ts";

interface World {
  readonly db: Database;
  readonly url: string;
  /** Codes of what failed, in their order. */
  readonly failures: readonly string[];
  /** Between the database and the server. */
  readonly proxy: TcpProxy;
}

async function open(wish: Partial<PostgresSettings> = {}): Promise<World> {
  const { url } = await makePostgresDatabase();
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  const failures: string[] = [];
  const db = await openPostgres({
    settings: postgresSettings(proxy.url(url), wish),
    monotonicMs: () => performance.now(),
    onStorageFailure: (code) => failures.push(code),
  });
  onTestFinished(async () => {
    await db.close();
    await proxy[Symbol.asyncDispose]();
  });
  return { db, url, failures, proxy };
}

/** Somebody else on the same database. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const put = sql<[id: number, at: number]>("INSERT INTO departed_owners (user_id, departed_at) VALUES (?, ?)");
const raise = sql<[by: number, id: number]>(
  "UPDATE departed_owners SET departed_at = departed_at + ? WHERE user_id = ?",
);
const find = sql<[id: number], { at: number }>("SELECT departed_at AS at FROM departed_owners WHERE user_id = ?");
const count = sql<[], { rows: number }>("SELECT count(*) AS rows FROM departed_owners");
const wait = sql<[seconds: number], never>("SELECT pg_sleep(?)");
const ownBackend = sql<[], { backend: number }>("SELECT pg_backend_pid() AS backend");
const refusedForNow = { code: "unavailable", retryAfterSeconds: 2 };

describe("time limits", () => {
  test("a statement that takes too long is ended by the server, and the next one runs", async () => {
    const { db, failures } = await open({ poolMax: 1, statementTimeoutMs: 100 });
    await expect(db.read.one(wait, 600)).rejects.toMatchObject(refusedForNow);
    await expect(db.write((unit) => unit.one(wait, 600))).rejects.toMatchObject(refusedForNow);
    expect(await db.answers()).toBe(true);
    expect(failures).toEqual(["57014", "57014"]);
  });

  test("a row that somebody else holds is waited for, and not for long", async () => {
    const { db, url } = await open({ lockTimeoutMs: 100 });
    await db.autocommit.run(put, 1, 10);
    const holder = await connect(url);
    await holder.query("BEGIN");
    await holder.query("SELECT * FROM departed_owners FOR UPDATE");
    await expect(db.autocommit.run(raise, 1, 1)).rejects.toMatchObject(refusedForNow);
    await expect(db.write((unit) => unit.run(raise, 1, 1))).rejects.toMatchObject(refusedForNow);
    await holder.query("COMMIT");
    expect(await db.read.one(find, 1)).toEqual({ at: 10 });
    await db.autocommit.run(raise, 1, 1);
    expect(await db.read.one(find, 1)).toEqual({ at: 11 });
  });

  test("a unit whose process says nothing more is undone, and its rows are free", async () => {
    const { db, url } = await open({ statementTimeoutMs: 200 });
    await db.autocommit.run(put, 1, 10);
    const told = Promise.withResolvers<void>();
    const silent = db.write(async (unit) => {
      await unit.run(raise, 1, 1);
      await told.promise;
      return await unit.run(raise, 1, 1);
    });
    silent.catch(() => undefined);
    const other = await connect(url);
    await expect
      .poll(async () => (await other.query("SELECT departed_at FROM departed_owners FOR UPDATE SKIP LOCKED")).rows)
      .toEqual([]);
    // It waits until the server has ended the silent one.
    await other.query("UPDATE departed_owners SET departed_at = 20");
    told.resolve();
    // What was lost had not been committed, so it is done again, this time without a pause.
    await silent;
    expect(await db.read.one(find, 1)).toEqual({ at: 22 });
  });

  test("a server that swallows everything is given up soon, and used again when it is back", async () => {
    const { db, proxy } = await open({ statementTimeoutMs: 100, connectTimeoutMs: 100 });
    await db.autocommit.run(put, 1, 10);
    proxy.stall();
    const asked = [db.read.one(find, 1), db.write((unit) => unit.run(raise, 1, 1)), db.autocommit.run(raise, 1, 1)];
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    for (const end of ends) expect(end).toMatchObject({ reason: refusedForNow });
    proxy.heal();
    await expect.poll(() => db.answers()).toBe(true);
    expect(await db.read.one(count)).toEqual({ rows: 1 });
  });
});

describe("the pool", () => {
  test("who gets no connection in time is refused", async () => {
    const { db } = await open({ poolMax: 1, connectTimeoutMs: 100 });
    const held = Promise.withResolvers<void>();
    const holding = db.write(() => held.promise);
    await expect(db.read.one(count)).rejects.toMatchObject(refusedForNow);
    held.resolve();
    await holding;
    expect(await db.read.one(count)).toEqual({ rows: 0 });
  });

  test("who comes when too many wait is refused at once", async () => {
    const { db } = await open({ poolMax: 1, waitingMax: 2, connectTimeoutMs: 600_000 });
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

  test("five hundred who share two connections are all served", async () => {
    const { db } = await open({ poolMax: 2 });
    const works = Array.from({ length: 500 }, (_, id) =>
      id % 2 === 0 ? db.autocommit.run(put, id, id) : db.write((unit) => unit.run(put, id, id)),
    );
    expect(await Promise.all(works)).toEqual(Array(500).fill(1));
    expect(await db.read.one(count)).toEqual({ rows: 500 });
  });

  test("units of a turn wait for each other with one connection, and leave the others to everybody else", async () => {
    const { db } = await open({ poolMax: 2, connectTimeoutMs: 1_000 });
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = db.writeInTurn("accounts", async () => {
      begun.resolve();
      await held.promise;
    });
    const others = Array.from({ length: 20 }, (_, id) => db.writeInTurn("accounts", (unit) => unit.run(put, id, 1)));
    await begun.promise;
    expect(await db.read.one(count)).toEqual({ rows: 0 });
    held.resolve();
    await Promise.all([first, ...others]);
    expect(await db.read.one(count)).toEqual({ rows: 20 });
  });

  test("an idle connection that breaks is told of, and the next request makes another", async () => {
    const { db, url, failures } = await open({ poolMax: 1 });
    const other = await connect(url);
    const works = [
      () => db.read.one(count),
      () => db.autocommit.run(put, 1, 1),
      () => db.write((unit) => unit.run(put, 2, 1)),
      () => db.writeInTurn("mail", (unit) => unit.run(put, 3, 1)),
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

  test("after its end it refuses", async () => {
    const { db } = await open();
    await db.close();
    await expect(db.read.one(count)).rejects.toMatchObject(refusedForNow);
    await expect(db.writeInTurn("keys", (unit) => unit.run(put, 1, 1))).rejects.toMatchObject(refusedForNow);
  });
});

describe("a connection that is lost", () => {
  test("inside a unit: it is run again, and has happened once", async () => {
    const { db, url } = await open();
    await db.autocommit.run(put, 1, 10);
    const other = await connect(url);
    let runs = 0;
    await db.write(async (unit) => {
      runs += 1;
      await unit.run(raise, 1, 1);
      const backend = (await unit.one(ownBackend))?.backend;
      if (runs === 1) await other.query("SELECT pg_terminate_backend($1)", [backend]);
      await unit.run(raise, 1, 1);
    });
    expect(runs).toBe(2);
    expect(await db.read.one(find, 1)).toEqual({ at: 12 });
  });

  test.each(["lose answer", "lose request"] as const)(
    "at the commit (%s): it is not run again, and nobody is told that it was done",
    async (verdict) => {
      const { db, proxy } = await open();
      proxy.judge((statement) => (statement === "COMMIT" ? verdict : "pass"));
      let runs = 0;
      const unit = db.write(async (unit) => {
        runs += 1;
        await unit.run(put, 1, 1);
      });
      await expect(unit).rejects.toBeInstanceOf(OutcomeUnknownError);
      await expect(unit).rejects.toMatchObject(refusedForNow);
      expect(runs).toBe(1);
      expect(await db.read.one(count)).toEqual({ rows: verdict === "lose answer" ? 1 : 0 });
    },
  );

  test("at a statement that stands alone: not again, unless it may run twice", async () => {
    const { db, proxy } = await open();
    await db.autocommit.run(put, 1, 10);
    let losses = 1;
    proxy.judge((statement) => {
      if (!statement.startsWith("UPDATE") || losses === 0) return "pass";
      losses -= 1;
      return "lose answer";
    });
    await expect(db.autocommit.run(raise, 1, 1)).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(await db.read.one(find, 1)).toEqual({ at: 11 });
    losses = 2;
    await db.idempotent.run(sql("UPDATE departed_owners SET departed_at = 20"));
    expect(proxy.lost.answers).toBe(3);
    expect(await db.read.one(find, 1)).toEqual({ at: 20 });
  });

  test("what nobody can know stays open, also when the server stays away afterwards", async () => {
    const { db, proxy } = await open({ connectTimeoutMs: 100 });
    await db.autocommit.run(put, 1, 10);
    proxy.judge((statement) => {
      if (!statement.startsWith("UPDATE")) return "pass";
      setImmediate(() => proxy.cut());
      return "lose answer";
    });
    const asked = db.idempotent.run(raise, 0, 1);
    await expect(asked).rejects.toBeInstanceOf(OutcomeUnknownError);
  });
});

describe("transactions in each other's way", () => {
  test("that wait in a ring are told apart by the server, and both come through", async () => {
    const { db } = await open();
    for (const id of [1, 2]) await db.autocommit.run(put, id, 0);
    const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const inOrder = (first: number, second: number) =>
      db.write(async (unit) => {
        await unit.run(raise, 1, first);
        met[first - 1]?.resolve();
        await Promise.all(met.map(({ promise }) => promise));
        await unit.run(raise, 1, second);
      });
    await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
    expect(await db.read.all(sql("SELECT departed_at AS at FROM departed_owners"))).toEqual([{ at: 2 }, { at: 2 }]);
    expect(db.counts.conflicts).toBe(1);
  });

  test.each([
    ["40001", "serialization_failure"],
    ["40P01", "deadlock_detected"],
  ])("again and again (%s) are given up after so many tries, and nothing has happened", async (_, condition) => {
    const { db, url } = await open();
    const other = await connect(url);
    await other.query(`CREATE FUNCTION collide() RETURNS BIGINT LANGUAGE plpgsql AS 'BEGIN RAISE ${condition}; END'`);
    const collide = sql<[], { collide: number }>("SELECT collide()");
    let runs = 0;
    const unit = db.write(async (unit) => {
      runs += 1;
      await unit.run(put, 1, 1);
      await unit.one(collide);
    });
    await expect(unit).rejects.toMatchObject(refusedForNow);
    expect(runs).toBe(40);
    expect(db.counts.conflicts).toBe(40);
    expect(await db.read.one(count)).toEqual({ rows: 0 });
  });
});

describe("prepared statements", () => {
  const left = sql<[], { statements: number }>("SELECT count(*) AS statements FROM pg_prepared_statements");

  test("stay on their connection under one name for one text", async () => {
    const { db } = await open({ poolMax: 1 });
    for (let at = 0; at < 3; at += 1) {
      await db.read.one(find, at);
      await db.write((unit) => unit.run(put, at, 1));
    }
    // Those two, and the one that counts them.
    expect(await db.read.one(left)).toEqual({ statements: 3 });
  });

  test("do not stay where a pooler hands every transaction another connection", async () => {
    const { db } = await open({ poolMax: 1, preparedStatements: false });
    for (let at = 0; at < 3; at += 1) {
      await db.read.one(find, at);
      await db.write((unit) => unit.run(put, at, 1));
    }
    expect(await db.read.one(left)).toEqual({ statements: 0 });
  });

  test("and then no setting of a session is sent either, but the time limit of this side holds", async () => {
    const { db, failures } = await open({ preparedStatements: false, statementTimeoutMs: 1 });
    const setting = sql<[name: string], { value: string }>("SELECT current_setting(?) AS value");
    for (const name of ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]) {
      expect(await db.read.one(setting, name)).toEqual({ value: "0" });
    }
    await expect(db.read.one(wait, 600)).rejects.toMatchObject(refusedForNow);
    expect(failures).toEqual(["CONNECTION_LOST"]);
  });
});

describe("values", () => {
  const putLook = sql<[name: string, content: Buffer, type: string, at: number]>(
    "INSERT INTO branding (name, content, content_type, updated_at) VALUES (?, ?, ?, ?)",
  );
  const findLook = sql<[name: string], { content: Buffer; type: string; at: number }>(
    "SELECT content, content_type AS type, updated_at AS at FROM branding WHERE name = ?",
  );

  test.each([
    ["nothing", Buffer.alloc(0), "", 0],
    ["four mebibytes", Buffer.alloc(4 * 2 ** 20, 0x5c), "\\'\"%_?$1\u2028\u{1f511}", 2 ** 53 - 1],
    ["every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), "\u0001\t\n", -(2 ** 53) + 1],
    ["after 2038", Buffer.from("x"), "x".repeat(10_000), Date.UTC(2200, 0, 1)],
  ])("come back as they were given: %s", async (name, content, type, at) => {
    const { db } = await openTestDatabase();
    await db.write((unit) => unit.run(putLook, name, content, type, at));
    const found = await db.read.one(findLook, name);
    expect(found?.content.equals(content)).toBe(true);
    expect([found?.type, found?.at]).toEqual([type, at]);
  });

  test.each(["\0", "a\0b\0", "\ud800", "b\udfff"])("text that no text here can hold is no error: %j", async (text) => {
    const { db } = await openTestDatabase();
    await db.autocommit.run(putLook, "name", Buffer.alloc(0), text, 1);
    const stored = (await db.read.one(findLook, "name"))?.type;
    expect(stored).toBe(text.replace(/\0/g, "\ufffd").toWellFormed());
    expect(await db.read.one(findLook, text)).toBeUndefined();
  });

  test("sums and counts are numbers", async () => {
    const { db } = await openTestDatabase();
    await db.autocommit.run(put, 1, 2 ** 52);
    await db.autocommit.run(put, 2, 2 ** 40);
    expect(await db.read.one(sql("SELECT sum(departed_at) AS sum, count(*) AS count FROM departed_owners"))).toEqual({
      sum: 2 ** 52 + 2 ** 40,
      count: 2,
    });
  });
});
