import { unavailable } from "./errors.ts";

export interface FairQueueLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerClientMax: number;
}

/**
 * Bounds costly work. Clients are served round-robin, so that one flooding client does not block others.
 * @param refusal the message of the AppError `unavailable` when the queue, or its part for the client, is full.
 */
export function createFairQueue(limits: FairQueueLimits, refusal: string) {
  for (const [name, limit] of Object.entries(limits)) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`${name} must be a whole number of at least 1.`);
  }
  /** In the order in which clients are served; a served client moves to the end. Clients without waiting starts are removed. */
  const startsByClient = new Map<string, (() => void)[]>();
  let waiting = 0;
  let running = 0;

  function startNext(): void {
    const [next] = startsByClient;
    if (next === undefined || running >= limits.runningMax) return;
    const [client, starts] = next;
    startsByClient.delete(client);
    const start = starts.shift();
    if (starts.length > 0) startsByClient.set(client, starts);
    if (start === undefined) throw new Error("A client without waiting starts was served.");
    waiting -= 1;
    running += 1;
    start();
  }

  function acquireSlot(client: string): Promise<void> {
    if (running < limits.runningMax && waiting === 0) {
      running += 1;
      return Promise.resolve();
    }
    const starts = startsByClient.get(client) ?? [];
    if (waiting >= limits.waitingMax || starts.length >= limits.waitingPerClientMax) throw unavailable(refusal, 1);
    waiting += 1;
    startsByClient.set(client, starts);
    return new Promise((resolve) => starts.push(resolve));
  }

  return {
    /** @param client a throttle key. @throws AppError unavailable when the queue is full; what `work` throws. */
    async run<T>(client: string, work: () => Promise<T>): Promise<T> {
      await acquireSlot(client);
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    },
    /** Work that has not started yet. */
    get waiting(): number {
      return waiting;
    },
    get running(): number {
      return running;
    },
  };
}
