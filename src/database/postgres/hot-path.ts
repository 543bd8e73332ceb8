import { type HotPath, OutcomeUnknownError } from "../database.ts";
import { Gathering } from "../gathering.ts";
import type { Statement, Value } from "../statement.ts";
import { isConflict, NotConnectedError } from "./errors.ts";
import type { NamedRun, RunDone } from "./named-query.ts";
import { type Retries, type RetryPolicy, retryPolicies } from "./retries.ts";
import type { PostgresStatements } from "./statements.ts";

export interface HotStatementsDeps {
  /** One attempt, on any connection. */
  readonly attempt: <T>(work: (statements: PostgresStatements) => Promise<T>) => Promise<T>;
  readonly retries: Retries;
  readonly onCommit: (transactions: number) => void;
  readonly monotonicMs: () => number;
}

/**
 * The hot path. In its first attempt a statement shares a transaction with others (SharedRuns). If that fails for a reason
 * that another statement may have caused, it runs alone. A lost answer is handled as for a single statement: the shared
 * transaction is all or nothing, and only idempotent statements are retried.
 */
export function createHotStatements({ attempt, retries, onCommit, monotonicMs }: HotStatementsDeps): HotPath {
  const shared = (runAll: RunAll) => new SharedRuns(runAll, monotonicMs);
  const reads = shared((runs) => attempt((statements) => statements.together(runs)));
  const inserts = shared((runs) => committed(runs, (statements) => statements.together(runs)));
  const updates = shared((runs) =>
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

  /** @param order of execution among the statements that share a transaction. */
  function run(shared: SharedRuns, policy: RetryPolicy, runIt: NamedRun, order = 0): Promise<RunDone> {
    let first: Promise<RunDone> | undefined = shared.run(runIt, order);
    return retries.run(async () => {
      const together = first;
      first = undefined;
      try {
        if (together !== undefined) return await together;
      } catch (error) {
        const isFinal = error instanceof OutcomeUnknownError || error instanceof NotConnectedError || isConflict(error);
        if (isFinal) throw error;
      }
      const done = await attempt((statements) => statements.single(runIt));
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

/** Executes all or none; if it throws, all runs are rejected with its error. */
type RunAll = (runs: readonly NamedRun[]) => Promise<readonly RunDone[]>;

interface WaitingRun {
  readonly run: NamedRun;
  readonly order: number;
  readonly resolve: (done: RunDone) => void;
  readonly reject: (reason: unknown) => void;
}

/** Limits the latency of the first statement in a batch, and the number of retries when one statement fails. */
const sharedMax = 32;

/**
 * Runs that arrive together share a connection, one write to the server and one answer: the round trip
 * and the commit cost more than most statements. Under load many arrive together, otherwise one.
 */
export class SharedRuns {
  readonly #runAll: RunAll;
  readonly #gathering: Gathering;
  #waiting: WaitingRun[] = [];

  constructor(runAll: RunAll, monotonicMs: () => number) {
    this.#runAll = runAll;
    this.#gathering = new Gathering(monotonicMs, sharedMax);
  }

  /** @param order of execution among the runs of a batch. */
  run(run: NamedRun, order: number): Promise<RunDone> {
    const { promise, resolve, reject } = Promise.withResolvers<RunDone>();
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ run, order, resolve, reject });
    return promise;
  }

  #flush(): void {
    if (this.#gathering.goesOn(this.#waiting.length)) {
      setImmediate(() => this.#flush());
      return;
    }
    const waiting = this.#waiting.sort((one, other) => one.order - other.order);
    this.#waiting = [];
    this.#gathering.began(waiting.length);
    for (let at = 0; at < waiting.length; at += sharedMax) {
      void this.#runTogether(waiting.slice(at, at + sharedMax));
    }
  }

  async #runTogether(waiting: readonly WaitingRun[]): Promise<void> {
    try {
      const done = await this.#runAll(waiting.map(({ run }) => run));
      for (const [at, { resolve, reject }] of waiting.entries()) {
        const own = done[at];
        if (own === undefined) reject(new Error("The database answered fewer statements than it was sent."));
        else resolve(own);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
