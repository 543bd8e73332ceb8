import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectExactViews } from "../../../test/support/concurrent-claims.ts";
import {
  countEveryone,
  makeDataDir,
  openTestDomain,
  signedIn,
  stranger,
  type TestDomain,
} from "../../../test/support/domain.ts";
import { type Pgbouncer, startPgbouncer } from "../../../test/support/postgres/pgbouncer.ts";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres/server.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { newDataDir, runProgram } from "../../../test/support/processes.ts";
import { sql } from "../statement.ts";
import { openPostgres } from "./postgres.ts";

/** Server connections of the pooler, which all processes share. */
const shared = 3;
let server: PostgresServer;
let pooler: Pgbouncer;

beforeAll(async () => {
  server = await startPostgres();
  pooler = await startPgbouncer(server, shared);
});

afterAll(async () => {
  await pooler[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Opens one new database twice, as two processes would. */
async function openTwo(): Promise<readonly [TestDomain, TestDomain]> {
  const admin = new pg.Client({ connectionString: server.url() });
  await admin.connect();
  const name = `pooled_${crypto.randomUUID().replaceAll("-", "")}`;
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const environment = { DATABASE_URL: pooler.url(name), PWP__DATABASE__POOLER: "transaction" };
  const dataDir = makeDataDir();
  const open = async () => {
    const fixture = await openTestDomain({ dataDir, environment });
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    return fixture;
  };
  return [await open(), await open()];
}

const password = "a long enough password";

describe("through a pooler in transaction mode", () => {
  test("concurrent claims in two processes succeed exactly as often as allowed", async () => {
    const fixtures = await openTwo();
    for (const [owner, views] of [
      [stranger, 1],
      [signedIn(7), 1],
      [stranger, 5],
      [signedIn(7), 5],
    ] as const) {
      await expectExactViews(fixtures, owner, views);
    }
  });

  test("many concurrent transactions of several statements stay atomic", async () => {
    const fixtures = await openTwo();
    const both = <T>(work: (fixture: TestDomain, at: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 20 }, (_, at) => work(fixtures[at % 2 === 0 ? 0 : 1], at)));
    const users = await both(({ domain }, at) =>
      domain.accounts.createUser({ email: `user${at}@example.com`, password, admin: at < 2 }),
    );
    const tokens = await both(({ domain }, at) => domain.accounts.createToken(users[at]?.id ?? 0, "test"));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(20);
    const pushes = await both(({ domain }, at) =>
      domain.pushes.create({ payload: `${at}` }, signedIn(users[at]?.id ?? 0)),
    );
    const edits = await both(({ domain }, at) =>
      domain.pushes.edit(pushes[at]?.urlToken ?? "", { payload: `edited ${at}` }, signedIn(users[at]?.id ?? 0)),
    );
    expect(new Set(edits.map(({ outcome }) => outcome))).toEqual(new Set(["edited"]));
    const claims = await both(({ domain }, at) =>
      domain.pushes.claimView(pushes[at]?.urlToken ?? "", countEveryone, stranger),
    );
    expect(claims).toMatchObject(Array.from({ length: 20 }, (_, at) => ({ payload: `edited ${at}` })));
    const gone = await both(({ domain }, at) => domain.deleteAccount(users[at]?.id ?? 0, null));
    expect(gone.filter(({ outcome }) => outcome === "last_admin")).toHaveLength(1);
    expect(gone.filter(({ outcome }) => outcome === "done")).toHaveLength(19);
  });

  test("no state stays on a connection for its next client", async () => {
    const [{ domain }] = await openTwo();
    const { urlToken } = await domain.pushes.create({ payload: "x" }, stranger);
    await domain.pushes.claimView(urlToken, countEveryone, stranger);
    if (domain.config.database.engine !== "postgres") throw new Error("The domain did not open the given database.");
    const connectionString = pooler.url(domain.config.database.database);
    for (let at = 0; at < shared; at += 1) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      onTestFinished(() => client.end());
      // Each transaction keeps the connection that it was given.
      await client.query("BEGIN");
      const { rows } = await client.query(
        "SELECT (SELECT count(*) FROM pg_prepared_statements) AS statements, current_setting('statement_timeout') AS timeout",
      );
      expect(rows).toEqual([{ statements: "0", timeout: "0" }]);
    }
  });

  test("a process without the pooler setting prints what is missing and does not start", async () => {
    const environment = { PORT: "0", DATA_DIR: newDataDir(), DATABASE_URL: pooler.url("postgres") };
    const { exitCode, stderr } = await runProgram(["serve"], environment);
    expect([exitCode, stderr]).toEqual([
      1,
      `The PostgreSQL server at 127.0.0.1:${pooler.port} is a pooler that takes no settings of a session (08P01): set PWP__DATABASE__POOLER=transaction.\n`,
    ]);
  });

  test("a pooler that was not detected at the start is reported when it has given a connection to another client", async () => {
    const ignored = "statement_timeout, lock_timeout, idle_in_transaction_session_timeout";
    await using hidden = await startPgbouncer(server, 2, `ignore_startup_parameters = ${ignored}`);
    const failures: string[] = [];
    const db = await openPostgres({
      settings: postgresSettings(hidden.url("postgres"), { poolMax: 1 }),
      monotonicMs: () => performance.now(),
      onStorageFailure: (code) => failures.push(code),
    });
    const one = sql<[], { one: number }>("SELECT 1 AS one");
    expect(await db.read.one(one)).toEqual({ one: 1 });
    const other = new pg.Client({ connectionString: hidden.url("postgres") });
    await other.connect();
    // Occupies the connection behind the pooler on which the statement is prepared.
    await other.query("BEGIN");
    await expect(db.read.one(one)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
    expect(failures).toEqual(["26000"]);
    await other.end();
    await db.close();
  });
});
