import pg from "pg";
import { configure, copyCluster, makeCluster, removeCluster, superuser, writeOwn } from "./cluster.ts";
import { type PostgresServer, serve } from "./server.ts";

/** A primary, and a standby that has flushed every commit before the primary acknowledges it. */
export interface PostgresPair extends AsyncDisposable {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Promotes the standby; resolves when it accepts writes. The primary has to be dead: nothing else stops it from writing. */
  promote(): Promise<void>;
}

const standbyName = "standby";

/** Durable, as in production. */
const durable = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" } as const;

export async function startPostgresPair(settings: Readonly<Record<string, string>> = {}): Promise<PostgresPair> {
  // After initdb the files are those of a cleanly stopped server, so a copy is a base backup.
  const cluster = await makeCluster({ settings: { ...durable, ...settings, wal_level: "replica" } });
  const copy = await copyCluster(cluster);
  configure(cluster, { synchronous_standby_names: standbyName });
  const primary = await serve(cluster).catch((error: unknown) => {
    removeCluster(copy);
    throw error;
  });
  try {
    const source = `host=127.0.0.1 port=${primary.port} user=${superuser.name} application_name=${standbyName}`;
    configure(copy, { primary_conninfo: source, hot_standby: "on" });
    writeOwn(copy, "data/standby.signal", "");
    const standby = await serve(copy);
    await untilSynchronous(primary);
    return {
      primary,
      standby,
      promote: () => promote(standby),
      async [Symbol.asyncDispose]() {
        await Promise.all([primary[Symbol.asyncDispose](), standby[Symbol.asyncDispose]()]);
      },
    };
  } catch (error) {
    await primary[Symbol.asyncDispose]();
    throw error;
  }
}

/** Waits for the standby: before, a synchronous commit would hang, and an asynchronous one could be lost. */
async function untilSynchronous(primary: PostgresServer): Promise<void> {
  await onServer(primary, async (client) => {
    const state = "SELECT 1 FROM pg_stat_replication WHERE application_name = $1 AND sync_state = 'sync'";
    while ((await client.query(state, [standbyName])).rowCount !== 1) {
      await client.query("SELECT pg_sleep(0.02)");
    }
  });
}

async function promote(standby: PostgresServer): Promise<void> {
  await onServer(standby, async (client) => {
    const { rows } = await client.query("SELECT pg_promote(true, 60) AS promoted");
    if (rows[0]?.promoted !== true) throw new Error("The standby was not promoted within a minute.");
  });
}

async function onServer(server: PostgresServer, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
