import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startPostgres } from "../test/support/postgres/server.ts";
import type { RowShape } from "./database-job.ts";
import { processesBelow, treeCpuMs } from "./process-figures.ts";

/** Usual settings for a machine of this size: nothing is acknowledged before it is on disk. */
const settings = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  shared_buffers: "1GB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
};

export interface DatabaseServer {
  /** For example "18.4". */
  readonly version: string;
  url(database: string): string;
  makeDatabase(name: string): Promise<void>;
  /** CPU time of all its processes, including those that have ended. */
  cpuMs(): number;
  /** Bytes written to the write-ahead log since the server was created. */
  logBytes(database: string): Promise<number>;
  run(database: string, statements: string): Promise<void>;
  /** The first row. */
  row(database: string, statement: string): Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

/** A PostgreSQL server on a core; undefined: not pinned. */
export async function startDatabaseServer(core: number | undefined): Promise<DatabaseServer> {
  const server = await startPostgres({ settings });
  const [pid] = readFileSync(join(server.cluster.dataFolder, "postmaster.pid"), "latin1").split("\n").map(Number);
  if (pid === undefined) throw new Error("The database server has no process id.");
  // Processes that it starts from now on inherit the core.
  if (core !== undefined) for (const each of [pid, ...processesBelow(pid)]) pin(each, core);
  const withClient = async <T>(database: string, use: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: server.url(database) });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  };
  const row = (database: string, statement: string) =>
    withClient(database, async (client) => {
      const { rows } = await client.query<Readonly<Record<string, unknown>>>(statement);
      return rows[0] ?? {};
    });
  const { server_version: version } = await row("postgres", "SHOW server_version");
  return {
    version: String(version),
    row,
    run: (database, statements) =>
      withClient(database, async (client) => {
        await client.query(statements);
      }),
    url: (database) => server.url(database),
    cpuMs: () => treeCpuMs(pid),
    async logBytes(database) {
      const { written } = await row(database, "SELECT pg_current_wal_insert_lsn() - '0/0' AS written");
      return Number(written);
    },
    async makeDatabase(name) {
      await row("postgres", `CREATE DATABASE ${name}`);
    },
    async stop() {
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The lengths of the encrypted parts in this database. */
export async function shapeOfRows(server: DatabaseServer, database: string): Promise<RowShape> {
  const lengths = await server.row(
    database,
    `SELECT (SELECT octet_length(sealed) FROM row_secrets LIMIT 1) AS key,
       (SELECT octet_length(sealed) FROM payloads LIMIT 1) AS payload`,
  );
  return { rowSecretBytes: Number(lengths.key), payloadBytes: Number(lengths.payload) };
}

function pin(pid: number, core: number): void {
  const { status, stderr } = spawnSync("taskset", ["-cp", String(core), String(pid)], { encoding: "utf8" });
  if (status !== 0) throw new Error(`taskset: ${stderr}`);
}
