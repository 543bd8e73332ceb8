import pg from "pg";
import { describe, expect, it } from "vitest";
import { startPgbouncer } from "./pgbouncer.ts";
import { startPostgres } from "./server.ts";

describe("a pooler in transaction mode", () => {
  it("gives a connection to another client between two transactions, so session state is lost", async () => {
    await using server = await startPostgres();
    await using pooler = await startPgbouncer(server, 1);
    const clients = [1, 2].map(() => new pg.Client({ connectionString: pooler.url("postgres") }));
    const backends: unknown[] = [];
    for (const client of clients) {
      await client.connect();
      const { rows } = await client.query("SELECT pg_backend_pid() AS backend");
      backends.push(rows[0].backend);
    }
    for (const client of clients) await client.end();
    expect(backends[0]).toBe(backends[1]);
  });
});
