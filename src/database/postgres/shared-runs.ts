import type { NamedRun, RunDone } from "./named-query.ts";

interface WaitingRun {
  readonly run: NamedRun;
  readonly order: number;
  readonly resolve: (done: RunDone) => void;
  readonly reject: (reason: unknown) => void;
}

/** So many go together at most: the first of them does not wait for long, and few are tried again when one fails. */
const togetherMax = 32;

/**
 * Runs that arrive in one turn of the event loop go to the server in one write and come back in one, on one connection:
 * to wake the server, to be woken and to commit costs more than most statements. Under load that is many, else one.
 */
export class SharedRuns {
  readonly #runAll: (runs: readonly NamedRun[]) => Promise<readonly RunDone[]>;
  #waiting: WaitingRun[] = [];

  /** @param runAll does all of them, or none: then each learns why. */
  constructor(runAll: (runs: readonly NamedRun[]) => Promise<readonly RunDone[]>) {
    this.#runAll = runAll;
  }

  /** @param order in which those that go together run. */
  run(run: NamedRun, order: number): Promise<RunDone> {
    const { promise, resolve, reject } = Promise.withResolvers<RunDone>();
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ run, order, resolve, reject });
    return promise;
  }

  #flush(): void {
    const waiting = this.#waiting.sort((one, other) => one.order - other.order);
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += togetherMax) {
      void this.#runTogether(waiting.slice(at, at + togetherMax));
    }
  }

  async #runTogether(waiting: readonly WaitingRun[]): Promise<void> {
    try {
      const done = await this.#runAll(waiting.map(({ run }) => run));
      for (const [at, { resolve, reject }] of waiting.entries()) {
        const own = done[at];
        if (own === undefined) reject(new Error("The database answered too few statements."));
        else resolve(own);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
