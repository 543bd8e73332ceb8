import { secondMs } from "../base/clock.ts";

export type ReadinessState =
  | { readonly state: "ready" }
  | { readonly state: "draining" }
  /** `cause`: what the database threw, if it threw. */
  | { readonly state: "database_silent"; readonly cause?: unknown };

export interface Readiness {
  check(): Promise<ReadinessState>;
}

export interface ReadinessDeps {
  /** Whether a read of the database comes through; it may take its time, and throw. */
  readonly canServe: () => Promise<boolean>;
  readonly draining: () => boolean;
  readonly monotonicMs: () => number;
}

export const answerMsMax = 2 * secondMs;
/** Whoever asks more often gets the same answer: strangers may ask too, and must not work the database. */
const keptMs = secondMs;

/** Whether requests can be served here. The database is asked once at a time, however many ask and however long it takes. */
export function createReadiness({ canServe, draining, monotonicMs }: ReadinessDeps): Readiness {
  let asked: Promise<ReadinessState> | undefined;
  let kept: { readonly answer: ReadinessState; readonly at: number } | undefined;

  async function ask(): Promise<ReadinessState> {
    const answer = await stateOf(canServe);
    kept = { answer, at: monotonicMs() };
    asked = undefined;
    return answer;
  }

  return {
    async check() {
      if (draining()) return { state: "draining" };
      if (asked === undefined && kept !== undefined && monotonicMs() - kept.at < keptMs) return kept.answer;
      asked ??= ask();
      return await inTime(asked);
    },
  };
}

async function stateOf(canServe: ReadinessDeps["canServe"]): Promise<ReadinessState> {
  try {
    return { state: (await canServe()) ? "ready" : "database_silent" };
  } catch (cause) {
    return { state: "database_silent", cause };
  }
}

async function inTime(answer: Promise<ReadinessState>): Promise<ReadinessState> {
  const late = Promise.withResolvers<ReadinessState>();
  const timer = setTimeout(() => late.resolve({ state: "database_silent" }), answerMsMax);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
