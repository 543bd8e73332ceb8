import { AsyncLocalStorage } from "node:async_hooks";
import { OutcomeUnknownError } from "./database.ts";

interface Budget {
  leftMs: number;
}

const budgets = new AsyncLocalStorage<Budget | undefined>();

/**
 * Runs a request that waits for the database for `ms` in all, over all statements, transactions and repeats. Time that it
 * spends on other things, such as receiving a file, does not count.
 */
export function withDatabaseBudget(ms: number, request: () => void): void {
  budgets.run({ leftMs: ms }, request);
}

/**
 * Waits for `work` as long as the request may; outside a request, to its end.
 * @throws OutcomeUnknownError when the time is up: the work continues, and its result is lost.
 */
export async function withinBudget<T>(monotonicMs: () => number, work: () => Promise<T>): Promise<T> {
  const budget = budgets.getStore();
  if (budget === undefined) return await work();
  const startedAt = monotonicMs();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const late = () => reject(new OutcomeUnknownError(new Error("The request has waited long enough.")));
    timer = setTimeout(late, Math.max(0, budget.leftMs));
  });
  try {
    // What belongs to the work is counted with it.
    return await Promise.race([budgets.run(undefined, work), timeout]);
  } finally {
    clearTimeout(timer);
    budget.leftMs -= monotonicMs() - startedAt;
  }
}
