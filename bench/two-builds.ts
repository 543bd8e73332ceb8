import { join } from "node:path";
import { buildBefore } from "./build-before.ts";
import type { Cores } from "./cores.ts";
import { LoadProcess } from "./load-process.ts";
import type { Figure } from "./report.ts";
import { type LoadPlan, type Measured, measurePhase, problemsOf } from "./rounds.ts";
import { ownProgram, type SealpushProcess, startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";

/**
 * The CPU of a request of this build against that of an earlier one. Both servers run on one core and are loaded at the same
 * time, round by round, so that other work on the machine affects both.
 */

export interface BuildsPlan extends LoadPlan {
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** Pushes that are stored before the rounds. */
  readonly storedRows: readonly number[];
}

const shortComparison = { connections: 16, durationMs: 300, warmUpRounds: 0, rounds: 1, storedRows: [100, 200] };
const fullComparison = {
  connections: 32,
  durationMs: 4_000,
  warmUpRounds: 1,
  rounds: 5,
  storedRows: [10_000, 120_000],
};

const phases = ["create", "randomClaim"] as const;
type Phase = (typeof phases)[number];
const names: Readonly<Record<Phase, string>> = { create: "create", randomClaim: "claim" };
const wanted: Readonly<Record<Phase, number>> = { create: 0.75, randomClaim: 0.65 };

interface Build {
  readonly server: SealpushProcess;
  readonly load: LoadProcess;
}

/** One phase of the earlier build and of this one. */
type Pair = readonly [before: Measured, after: Measured];
type Round = Readonly<Record<Phase, Pair>>;

/**
 * @param programBefore undefined: the program of `commitBefore`.
 * @param short compares this build with itself, because building another one takes longer than a short run may.
 */
export async function compareBuilds(
  cores: Cores,
  dataDir: string,
  { short, programBefore }: { readonly short: boolean; readonly programBefore?: string | undefined },
): Promise<{ readonly figures: readonly Figure[]; readonly broken: readonly string[] }> {
  const plan: BuildsPlan = short ? shortComparison : fullComparison;
  const before = programBefore ?? (short ? ownProgram : buildBefore());
  const builds = await Promise.all([
    startBuild(cores, join(dataDir, "before"), before),
    startBuild(cores, join(dataDir, "after"), ownProgram),
  ]);
  const figures: Figure[] = [];
  const broken: string[] = [];
  let stored = 0;
  for (const rows of plan.storedRows) {
    await together(builds, "create", { ...plan, requestsMax: rows - stored });
    stored = rows;
    const rounds: Round[] = [];
    for (let round = 1; round <= plan.warmUpRounds + plan.rounds; round += 1) {
      const create = await together(builds, "create", plan);
      const randomClaim = await together(builds, "randomClaim", plan);
      rounds.push({ create, randomClaim });
      for (const phase of phases) {
        const where = `two builds, ${rows} stored, round ${round}, ${names[phase]}`;
        broken.push(...problemsOf(where, { create, randomClaim }[phase], short));
      }
    }
    figures.push(...figuresOf(rows, rounds.slice(plan.warmUpRounds)));
  }
  for (const { server, load } of builds) {
    load.close();
    await server.end();
  }
  return { figures, broken };
}

async function startBuild(cores: Cores, dataDir: string, program: string): Promise<Build> {
  return { server: await startSealpush(cores.server, dataDir, {}, program), load: new LoadProcess(cores.load) };
}

async function together([before, after]: readonly [Build, Build], phase: Phase, plan: LoadPlan): Promise<Pair> {
  return await Promise.all([
    measurePhase(before.load, before.server, phase, plan),
    measurePhase(after.load, after.server, phase, plan),
  ]);
}

function figuresOf(rows: number, rounds: readonly Round[]): Figure[] {
  return phases.flatMap((phase): Figure[] => {
    const name = `${names[phase]}, ${rows} stored`;
    const ratios = rounds.map((round) => round[phase][1].serverCpuMicros / round[phase][0].serverCpuMicros);
    const micros = (at: 0 | 1) => median(rounds.map((round) => round[phase][at].serverCpuMicros));
    return [
      {
        name: `${name}: CPU per request against before`,
        value: median(ratios),
        unit: "x",
        wanted: { atMost: wanted[phase] },
      },
      {
        name: `${name}: lowest and highest round`,
        value: Math.min(...ratios),
        unit: `to ${Math.max(...ratios).toFixed(2)}`,
      },
      { name: `${name}: server CPU before`, value: micros(0), unit: "us" },
      { name: `${name}: server CPU`, value: micros(1), unit: "us" },
    ];
  });
}
