import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBareServer } from "./bare-process.ts";
import { assignCores } from "./cores.ts";
import { measureFileTransfer } from "./file-transfer.ts";
import { LoadProcess } from "./load-process.ts";
import { measureLoneClient } from "./lone-client.ts";
import { describeMachine } from "./machine.ts";
import { startObjectStore } from "./object-store.ts";
import { readOptions } from "./options.ts";
import { measureOnPostgres } from "./postgres.ts";
import { type Figure, publish } from "./report.ts";
import { recordAnswers } from "./requests.ts";
import { type Measured, measureRound, type Phase, phases, problemsOf, type Round } from "./rounds.ts";
import { type CommitCounts, startSealpush } from "./sealpush-process.ts";
import { median } from "./statistics.ts";
import { compareBuilds } from "./two-builds.ts";

/**
 * The speed of complete, durable creates and claims relative to the bare framework. Bare and real routes alternate in one
 * run, so that other load on the machine affects both.
 */

const options = readOptions(process.argv.slice(2));
const plan = options.short
  ? { connections: 16, durationMs: 300, warmUpRounds: 0, rounds: 1, fileBytes: 16 * 1024 ** 2 }
  : { connections: 64, durationMs: 4_000, warmUpRounds: 1, rounds: 5, fileBytes: 1024 ** 3 };
/** The default number of connections of one process. */
const pool = 10;

const machine = describeMachine();
const cores = assignCores();
const dataDir = mkdtempSync(join(tmpdir(), "sealpush-bench-"));
const builds = await compareBuilds(cores, join(dataDir, "builds"), options);
const { rounds, counts } = await measureRoutes();
const lone = await measureLoneClient(cores, join(dataDir, "lone"), plan);
const file = await measureFileTransfer(cores.server, join(dataDir, "files"), plan.fileBytes);
const fileElsewhere = await measureInObjectStore();
const onPostgres = await measureOnPostgres({ processes: cores.server, database: cores.load }, dataDir, {
  ...plan,
  pool,
});
rmSync(dataDir, { recursive: true });

process.exitCode = publish(
  {
    benchmark: "Create and claim against the bare route",
    short: options.short,
    machine,
    conditions: [
      `${cores.sentence}; ${plan.connections} connections, closed loop, ${plan.rounds} alternating rounds, medians`,
      "full durability (no answer before the log is synced), throttling off, anonymous text pushes of 40 characters, one view each",
      onPostgres.condition,
    ],
    figures: [
      ...builds.figures,
      ...routeFigures(rounds, counts),
      ...lone.figures,
      ...file.figures,
      ...fileElsewhere.figures,
      ...onPostgres.figures,
    ],
    broken: [
      ...builds.broken,
      ...rounds.flatMap(problemsOfRound),
      ...lone.broken,
      ...file.broken,
      ...fileElsewhere.broken,
      ...onPostgres.broken,
    ],
  },
  options.json,
);

async function measureInObjectStore(): ReturnType<typeof measureFileTransfer> {
  const store = await startObjectStore(cores.load, join(dataDir, "store"));
  try {
    const elsewhere = { name: "S3", environment: store.environment };
    return await measureFileTransfer(cores.server, join(dataDir, "files-in-store"), plan.fileBytes, elsewhere);
  } finally {
    await store.stop();
  }
}

async function measureRoutes(): Promise<{ rounds: readonly Round[]; counts: CommitCounts }> {
  const sealpush = await startSealpush(cores.server, join(dataDir, "pushes"));
  const bare = await startBareServer(cores.server, await recordAnswers(sealpush.port));
  const load = new LoadProcess(cores.load);
  const done: Round[] = [];
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round += 1) {
    done.push(await measureRound({ load, bare, sealpush }, plan));
  }
  load.close();
  bare.close();
  return { rounds: done.slice(plan.warmUpRounds), counts: await sealpush.stop() };
}

function routeFigures(all: readonly Round[], { commits, units }: CommitCounts): Figure[] {
  const of = (phase: Phase, read: (measured: Measured) => number) => median(all.map((round) => read(round[phase])));
  const ratio = (above: Phase, below: Phase, read: (measured: Measured) => number) =>
    median(all.map((round) => read(round[above]) / read(round[below])));
  const speed = (measured: Measured) => measured.perSecond;
  const cpu = (measured: Measured) => measured.serverCpuMicros;
  return [
    {
      name: "create: throughput against bare",
      value: ratio("create", "bareCreate", speed),
      unit: "x",
      wanted: { atLeast: 0.45 },
    },
    {
      name: "create: CPU per request against bare",
      value: ratio("create", "bareCreate", cpu),
      unit: "x",
      wanted: { atMost: 2.2 },
    },
    {
      name: "claim: throughput against bare",
      value: ratio("claim", "bareClaim", speed),
      unit: "x",
      wanted: { atLeast: 0.5 },
    },
    {
      name: "claim: CPU per request against bare",
      value: ratio("claim", "bareClaim", cpu),
      unit: "x",
      wanted: { atMost: 2 },
    },
    { name: "commits per 1,000 writes", value: (commits / units) * 1_000, unit: "" },
    ...phases.flatMap((phase): Figure[] => [
      { name: `${phase}: throughput`, value: of(phase, speed), unit: "/s" },
      { name: `${phase}: server CPU per request`, value: of(phase, cpu), unit: "us" },
      { name: `${phase}: latency p50`, value: of(phase, (measured) => measured.p50Micros / 1_000), unit: "ms" },
      { name: `${phase}: latency p99`, value: of(phase, (measured) => measured.p99Micros / 1_000), unit: "ms" },
      {
        name: `${phase}: generator's share of its core`,
        value: of(phase, (measured) => measured.clientShare),
        unit: "",
      },
    ]),
  ];
}

function problemsOfRound(round: Round, at: number): string[] {
  return phases.flatMap((phase) => problemsOf(`round ${at + 1}, ${phase}`, [round[phase]], options.short));
}
