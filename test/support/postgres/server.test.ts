import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { resolve } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { makeEmptyPostgresDatabase, makePostgresDatabase } from "./database.ts";
import { startPostgres } from "./server.ts";

async function rowsOf(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

describe("databases for tests", () => {
  it("gives each test a database that no other has written to", async () => {
    const [one, another] = await Promise.all([makePostgresDatabase(), makePostgresDatabase()]);
    await rowsOf(one.url, "CREATE TABLE mark (x int)");
    const tables = "SELECT count(*)::int AS marks FROM pg_tables WHERE tablename = 'mark'";
    expect(await rowsOf(one.url, tables)).toEqual([{ marks: 1 }]);
    expect(await rowsOf(another.url, tables)).toEqual([{ marks: 0 }]);
  });

  it("gives tests of the schema's creation a database without the schema", async () => {
    const tables = "SELECT count(*)::int AS tables FROM pg_tables WHERE tablename = 'pushes'";
    expect(await rowsOf((await makePostgresDatabase()).url, tables)).toEqual([{ tables: 1 }]);
    expect(await rowsOf((await makeEmptyPostgresDatabase()).url, tables)).toEqual([{ tables: 0 }]);
  });

  it("sorts text by a locale and not by bytes, so that a statement that relies on byte order fails", async () => {
    const { url } = await makePostgresDatabase();
    expect(await rowsOf(url, "SELECT 'a' < 'B' AS messages")).toEqual([{ messages: true }]);
  });
});

describe("a server for a single test", () => {
  it("keeps committed rows after SIGKILL and a restart, and leaves neither processes nor files", async () => {
    const server = await startPostgres({ settings: { fsync: "on" } });
    await rowsOf(server.url(), "CREATE TABLE kept AS SELECT 1 AS x");
    await server.kill();
    await expect(rowsOf(server.url(), "SELECT 1")).rejects.toThrow(/ECONNREFUSED/);
    await server.start();
    expect(await rowsOf(server.url(), "SELECT x FROM kept")).toEqual([{ x: 1 }]);
    await server[Symbol.asyncDispose]();
    await expect(rowsOf(server.url(), "SELECT 1")).rejects.toThrow(/ECONNREFUSED/);
    expect(existsSync(server.cluster.folder)).toBe(false);
  });

  it("does not start where another has one of its addresses", async () => {
    await using server = await startPostgres({ settings: { listen_addresses: "127.0.0.1, 127.0.0.2" } });
    await server.stop();
    const other = createServer().listen(server.port, "127.0.0.2");
    await once(other, "listening");
    await expect(server.start()).rejects.toThrow(/127\.0\.0\.2.*Address already in use/);
    other.close();
    await once(other, "close");
    await server.start();
    expect(await rowsOf(server.url(), "SELECT 1 AS x")).toEqual([{ x: 1 }]);
  });

  it("ends with the process that started it, even if that process is killed", async () => {
    const starter = fork(resolve(import.meta.dirname, "server-starter.ts"));
    const [folder] = await once(starter, "message");
    expect(existsSync(String(folder))).toBe(true);
    starter.kill("SIGKILL");
    // The guardian removes the files once the server has ended.
    await expect.poll(() => existsSync(String(folder))).toBe(false);
  });
});
