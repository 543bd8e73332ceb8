import { unavailable } from "./errors.ts";

/** How much may wait is counted in the costs of the work. */
export interface FairQueueLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  readonly waitingPerClientMax: number;
}

interface Start {
  readonly start: () => void;
  readonly cost: number;
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
  const startsByClient = new Map<string, Start[]>();
  let waiting = 0;
  let waitingCost = 0;
  let running = 0;

  function startNext(): void {
    const [next] = startsByClient;
    if (next === undefined || running >= limits.runningMax) return;
    const [client, starts] = next;
    startsByClient.delete(client);
    const started = starts.shift();
    if (starts.length > 0) startsByClient.set(client, starts);
    if (started === undefined) throw new Error("A client without waiting starts was served.");
    waiting -= 1;
    waitingCost -= started.cost;
    running += 1;
    started.start();
  }

  function acquireSlot(client: string, cost: number): Promise<void> {
    if (running < limits.runningMax && waiting === 0) {
      running += 1;
      return Promise.resolve();
    }
    const starts = startsByClient.get(client) ?? [];
    const ofClient = starts.reduce((sum, waitingStart) => sum + waitingStart.cost, cost);
    if (waitingCost + cost > limits.waitingMax || ofClient > limits.waitingPerClientMax) throw unavailable(refusal, 1);
    waiting += 1;
    waitingCost += cost;
    startsByClient.set(client, starts);
    return new Promise((start) => starts.push({ start, cost }));
  }

  return {
    /**
     * @param client a throttle key. @param cost of the work, in the units of the limits.
     * @throws AppError unavailable when the queue is full; what `work` throws.
     */
    async run<T>(client: string, work: () => Promise<T>, cost = 1): Promise<T> {
      await acquireSlot(client, cost);
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
