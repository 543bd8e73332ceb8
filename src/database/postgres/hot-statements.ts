import { type HotPath, OutcomeUnknownError } from "../database.ts";
import type { Statement, Value } from "../statement.ts";
import { isConflict, NotConnectedError } from "./failures.ts";
import type { NamedRun, RunDone } from "./named-query.ts";
import type { PostgresStatements } from "./postgres-statements.ts";
import { type Retries, type RetryPolicy, retryPolicies } from "./retries.ts";
import { SharedRuns } from "./shared-runs.ts";

export interface HotStatementsDeps {
  /** One try, on whatever connection. */
  readonly attempt: <T>(work: (statements: PostgresStatements) => Promise<T>) => Promise<T>;
  readonly retries: Retries;
  readonly onCommit: (units: number) => void;
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
