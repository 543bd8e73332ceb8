import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { sql, type Value } from "../statement.ts";
import { ConnectionPool } from "./pool.ts";
import { PostgresStatements } from "./statements.ts";

/** Runs statements on one long-lived connection. */
async function withConnection(use: (statements: PostgresStatements) => Promise<void>): Promise<void> {
  const { url } = await makePostgresDatabase();
  let isOver = false;
  const pool = new ConnectionPool(postgresSettings(url), (code) => {
    // The database is dropped after the test, before the connection is closed.
    if (!isOver) throw new Error(`The connection broke: ${code}`);
  });
  const client = await pool.connect();
  try {
    await use(new PostgresStatements(client, true));
  } finally {
    isOver = true;
    client.release();
    await pool.close();
  }
}

const values: readonly (readonly [string, Value])[] = [
  ["TEXT", ""],
  ["TEXT", "dépôt ✂ 𝒳 \\x00 ''"],
  ["TEXT", "long ".repeat(100_000)],
  ["BYTEA", Buffer.alloc(0)],
  ["BYTEA", Buffer.from([0, 92, 120, 255])],
  ["BYTEA", randomBytes(1_000_000)],
  ["BIGINT", 0],
  ["BIGINT", -1],
  ["BIGINT", Number.MAX_SAFE_INTEGER],
  ["BIGINT", null],
  ["TEXT", null],
  ["BYTEA", null],
];

test("values are written and read back unchanged, in the first run and in later ones", async () => {
  await withConnection(async (statements) => {
    for (const [type, value] of values) {
      const echo = sql<[Value], { echo: Value }>(`SELECT CAST(? AS ${type}) AS echo`);
      for (let run = 1; run <= 3; run += 1) expect(await statements.one(echo, value)).toEqual({ echo: value });
    }
  });
});

test("each run gets its own rows: none, one or many", async () => {
  await withConnection(async (statements) => {
    const count = sql<[number], { at: number; nothing: null }>(
      "SELECT at, NULL AS nothing FROM generate_series(1, CAST(? AS BIGINT)) AS at",
    );
    for (const rows of [2, 0, 1_000, 0, 1]) {
      const expected = Array.from({ length: rows }, (_, at) => ({ at: at + 1, nothing: null }));
      expect(await statements.all(count, rows)).toEqual(expected);
    }
  });
});

test("a write returns the number of changed rows, with and without RETURNING", async () => {
  await withConnection(async (statements) => {
    const put = sql<[string, Buffer]>("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING");
    const change = sql<[Buffer], { name: string }>("UPDATE meta SET value = ? WHERE name LIKE 'a%' RETURNING name");
    expect(await statements.run(put, "a", Buffer.from("1"))).toBe(1);
    expect(await statements.run(put, "a", Buffer.from("1"))).toBe(0);
    expect(await statements.run(put, "ab", Buffer.from("1"))).toBe(1);
    expect(await statements.run(change, Buffer.from("2"))).toBe(2);
    expect(await statements.all(change, Buffer.from("3"))).toEqual([{ name: "a" }, { name: "ab" }]);
  });
});

test.each([
  ["when it is prepared", "SELECT no_such_column FROM meta"],
  ["when its values are bound", "SELECT CAST(? AS BIGINT) AS x"],
  ["when it runs", "SELECT 1 / CAST(? AS BIGINT) AS x"],
])("a statement whose first run fails %s fails alone, and can be run again", async (_when, text) => {
  await withConnection(async (statements) => {
    const failing = sql<Value[], { x: number }>(text);
    const bad = { "SELECT CAST(? AS BIGINT) AS x": "no number", "SELECT 1 / CAST(? AS BIGINT) AS x": 0 }[text];
    const given = bad === undefined ? [] : [bad];
    const alive = sql<[], { alive: number }>("SELECT 1 AS alive");
    for (let run = 1; run <= 3; run += 1) {
      await expect(statements.one(failing, ...given)).rejects.toThrow(/exist|invalid input|division by zero/);
      expect(await statements.one(alive)).toEqual({ alive: 1 });
    }
    if (bad === undefined) return;
    expect(await statements.one(failing, 1)).toEqual({ x: 1 });
    await expect(statements.one(failing, ...given)).rejects.toThrow(/invalid input|division by zero/);
    expect(await statements.one(failing, 1)).toEqual({ x: 1 });
  });
});

test("runs sent together return results in their order and are one transaction", async () => {
  await withConnection(async (statements) => {
    const put = sql<[string, Buffer]>("INSERT INTO meta (name, value) VALUES (?, ?)");
    const value = sql<[string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");
    const many = sql<[number], { at: number }>("SELECT at FROM generate_series(1, CAST(? AS BIGINT)) AS at");
    for (const name of ["first", "then"]) {
      const done = await statements.together([
        { statement: put, values: [name, Buffer.from(name)] },
        { statement: many, values: [2] },
        { statement: value, values: [name] },
        { statement: many, values: [0] },
      ]);
      expect(done).toEqual([
        { rows: [], rowCount: 1 },
        { rows: [{ at: 1 }, { at: 2 }], rowCount: 2 },
        { rows: [{ value: Buffer.from(name) }], rowCount: 1 },
        { rows: [], rowCount: 0 },
      ]);
    }
    const twice = [
      { statement: put, values: ["other", Buffer.from("1")] },
      { statement: put, values: ["first", Buffer.from("2")] },
      { statement: value, values: ["first"] },
    ];
    await expect(statements.together(twice)).rejects.toThrow(/duplicate key/);
    expect(await statements.one(value, "other")).toBeUndefined();
    expect(await statements.one(value, "first")).toEqual({ value: Buffer.from("first") });
  });
});
