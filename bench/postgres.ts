import { join } from "node:path";
import { DatabaseProcess } from "./database-process.ts";
import { type DatabaseServer, shapeOfRows, startDatabaseServer } from "./database-server.ts";
import { LoadProcess } from "./load-process.ts";
import {
  type Action,
  actions,
  measurePairs,
  type Pair,
  type ProcessCount,
  processCounts,
  type RoundPlan,
} from "./postgres-rounds.ts";
import type { Figure } from "./report.ts";
import { recordAnswers } from "./requests.ts";
import { startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";

export interface PostgresPlan extends RoundPlan {
  readonly warmUpRounds: number;
  readonly rounds: number;
}

/** The core of each process; undefined: not pinned. */
export interface PostgresCores {
  readonly processes: number | undefined;
  readonly database: number | undefined;
}

const databaseName = "pushes";
/** The bare statements are the same ones, sent by the same driver: the difference to the product is its own work. */
const ratioMin = 0.8;

/**
 * The product with one and two processes on a PostgreSQL server with durable commits, compared with the same statements on
 * the same number of connections from a process that does nothing else.
 */
export async function measureOnPostgres(
  cores: PostgresCores,
  folder: string,
  plan: PostgresPlan,
): Promise<{ figures: readonly Figure[]; broken: readonly string[]; condition: string }> {
  const database = await startDatabaseServer(cores.database);
  try {
    await database.makeDatabase(databaseName);
    const pairs = await measure(database, cores, folder, plan);
    return {
      figures: processCounts.flatMap((processes) => actions.flatMap((action) => figuresOf(pairs, processes, action))),
      broken: pairs.flatMap(problemsOf),
      condition:
        `PostgreSQL ${database.version}, fsync and synchronous_commit on, ${plan.pool} connections a process` +
        `${cores.database === undefined ? "" : ", all processes on one core, the database on the other, the load where there is room"}`,
    };
  } finally {
    await database.stop();
  }
}

async function measure(
  database: DatabaseServer,
  cores: PostgresCores,
  folder: string,
  plan: PostgresPlan,
): Promise<readonly Pair[]> {
  const start = () =>
    startSealpush(cores.processes, join(folder, "on-postgres"), {
      DATABASE_URL: database.url(databaseName),
      PWP__DATABASE__POOL_SIZE: String(plan.pool),
    });
  const started = [await start(), await start(), await start()] as const;
  const [alone, ...pair] = started;
  const servers = { 1: [alone], 2: pair };
  await recordAnswers(alone.port);
  const bare = await DatabaseProcess.start(cores.processes, {
    url: database.url(databaseName),
    connectionsMax: plan.pool * 2,
    shape: await shapeOfRows(database, databaseName),
  });
  const load = new LoadProcess(undefined);
  const pairs: Pair[] = [];
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round += 1) {
    const measured = await measurePairs({ database, databaseName, bare, load, servers }, plan);
    if (round >= plan.warmUpRounds) pairs.push(...measured);
  }
  load.close();
  bare.close();
  await Promise.all(started.map((server) => server.end()));
  return pairs;
}

function figuresOf(all: readonly Pair[], processes: ProcessCount, action: Action): Figure[] {
  const pairs = all.filter((pair) => pair.processes === processes && pair.action === action);
  const of = (read: (pair: Pair) => number) => median(pairs.map(read));
  const name = `PostgreSQL, ${processes === 1 ? "1 process" : `${processes} processes`}, ${action}`;
  return [
    {
      name: `${name}: throughput against the bare statements`,
      value: of(({ product, bare }) => product.perSecond / bare.perSecond),
      unit: "x",
      wanted: { atLeast: ratioMin },
    },
    {
      name: `${name}: the database's CPU against the bare statements`,
      value: of(({ product, bare }) => product.databaseMicros / bare.databaseMicros),
      unit: "x",
    },
    { name: `${name}: throughput`, value: of(({ product }) => product.perSecond), unit: "/s" },
    { name: `${name}: throughput of the bare statements`, value: of(({ bare }) => bare.perSecond), unit: "/s" },
    { name: `${name}: server CPU per request`, value: of(({ product }) => product.processMicros), unit: "us" },
    { name: `${name}: CPU of the bare process`, value: of(({ bare }) => bare.processMicros), unit: "us" },
    { name: `${name}: database CPU per request`, value: of(({ product }) => product.databaseMicros), unit: "us" },
    { name: `${name}: database CPU, bare`, value: of(({ bare }) => bare.databaseMicros), unit: "us" },
    { name: `${name}: log written`, value: of(({ product }) => product.logBytes), unit: "B" },
    { name: `${name}: latency p50`, value: of(({ product }) => product.p50Micros / 1_000), unit: "ms" },
    { name: `${name}: latency p99`, value: of(({ product }) => product.p99Micros / 1_000), unit: "ms" },
  ];
}

function problemsOf({ product, processes, action }: Pair): readonly string[] {
  const { failures } = product;
  return failures === 0 ? [] : [`PostgreSQL, ${processes} processes, ${action}: ${failures} requests failed`];
}
