import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Cores } from "./cores.ts";
import { Latencies } from "./latencies.ts";
import { LoadProcess } from "./load-process.ts";
import type { Figure } from "./report.ts";
import { type Measured, measurePhase, problemsOf } from "./rounds.ts";
import { startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";

/**
 * One client that sends one request after another, which is what most servers see all day: nothing can share a commit. The
 * floor is a program that appends as many bytes as a store of keys and values writes for one push, and syncs them.
 */

export interface LonePlan {
  readonly durationMs: number;
  readonly warmUpRounds: number;
  readonly rounds: number;
}

const appendedBytes = 717;
const phases = ["create", "claim"] as const;
type Latency = Pick<Measured, "p50Micros" | "p99Micros">;
type LoneRound = Readonly<Record<(typeof phases)[number], Measured> & { floor: Latency }>;

/** @returns milliseconds, and microseconds of the server's CPU. */
export async function measureLoneClient(
  cores: Cores,
  dataDir: string,
  plan: LonePlan,
): Promise<{ readonly figures: readonly Figure[]; readonly broken: readonly string[] }> {
  const server = await startSealpush(cores.server, dataDir);
  const load = new LoadProcess(cores.load);
  const one = { connections: 1, durationMs: plan.durationMs };
  const all: LoneRound[] = [];
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round += 1) {
    all.push({
      floor: measureAppends(join(dataDir, "floor"), plan.durationMs / 4),
      create: await measurePhase(load, server, "create", one),
      claim: await measurePhase(load, server, "claim", one),
    });
  }
  load.close();
  await server.end();
  const rounds = all.slice(plan.warmUpRounds);
  return {
    figures: [
      ...latencies("append and sync", rounds, "floor"),
      ...phases.flatMap((phase) => latencies(phase, rounds, phase)),
      {
        name: "one client, create: server CPU",
        value: median(rounds.map(({ create }) => create.serverCpuMicros)),
        unit: "us",
        wanted: { atMost: 250 },
      },
    ],
    broken: all.flatMap((round, at) =>
      phases.flatMap((phase) => problemsOf(`one client, round ${at}`, [round[phase]], true)),
    ),
  };
}

function latencies(name: string, rounds: readonly LoneRound[], part: keyof LoneRound): Figure[] {
  const of = (read: (latency: Latency) => number) => median(rounds.map((round) => read(round[part])));
  const isFloor = part === "floor";
  return [
    {
      name: `one client, ${name}: p50`,
      value: of(({ p50Micros }) => p50Micros / 1_000),
      unit: "ms",
      ...(isFloor ? {} : { wanted: { atMost: 0.45 } }),
    },
    {
      name: `one client, ${name}: p99`,
      value: of(({ p99Micros }) => p99Micros / 1_000),
      unit: "ms",
      ...(isFloor ? {} : { wanted: { atMost: 1.5 } }),
    },
  ];
}

function measureAppends(folder: string, durationMs: number): Latency {
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, "appended"), "a");
  const took = new Latencies();
  const bytes = Buffer.alloc(appendedBytes, 1);
  for (const until = performance.now() + durationMs; performance.now() < until; ) {
    const startedAt = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    took.record((performance.now() - startedAt) * 1_000);
  }
  closeSync(file);
  return { p50Micros: took.percentile(0.5), p99Micros: took.percentile(0.99) };
}
