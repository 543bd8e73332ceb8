import type { LoadResult } from "./load-job.ts";
import type { LoadProcess } from "./load-process.ts";
import { cpuMs } from "./process-figures.ts";
import { claimRequest, createRequest } from "./requests.ts";

/** In the order in which a round runs them: bare and real routes alternate. */
export const phases = ["bareCreate", "create", "bareClaim", "claim"] as const;
export type Phase = (typeof phases)[number];

export interface Measured {
  readonly perSecond: number;
  /** All threads of the server's process, user and system. */
  readonly serverCpuMicros: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** The share of one core. */
  readonly clientShare: number;
  /** Requests that were not answered with the expected status. */
  readonly failures: number;
}

export type Round = Readonly<Record<Phase, Measured>>;

interface Server {
  readonly pid: number;
  readonly port: number;
}

interface Parties {
  readonly load: LoadProcess;
  readonly bare: Server;
  readonly sealpush: Server;
}

const madeUpTokens = Array.from({ length: 20_000 }, (_, at) => at.toString(32).padStart(26, "0"));

export interface LoadPlan {
  readonly connections: number;
  readonly durationMs: number;
  /** The phase ends after so many requests, however long they take. */
  readonly requestsMax?: number;
}

/** Every push is created and claimed in the same round. */
export async function measureRound({ load, bare, sealpush }: Parties, plan: LoadPlan): Promise<Round> {
  return {
    bareCreate: await measurePhase(load, bare, "bareCreate", plan),
    create: await measurePhase(load, sealpush, "create", plan),
    bareClaim: await measurePhase(load, bare, "bareClaim", plan),
    claim: await measurePhase(load, sealpush, "claim", plan),
  };
}

/** "claim" claims the pushes in the order of their creation, "randomClaim" in no order, and each of them once. */
export async function measurePhase(
  load: LoadProcess,
  server: Server,
  phase: Phase | "randomClaim",
  plan: LoadPlan,
): Promise<Measured> {
  const creates = phase === "bareCreate" || phase === "create";
  const cpuBefore = cpuMs(server.pid);
  const result = await load.run({
    connections: plan.connections,
    durationMs: plan.durationMs,
    requestsMax: plan.requestsMax,
    ports: [server.port],
    request: creates ? createRequest(server.port) : claimRequest(server.port),
    each: creates ? "same" : phase === "bareClaim" ? "made_up_token" : "kept_token",
    shuffles: phase === "randomClaim",
    madeUpTokens: phase === "bareClaim" ? madeUpTokens : [],
    keepTokens: phase === "create",
  });
  return measured(result, cpuMs(server.pid) - cpuBefore, creates ? 201 : 200);
}

function measured(result: LoadResult, serverCpuMs: number, status: number): Measured {
  return {
    perSecond: (result.requests / result.elapsedMs) * 1_000,
    serverCpuMicros: (serverCpuMs / result.requests) * 1_000,
    p50Micros: result.p50Micros,
    p99Micros: result.p99Micros,
    clientShare: result.clientShare,
    failures: result.requests - (result.statuses[status] ?? 0),
  };
}

/** A load generator above this share of a core would measure itself. */
const clientShareMax = 0.8;

/** What makes figures unusable. @param where the phase, for the report. @param measurements of generators that share a core. */
export function problemsOf(where: string, measurements: readonly Measured[], short: boolean): string[] {
  const failures = measurements.reduce((sum, measured) => sum + measured.failures, 0);
  const share = measurements.reduce((sum, measured) => sum + measured.clientShare, 0);
  return [
    ...(failures > 0 ? [`${where}: ${failures} requests were not answered as they should`] : []),
    ...(share > clientShareMax && !short
      ? [`${where} is void: the generator used ${Math.round(share * 100)} % of its core`]
      : []),
  ];
}
