import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assignCores } from "./cores.ts";
import type { LoadJob } from "./load-job.ts";
import { LoadProcess } from "./load-process.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { type Figure, publish } from "./report.ts";
import { type Measured, measurePhase } from "./rounds.ts";
import { startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";

/** Creates and claims on SQLite on disks whose syncs take different times. Needs a C compiler (`cc`). */

const options = readOptions(process.argv.slice(2));
const plan = options.short
  ? { connections: 16, durationMs: 300, warmUpRounds: 0, rounds: 1 }
  : { connections: 64, durationMs: 3_000, warmUpRounds: 1, rounds: 4 };

const fewConnections = 8;
const syncsMicros = [200, 2_000, 10_000] as const;
type SyncMicros = (typeof syncsMicros)[number];
const [fastest] = syncsMicros;
const phases = ["create", "claim"] as const;
type Phase = (typeof phases)[number];

/** Another request, which needs no database, beside creates. */
interface Beside {
  readonly syncMicros: SyncMicros;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

interface SyncRound {
  readonly syncMicros: SyncMicros;
  readonly phase: Phase;
  readonly measured: Measured;
}

const machine = describeMachine();
const cores = assignCores();
const folder = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const { rounds, besides } = await measureRounds();
rmSync(folder, { recursive: true });

process.exitCode = publish(
  {
    benchmark: "Create and claim against the duration of a sync",
    short: options.short,
    machine,
    conditions: [
      `${cores.sentence}; ${plan.connections} connections, closed loop, ${plan.rounds} alternating rounds, medians`,
      "each fsync and fdatasync of the server takes at least the given time, one after the other",
    ],
    figures: [
      ...phases.flatMap((phase) => syncsMicros.flatMap((syncMicros) => figuresOf(phase, syncMicros))),
      ...syncsMicros.flatMap(figuresBeside),
    ],
    broken: rounds.flatMap(({ phase, syncMicros, measured: { failures } }) =>
      failures === 0 ? [] : [`${phase} at ${syncMicros} us: ${failures} requests were not answered as they should`],
    ),
  },
  options.json,
);

async function measureRounds(): Promise<{ rounds: readonly SyncRound[]; besides: readonly Beside[] }> {
  const library = compileSlowSync();
  const servers = await Promise.all(
    syncsMicros.map(async (syncMicros) => {
      const environment = { LD_PRELOAD: library, SYNC_MICROS: String(syncMicros) };
      const server = await startSealpush(cores.server, join(folder, String(syncMicros)), environment);
      return { syncMicros, server };
    }),
  );
  const load = new LoadProcess(cores.load);
  const other = new LoadProcess(cores.load);
  const rounds: SyncRound[] = [];
  const besides: Beside[] = [];
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round += 1) {
    for (const { syncMicros, server } of servers) {
      // First, because its pushes are claimed with the others.
      const creates = measurePhase(load, server, "create", { ...plan, connections: fewConnections });
      const { p50Micros, p99Micros } = await other.run(livenessJob(server.port));
      await creates;
      if (round >= plan.warmUpRounds) besides.push({ syncMicros, p50Micros, p99Micros });
      for (const phase of phases) {
        const measured = await measurePhase(load, server, phase, plan);
        if (round >= plan.warmUpRounds) rounds.push({ syncMicros, phase, measured });
      }
    }
  }
  load.close();
  other.close();
  for (const { server } of servers) await server.end();
  return { rounds, besides };
}

function livenessJob(port: number): LoadJob {
  const request = `GET /up HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  return {
    ports: [port],
    request,
    connections: 1,
    durationMs: plan.durationMs,
    each: "same",
    madeUpTokens: [],
    keepTokens: false,
  };
}

function compileSlowSync(): string {
  const source = fileURLToPath(new URL("slow-sync.c", import.meta.url));
  const library = join(folder, "slow-sync.so");
  const { status, error } = spawnSync("cc", ["-O2", "-shared", "-fPIC", "-o", library, source], { stdio: "inherit" });
  if (status !== 0) throw new Error("The C compiler did not compile slow-sync.c.", { cause: error });
  return library;
}

function figuresOf(phase: Phase, syncMicros: SyncMicros): Figure[] {
  const of = (read: (measured: Measured) => number, micros = syncMicros) =>
    median(
      rounds.filter((each) => each.phase === phase && each.syncMicros === micros).map((each) => read(each.measured)),
    );
  const name = `${phase}, sync ${syncMicros / 1_000} ms`;
  const speed = ({ perSecond }: Measured) => perSecond;
  const p99 = ({ p99Micros }: Measured) => p99Micros / 1_000;
  const against: Figure[] = [
    {
      name: `${name}: throughput against ${fastest / 1_000} ms`,
      value: of(speed) / of(speed, fastest),
      unit: "x",
      ...(syncMicros === 2_000 && { wanted: { atLeast: 0.8 } }),
    },
    {
      name: `${name}: p99 above that of ${fastest / 1_000} ms, in syncs`,
      value: (of(p99) - of(p99, fastest)) / (syncMicros / 1_000),
      unit: "",
    },
  ];
  return [
    ...(syncMicros === fastest ? [] : against),
    { name: `${name}: throughput`, value: of(speed), unit: "/s" },
    { name: `${name}: server CPU per request`, value: of(({ serverCpuMicros }) => serverCpuMicros), unit: "us" },
    { name: `${name}: latency p50`, value: of(({ p50Micros }) => p50Micros / 1_000), unit: "ms" },
    { name: `${name}: latency p99`, value: of(p99), unit: "ms" },
  ];
}

function figuresBeside(syncMicros: SyncMicros): Figure[] {
  const of = (read: (beside: Beside) => number) =>
    median(besides.filter((each) => each.syncMicros === syncMicros).map(read)) / 1_000;
  const name = `GET /up beside creates of ${fewConnections} connections, sync ${syncMicros / 1_000} ms`;
  return [
    { name: `${name}: latency p50`, value: of(({ p50Micros }) => p50Micros), unit: "ms" },
    { name: `${name}: latency p99`, value: of(({ p99Micros }) => p99Micros), unit: "ms" },
  ];
}
