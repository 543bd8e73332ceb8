import { AppError, unavailable } from "../../base/errors.ts";
import { OutcomeUnknownError } from "../database.ts";
import { withinBudget } from "../request-budget.ts";
import { isConflict, NotConnectedError, retryAfterSeconds } from "./errors.ts";

/** For how many milliseconds after the first attempt a lost connection is retried. */
export interface RetryPolicy {
  /** While no attempt can have been executed. */
  readonly notExecuted: number;
  /** Once an attempt may have been executed. "never": it is not retried. */
  readonly maybeExecuted: number | "never";
}

/** The duration of a usual failover. */
const failoverMs = 10_000;
/** With 0 ms an attempt is still retried while attempts fail quickly: another connection may work at once. */
export const retryPolicies = {
  read: { notExecuted: 0, maybeExecuted: 0 },
  lookUp: { notExecuted: failoverMs, maybeExecuted: failoverMs },
  whenNotExecuted: { notExecuted: 0, maybeExecuted: "never" },
  /** Waiting is better than not knowing whether the statement was executed. */
  idempotent: { notExecuted: 0, maybeExecuted: failoverMs },
} as const satisfies Record<string, RetryPolicy>;

interface RetryState {
  readonly startedAt: number;
  conflicts: number;
  lostConnections: number;
  /** The first lost answer. */
  unknownOutcome: OutcomeUnknownError | undefined;
}

/** Each conflict means that another transaction was committed. */
const conflictTriesMax = 40;
const quickTriesMax = 3;
const quickMs = 1_000;
const pauseMsMin = 20;
const pauseMsMax = 500;
const conflictPauseMsMax = 80;

export interface RetriesDeps {
  readonly monotonicMs: () => number;
  readonly isClosed: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
}

export class Retries {
  readonly #monotonicMs: () => number;
  readonly #isClosed: () => boolean;
  readonly #pause: (ms: number) => Promise<void>;
  #conflicts = 0;

  constructor(deps: RetriesDeps) {
    this.#monotonicMs = deps.monotonicMs;
    this.#isClosed = deps.isClosed;
    this.#pause = deps.pause;
  }

  /** Transactions that the server rolled back because of a conflict with another one, since the start. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /**
   * @throws AppError unavailable when conflicts do not end; OutcomeUnknownError when the request has waited for the database
   * long enough; otherwise what `attempt` threw.
   */
  run<T>(attempt: () => Promise<T>, policy: RetryPolicy): Promise<T> {
    return withinBudget(this.#monotonicMs, (isTooLate) => this.#run(attempt, policy, isTooLate));
  }

  /** As `Database.untilKnown`. */
  untilKnown<T>(attempt: (lostAnswer: OutcomeUnknownError | undefined) => Promise<T>): Promise<T> {
    return withinBudget(this.#monotonicMs, async (isTooLate) => {
      let lostAnswer: OutcomeUnknownError | undefined;
      let lostAt = 0;
      for (let tries = 1; ; tries += 1) {
        try {
          return await attempt(lostAnswer);
        } catch (error) {
          const isTemporary = error instanceof AppError && error.code === "unavailable";
          if (lostAnswer === undefined) {
            if (!(error instanceof OutcomeUnknownError)) throw error;
            lostAnswer = error;
            lostAt = this.#monotonicMs();
          } else if (!isTemporary) throw error;
          const isOver = this.#monotonicMs() - lostAt >= failoverMs;
          if (isOver || isTooLate() || this.#isClosed()) throw lostAnswer;
          await this.#pause(pauseMs(tries, pauseMsMax));
        }
      }
    });
  }

  async #run<T>(attempt: () => Promise<T>, policy: RetryPolicy, isTooLate: () => boolean): Promise<T> {
    const state: RetryState = {
      startedAt: this.#monotonicMs(),
      conflicts: 0,
      lostConnections: 0,
      unknownOutcome: undefined,
    };
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (isTooLate()) throw error;
        await this.#pause(
          isConflict(error) ? this.#pauseAfterConflict(error, state) : this.#pauseAfterLoss(error, state, policy),
        );
      }
    }
  }

  /** @returns the milliseconds until the next attempt. @throws when there is none. */
  #pauseAfterConflict(error: unknown, state: RetryState): number {
    this.#conflicts += 1;
    state.conflicts += 1;
    if (state.conflicts < conflictTriesMax) return pauseMs(state.conflicts, conflictPauseMsMax);
    throw unavailable("Too many concurrent writes change the same data. Try again shortly.", retryAfterSeconds, error);
  }

  /** @returns the milliseconds until the next attempt. @throws when there is none. */
  #pauseAfterLoss(error: unknown, state: RetryState, policy: RetryPolicy): number {
    if (error instanceof OutcomeUnknownError) state.unknownOutcome ??= error;
    else if (!(error instanceof NotConnectedError)) throw error;
    state.lostConnections += 1;
    const limitMs = state.unknownOutcome === undefined ? policy.notExecuted : policy.maybeExecuted;
    const elapsedMs = this.#monotonicMs() - state.startedAt;
    const isQuick = state.lostConnections < quickTriesMax && elapsedMs < quickMs;
    // After a silent connection, the next one may work. After a failed wait for a connection, it probably does not.
    const isFirst =
      state.lostConnections === 1 && !(error instanceof NotConnectedError && error.stage === "connecting");
    const canRetry = limitMs !== "never" && (elapsedMs < limitMs || isQuick || isFirst);
    // After one lost answer the outcome is unknown, regardless of later attempts.
    if (this.#isClosed() || !canRetry) throw state.unknownOutcome ?? error;
    return pauseMs(state.lostConnections, pauseMsMax);
  }
}

/** Grows with each attempt. Random, so that two conflicting transactions do not conflict again. */
function pauseMs(tries: number, msMax: number): number {
  return Math.min(msMax, pauseMsMin * 2 ** (tries - 1)) * (0.5 + Math.random());
}
