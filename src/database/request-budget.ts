import { AsyncLocalStorage } from "node:async_hooks";
import { unavailable } from "../base/errors.ts";
import { OutcomeUnknownError } from "./database.ts";

interface Budget {
  leftMs: number;
  /** How much of the request's work waits for the database now, and since when any of it does. */
  waits: number;
  since: number;
}

const budgets = new AsyncLocalStorage<Budget | undefined>();

/**
 * Runs a request that waits for the database for `ms` in all, over all statements, transactions and repeats. Time that it
 * spends on other things, such as receiving a file, does not count.
 */
export function withDatabaseBudget(ms: number, request: () => void): void {
  budgets.run({ leftMs: ms, waits: 0, since: 0 }, request);
}

/**
 * Waits for `work` until it ends or the request's time for the database is used up. Outside a request there is no limit.
 * @param work gets a function that says whether the request has stopped waiting: then it starts nothing more.
 * @throws OutcomeUnknownError when the time is up: what was started continues, and its result is lost. AppError unavailable
 * if the time was up before: nothing was started.
 */
export async function withinBudget<T>(
  monotonicMs: () => number,
  work: (isTooLate: () => boolean) => Promise<T>,
): Promise<T> {
  const budget = budgets.getStore();
  if (budget === undefined) return work(() => false);
  const startedAt = monotonicMs();
  // Nested and concurrent work waits at the same time, which is counted once.
  if (budget.waits === 0) budget.since = startedAt;
  const leftMs = budget.leftMs - (startedAt - budget.since);
  if (leftMs <= 0) throw unavailable("The database does not answer in time.", 2);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reject(new OutcomeUnknownError(new Error("The request has waited long enough.")));
  }, leftMs);
  budget.waits += 1;
  work(() => isLate).then(resolve, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    budget.waits -= 1;
    if (budget.waits === 0) budget.leftMs -= monotonicMs() - budget.since;
  }
}
