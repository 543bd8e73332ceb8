import type { DatabaseProcess } from "./database-process.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { LoadProcess } from "./load-process.ts";
import { treeCpuMs } from "./process-figures.ts";
import { claimRequest, createRequest } from "./requests.ts";

export const processCounts = [1, 2] as const;
export type ProcessCount = (typeof processCounts)[number];
export const actions = ["create", "claim"] as const;
export type Action = (typeof actions)[number];

/** One phase, of the product or of the bare statements. CPU times include all child processes. */
interface Measured {
  readonly perSecond: number;
  readonly processMicros: number;
  readonly databaseMicros: number;
  readonly logBytes: number;
}

export interface Pair {
  readonly processes: ProcessCount;
  readonly action: Action;
  readonly bare: Measured;
  readonly product: Measured & { readonly p50Micros: number; readonly p99Micros: number; readonly failures: number };
}

export interface Parties {
  readonly database: DatabaseServer;
  readonly databaseName: string;
  readonly bare: DatabaseProcess;
  readonly load: LoadProcess;
  readonly servers: Readonly<Record<ProcessCount, readonly { readonly pid: number; readonly port: number }[]>>;
}

export interface RoundPlan {
  /** Connections from the load generator to the server. */
  readonly connections: number;
  /** Connections from each process to the database. */
  readonly pool: number;
  readonly durationMs: number;
}

/** Alternates bare statements and product; each claims what it has just created. */
export async function measurePairs(parties: Parties, plan: RoundPlan): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (const processes of processCounts) {
    for (const action of actions) pairs.push(await measurePair(parties, plan, processes, action));
  }
  return pairs;
}

async function measurePair(
  { database, databaseName, bare, load, servers }: Parties,
  { connections, pool, durationMs }: RoundPlan,
  processes: ProcessCount,
  action: Action,
): Promise<Pair> {
  const measure = async <T>(
    pids: readonly number[],
    run: () => Promise<T>,
    doneOf: (result: T) => readonly [number, number],
  ) => {
    const logBefore = await database.logBytes(databaseName);
    const before = { process: cpuOf(pids), database: database.cpuMs() };
    const result = await run();
    const [done, elapsedMs] = doneOf(result);
    const cpu = { process: cpuOf(pids) - before.process, database: database.cpuMs() - before.database };
    const measured: Measured = {
      perSecond: (done / elapsedMs) * 1_000,
      processMicros: (cpu.process / done) * 1_000,
      databaseMicros: (cpu.database / done) * 1_000,
      logBytes: ((await database.logBytes(databaseName)) - logBefore) / done,
    };
    return { ...measured, result };
  };
  const { result: _, ...bareMeasured } = await measure(
    [bare.pid],
    () => bare.run({ what: action, connections: pool * processes, durationMs }),
    ({ done, elapsedMs }) => [done, elapsedMs],
  );
  const ports = servers[processes].map(({ port }) => port);
  const host = ports[0] ?? 0;
  const creates = action === "create";
  const { result, ...product } = await measure(
    servers[processes].map(({ pid }) => pid),
    () =>
      load.run({
        ports,
        connections,
        durationMs,
        madeUpTokens: [],
        keepTokens: creates,
        request: creates ? createRequest(host) : claimRequest(host),
        each: creates ? "same" : "kept_token",
      }),
    ({ requests, elapsedMs }) => [requests, elapsedMs],
  );
  const failures = result.requests - (result.statuses[creates ? 201 : 200] ?? 0);
  const { p50Micros, p99Micros } = result;
  return { processes, action, bare: bareMeasured, product: { ...product, p50Micros, p99Micros, failures } };
}

const cpuOf = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + treeCpuMs(pid), 0);
