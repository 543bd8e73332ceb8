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
    return await this.#untilAnswered(() => this.#untilNoConflict(attempt), patience);
  }

  async #untilAnswered<T>(attempt: () => Promise<T>, patience: Patience): Promise<T> {
    const startedAt = this.#monotonicMs();
    let unknown: OutcomeUnknownError | undefined;
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof OutcomeUnknownError) unknown ??= error;
        else if (!(error instanceof NotConnectedError)) throw error;
        const patienceMs = unknown === undefined ? patience.notDone : patience.unknown;
        const elapsedMs = this.#monotonicMs() - startedAt;
        const goesOn =
          patienceMs !== "never" && (elapsedMs < patienceMs || (tries < quickTriesMax && elapsedMs < quickMs));
        // One lost answer leaves it open, whatever became of the tries after it.
        if (this.#isClosed() || !goesOn) throw unknown ?? error;
        await pause(tries, pauseMsMax);
      }
    }
  }

  async #untilNoConflict<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error)) throw error;
        this.#conflicts += 1;
        if (tries >= conflictTriesMax) {
          throw unavailable("The database cannot do this now. Try again shortly.", retryAfterSeconds, error);
        }
        await pause(tries, conflictPauseMsMax);
      }
    }
  }
}

/** Longer each time, and never the same for two who met. */
async function pause(tries: number, msMax: number): Promise<void> {
  const ms = Math.min(msMax, pauseMsMin * 2 ** (tries - 1));
  await sleep(ms * (0.5 + Math.random()));
}
