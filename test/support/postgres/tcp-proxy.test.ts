import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { TcpProxy } from "../tcp-proxy.ts";
import { makePostgresDatabase } from "./database.ts";

interface Fixture {
  readonly proxy: TcpProxy;
  /** Through the proxy. */
  connect(): Promise<pg.Client>;
  /** The number of rows on the server, read without the proxy. */
  marks(): Promise<readonly number[]>;
}

async function open(): Promise<Fixture> {
  const { url } = await makePostgresDatabase();
  const direct = await clientOf(url);
  await direct.query("CREATE TABLE mark (x int PRIMARY KEY)");
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return {
    proxy,
    connect: () => clientOf(proxy.url(url)),
    marks: async () => (await direct.query("SELECT x FROM mark ORDER BY x")).rows.map((row) => Number(row.x)),
  };
}

async function clientOf(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  // The running statement fails when the connection breaks.
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

const insert = (x: number) => ({ name: "mark", text: "INSERT INTO mark VALUES ($1)", values: [x] });
const lost = /ECONNRESET|Connection terminated/;

describe("the proxy between a test and its database", () => {
  it("loses the answer of a named statement that the server has committed, at each execution", async () => {
    const { proxy, connect, marks } = await open();
    const client = await connect();
    await client.query(insert(1));
    proxy.intercept((statement) => (statement.startsWith("INSERT") ? "lose answer" : "pass"));
    await expect(client.query(insert(2))).rejects.toThrow(lost);
    const next = await connect();
    await expect(next.query(insert(3))).rejects.toThrow(lost);
    expect(await marks()).toEqual([1, 2, 3]);
    expect(proxy.lost).toEqual({ requests: 0, answers: 2 });
  });

  it("loses the answer of a COMMIT, or the COMMIT itself, of a transaction", async () => {
    const { proxy, connect, marks } = await open();
    for (const [x, verdict] of [[1, "lose answer"] as const, [2, "lose request"] as const]) {
      proxy.intercept((statement) => (statement === "COMMIT" ? verdict : "pass"));
      const client = await connect();
      await client.query("BEGIN");
      await client.query(insert(x));
      await expect(client.query("COMMIT")).rejects.toThrow(lost);
    }
    await expect.poll(marks).toEqual([1]);
    expect(proxy.lost).toEqual({ requests: 1, answers: 1 });
  });

  it("forwards an error instead of losing it, because nothing was executed", async () => {
    const { proxy, connect } = await open();
    const client = await connect();
    await client.query(insert(1));
    proxy.intercept((statement) => (statement.startsWith("INSERT") ? "lose answer" : "pass"));
    await expect(client.query(insert(1))).rejects.toThrow(/duplicate key/);
    await client.query("SELECT 1");
    expect(proxy.lost).toEqual({ requests: 0, answers: 0 });
  });

  it("delivers what was stalled after `heal`, on new connections too", async () => {
    const { proxy, connect, marks } = await open();
    const client = await connect();
    proxy.stall();
    const settled: string[] = [];
    const inserting = client.query(insert(1)).then(() => settled.push("inserted"));
    const connecting = connect().then(() => settled.push("connected"));
    expect(await marks()).toEqual([]);
    expect(settled).toEqual([]);
    proxy.heal();
    await Promise.all([inserting, connecting]);
    expect(await marks()).toEqual([1]);
  });

  it("resets old and new connections while it is cut", async () => {
    const { proxy, connect } = await open();
    const client = await connect();
    proxy.cut();
    await expect(client.query("SELECT 1")).rejects.toThrow();
    await expect(connect()).rejects.toThrow(lost);
    proxy.heal();
    await (await connect()).query("SELECT 1");
  });

  it("delays data without changing its order", async () => {
    const { proxy, connect } = await open();
    proxy.delay(5);
    const client = await connect();
    const { rows } = await client.query("SELECT x, repeat('x', 1000) FROM generate_series(1, 2000) AS x");
    proxy.delay(0);
    const { rows: after } = await client.query("SELECT 2001 AS x");
    expect([...rows, ...after].map((row) => row.x)).toEqual(Array.from({ length: 2001 }, (_, index) => index + 1));
  });

  it("redirects new connections to another port, and resets them if nothing listens there", async () => {
    const { proxy, connect } = await open();
    proxy.pointTo({ port: 1 });
    await expect(connect()).rejects.toThrow(lost);
  });
});
