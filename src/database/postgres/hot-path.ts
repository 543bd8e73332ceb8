import { type HotPath, OutcomeUnknownError } from "../database.ts";
import type { Statement, Value } from "../statement.ts";
import { isConflict, NotConnectedError } from "./errors.ts";
import type { NamedRun, RunDone } from "./named-query.ts";
import { type Retries, type RetryPolicy, retryPolicies } from "./retries.ts";
import type { PostgresStatements } from "./statements.ts";

export interface HotStatementsDeps {
  /** One try, on whatever connection. */
  readonly attempt: <T>(work: (statements: PostgresStatements) => Promise<T>) => Promise<T>;
  readonly retries: Retries;
  readonly onCommit: (transactions: number) => void;
}

/**
 * Statements of the hot path. The first try of each goes together with others (SharedRuns); if that fails for a reason
 * that may be another's, it runs alone. What becomes of a lost answer is as without the others: their transaction is all
 * or nothing, and whoever may not run twice does not.
 */
export function createHotStatements({ attempt, retries, onCommit }: HotStatementsDeps): HotPath {
  const reads = new SharedRuns((runs) => attempt((statements) => statements.together(runs)));
  const inserts = new SharedRuns((runs) => committed(runs, (statements) => statements.together(runs)));
  const updates = new SharedRuns((runs) =>
    committed(runs, (statements) => (runs.length === 1 ? statements.together(runs) : statements.inTransaction(runs))),
  );

  async function committed(
    runs: readonly NamedRun[],
    work: (statements: PostgresStatements) => Promise<readonly RunDone[]>,
  ): Promise<readonly RunDone[]> {
    const done = await attempt(work);
    onCommit(runs.length);
    return done;
  }

  /** @param order in which those run that go together. */
  function run(shared: SharedRuns, policy: RetryPolicy, runIt: NamedRun, order = 0): Promise<RunDone> {
    let first: Promise<RunDone> | undefined = shared.run(runIt, order);
    return retries.run(async () => {
      const together = first;
      first = undefined;
      try {
        if (together !== undefined) return await together;
      } catch (error) {
        const isOwn = error instanceof OutcomeUnknownError || error instanceof NotConnectedError || isConflict(error);
        if (isOwn) throw error;
      }
      const done = await attempt((statements) => statements.alone(runIt));
      if (shared !== reads) onCommit(1);
      return done;
    }, policy);
  }

  return {
    read: async <Parameters extends readonly Value[], Row>(
      statement: Statement<Parameters, Row>,
      ...values: Parameters
    ) => (await run(reads, retryPolicies.read, { statement, values })).rows[0] as Row | undefined,
    insert: async (statement, ...values) =>
      (await run(inserts, retryPolicies.idempotent, { statement, values })).rowCount,
    update: async <Parameters extends readonly Value[], Row>(
      row: number,
      statement: Statement<Parameters, Row>,
      ...values: Parameters
    ) => (await run(updates, retryPolicies.whenNotExecuted, { statement, values }, row)).rows[0] as Row | undefined,
  };
}

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
