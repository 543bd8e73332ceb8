import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Databases } from "./databases.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await Databases.start();
});

afterAll(() => databases[Symbol.asyncDispose]());

const nameOf = (url: string) => new URL(url).pathname.slice(1);

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // Connections that are still open are closed when their database is returned.
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

/** Takes one database more than are ready, so that the returned one is among them. @returns the number of its rows. */
async function findInAll(query: string): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let taken = 0; taken < 4; taken += 1) {
    const url = await databases.take();
    const client = await connect(url);
    counts.push(Number((await client.query(query)).rows[0].found));
    await client.end();
    await databases.giveBack(nameOf(url));
  }
  return counts;
}

const write = "INSERT INTO meta (name, value) VALUES ('left', 'x')";
const turns = "SELECT count(*) AS found FROM locks";

describe("a database that a test returns", () => {
  it("is emptied for the next test, except for its initial rows", async () => {
    const url = await databases.take();
    const client = await connect(url);
    const { rows } = await client.query(turns);
    await client.query(`${write}; DELETE FROM locks`);
    await databases.giveBack(nameOf(url));
    expect(await findInAll("SELECT count(*) AS found FROM meta WHERE name = 'left'")).toEqual([0, 0, 0, 0]);
    expect(await findInAll(turns)).toEqual(Array(4).fill(Number(rows[0].found)));
  });

  it("refuses writes of clients that the previous test has left open", async () => {
    const url = await databases.take();
    const left = await connect(url);
    await databases.giveBack(nameOf(url));
    await expect(left.query(write)).rejects.toThrow();
    await expect(connect(url)).rejects.toThrow(/does not exist/);
  });

  it.each([
    "ALTER TABLE pushes ADD COLUMN mark BIGINT",
    "CREATE TABLE mark (x BIGINT)",
    "DROP INDEX limit_attempts_end",
    "CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "ALTER TABLE users DISABLE TRIGGER ALL",
  ])("is not reused after %s", async (change) => {
    const url = await databases.take();
    const client = await connect(url);
    const oid = "SELECT oid::bigint AS found FROM pg_database WHERE datname = current_database()";
    const { rows } = await client.query(oid);
    await client.query(change);
    await databases.giveBack(nameOf(url));
    expect(await findInAll(oid)).not.toContain(Number(rows[0].found));
  });
});
