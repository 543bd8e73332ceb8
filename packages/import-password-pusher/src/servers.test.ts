import { createConnection, type RowDataPacket } from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type Installation,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../../../test/support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../../../test/support/password-pusher/mariadb.ts";
import { addressOf, collect, openSource } from "../../../test/support/password-pusher/open-source.ts";
import { SourceError } from "./source.ts";
import { openRows } from "./store/source-rows.ts";

/** A database server with the source database, and a way to change it. */
interface Server {
  install(): Promise<Installation>;
  change(database: string, statement: string): Promise<void>;
  /** Terminates all other connections to the database. */
  readonly disconnectAll: (database: string) => Promise<void>;
  /** An expression that fails for the push with the id 11 and returns the column for all others. */
  readonly failing: string;
}

const onPostgres: Server = {
  install: installProductionOnPostgres,
  async change(database, statement) {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  },
  disconnectAll: (database) =>
    onPostgres.change(
      database,
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    ),
  failing: "CASE WHEN id = 11 THEN (1 / (id - id))::text ELSE payload_ciphertext END",
};

describe("a source on PostgreSQL", () => {
  describeServer(onPostgres);

  it("is read in a transaction that can write nothing", async () => {
    const { database } = await installProductionOnPostgres();
    const address = addressOf(database, "");
    if (address.engine !== "postgres") throw new Error("It is not an address of PostgreSQL.");
    const rows = await openRows(address);
    onTestFinished(() => rows.close());

    await expect(rows.all("DELETE FROM pushes")).rejects.toThrow("25006");
  });

  it("is reported as unreadable for a user without permission", async () => {
    const installation = await installProductionOnPostgres();
    const closed = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role TO pg_monitor', current_database()); END $$";
    await onPostgres.change(installation.database, closed);

    await expect(openSource(installation)).rejects.toThrow(
      /^The user in --database has no permission to read the database \(42501\): permission denied for table \w+\.$/,
    );
  });

  it("is reported as missing in one sentence without its password", async () => {
    const installation = await installProductionOnPostgres();
    const url = new URL(installation.database);
    url.pathname = "/nowhere";
    url.password = "s3cret-word";
    const opening = openSource(installation, { database: url.href });

    await expect(opening).rejects.toThrow(
      /^The PostgreSQL server at 127\.0\.0\.1:\d+ cannot be read: .* \(3D000\)\. Check --database\.$/,
    );
    await expect(opening).rejects.not.toThrow("s3cret-word");
    url.port = "1";
    await expect(openSource(installation, { database: url.href })).rejects.toThrow(
      "cannot be read: connection refused. Check --database.",
    );
  });
});

describe.runIf(mariadbProgram !== undefined)("a source on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  const server = () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    return mariadb;
  };
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  describeServer({
    install: () => installProductionOnMysql(server()),
    async change(database, statement) {
      const connection = await createConnection({ uri: asWriter(database) });
      await connection.query(statement).finally(() => connection.end());
    },
    async disconnectAll(database) {
      const { pathname } = new URL(database);
      const connection = await createConnection({ uri: asWriter(database) });
      const others = `SELECT id FROM information_schema.processlist WHERE db = '${pathname.slice(1)}' AND user = 'reader'`;
      const [rows] = await connection.query<RowDataPacket[]>(others);
      for (const { id } of rows) await connection.query(`KILL ${id}`);
      while ((await connection.query<RowDataPacket[]>(others))[0].length > 0);
      await connection.end();
    },
    failing: "CASE WHEN id = 11 THEN CAST(18446744073709551615 + id AS CHAR) ELSE payload_ciphertext END",
  });

  it("is reported as refusing in one sentence without its password", async () => {
    const installation = await installProductionOnMysql(server());
    const url = new URL(installation.database);
    url.password = "s3cret-word";
    const opening = openSource(installation, { database: url.href });

    await expect(opening).rejects.toThrow(
      /^The MySQL server at 127\.0\.0\.1:\d+ cannot be read: .* \(ER_ACCESS_DENIED_ERROR\)\. Check --database\.$/,
    );
    await expect(opening).rejects.not.toThrow("s3cret-word");
    url.port = "1";
    await expect(openSource(installation, { database: url.href })).rejects.toThrow(
      "cannot be read: connection refused. Check --database.",
    );
  });
});

const asWriter = (database: string) => database.replace("mysql2://reader", "mysql://writer");

function describeServer({ install, change, disconnectAll, failing }: Server): void {
  it("is reported when it disconnects between two reads, and nothing else fails", async () => {
    const installation = await install();
    const source = await openSource(installation);
    await disconnectAll(installation.database);
    for (const _ of ["the loss", "the state after it"]) {
      const reading = source.counts();
      await expect(reading).rejects.toBeInstanceOf(SourceError);
      await expect(reading).rejects.toThrow(
        /^The connection to the source database was lost \([\w ]+\): run the import again\.$/,
      );
    }
    await source.close();
  });

  it("is read in the snapshot of the start, despite later changes", async () => {
    const installation = await install();
    const source = await openSource(installation);
    await change(installation.database, "UPDATE audit_logs SET push_id = 11");
    await change(installation.database, "UPDATE pushes SET name = 'changed meanwhile'");

    expect(await source.counts()).toMatchObject({ pushes: 48, auditEntries: 388 });
    expect((await source.trail(115)).entries).toHaveLength(139);
    const names = (await collect(source.pushes(0))).map((row) => row.outcome === "read" && row.row.name);
    expect(names).not.toContain("changed meanwhile");
  });

  it("returns all rows but the unreadable one, and audit trails in between", async () => {
    const installation = await install();
    await change(installation.database, "ALTER TABLE pushes RENAME TO pushes_below");
    await change(
      installation.database,
      `CREATE VIEW pushes AS SELECT id, kind, url_token, user_id, name, note_ciphertext, ${failing} AS payload_ciphertext, passphrase_ciphertext, expire_after_days, expire_after_views, expired, expired_on, deletable_by_viewer, retrieval_step, created_at, updated_at FROM pushes_below`,
    );
    const source = await openSource(installation);
    const trails: Promise<number>[] = [];
    const outcomes: (readonly [number, string])[] = [];
    for await (const { id, outcome } of source.pushes(0)) {
      outcomes.push([id, outcome]);
      trails.push(source.trail(id).then(({ entries }) => entries.length));
    }

    expect(outcomes).toHaveLength(48);
    expect(outcomes.filter(([, outcome]) => outcome === "unreadable").map(([id]) => id)).toEqual([11, 103]);
    expect((await Promise.all(trails)).reduce((sum, entries) => sum + entries, 0)).toBe(388);
  });
}
