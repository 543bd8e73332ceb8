import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "../../base/errors.ts";
import { OutcomeUnknownError } from "../database.ts";
import { isConflict, NotConnectedError, retryAfterSeconds } from "./failures.ts";

/** How many milliseconds something is tried again, from its beginning on. */
export interface Patience {
  /** When no try can have happened. */
  readonly notDone: number;
  /** When one may have: only for what does no more when it runs twice. "never": it is not tried again. */
  readonly unknown: number | "never";
}

/** What may be tried again without counting twice is, while a failover takes its usual time. */
const healMsMax = 10_000;
export const once: Patience = { notDone: 0, unknown: "never" };
export const again: Patience = { notDone: 0, unknown: 0 };
export const untilHealed: Patience = { notDone: healMsMax, unknown: healMsMax };
/** To leave open whether it has happened is worse than to wait. */
export const untilKnown: Patience = { notDone: 0, unknown: healMsMax };

/** How it has gone so far. */
interface Course {
  readonly startedAt: number;
  conflicts: number;
  losses: number;
  /** The first lost answer. */
  unknown: OutcomeUnknownError | undefined;
}

/** Each of them means that another transaction has come through. */
const conflictTriesMax = 40;
/** However impatient, as long as the tries fail quickly: the server may be back at once, on another connection. */
const quickTriesMax = 3;
const quickMs = 1_000;
const pauseMsMin = 20;
const pauseMsMax = 500;
const conflictPauseMsMax = 80;

export class Retries {
  readonly #monotonicMs: () => number;
  readonly #isClosed: () => boolean;
  #conflicts = 0;

  constructor(deps: { readonly monotonicMs: () => number; readonly isClosed: () => boolean }) {
    this.#monotonicMs = deps.monotonicMs;
    this.#isClosed = deps.isClosed;
  }

  /** Transactions that the server undid because another one was in their way, since the start. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** @throws AppError unavailable when others are in the way again and again; what `attempt` threw otherwise. */
  async run<T>(attempt: () => Promise<T>, patience: Patience): Promise<T> {
    const course: Course = { startedAt: this.#monotonicMs(), conflicts: 0, losses: 0, unknown: undefined };
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        await sleep(isConflict(error) ? this.#afterConflict(error, course) : this.#afterLoss(error, course, patience));
      }
    }
  }

  /** @returns after how many milliseconds the next try may come. @throws when there is none. */
  #afterConflict(error: unknown, course: Course): number {
    this.#conflicts += 1;
    course.conflicts += 1;
    if (course.conflicts < conflictTriesMax) return pauseMs(course.conflicts, conflictPauseMsMax);
    throw unavailable("The database cannot do this now. Try again shortly.", retryAfterSeconds, error);
  }

  /** The same. */
  #afterLoss(error: unknown, course: Course, patience: Patience): number {
    if (error instanceof OutcomeUnknownError) course.unknown ??= error;
    else if (!(error instanceof NotConnectedError)) throw error;
    course.losses += 1;
    const patienceMs = course.unknown === undefined ? patience.notDone : patience.unknown;
    const elapsedMs = this.#monotonicMs() - course.startedAt;
    const isQuick = course.losses < quickTriesMax && elapsedMs < quickMs;
    const goesOn = patienceMs !== "never" && (elapsedMs < patienceMs || isQuick);
    // One lost answer leaves it open, whatever became of the tries after it.
    if (this.#isClosed() || !goesOn) throw course.unknown ?? error;
    return pauseMs(course.losses, pauseMsMax);
  }
}

/** Longer each time, and never the same for two who met. */
function pauseMs(tries: number, msMax: number): number {
  return Math.min(msMax, pauseMsMin * 2 ** (tries - 1)) * (0.5 + Math.random());
}
