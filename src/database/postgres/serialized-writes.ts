import type { LockName } from "../database.ts";

interface Queue {
  /** Running or waiting. */
  readonly length: number;
  /** Resolves when the last transaction has ended. */
  readonly ended: Promise<void>;
}

/**
 * Queues serialized transactions within the process, so that only one connection of the pool waits for a lock's row, however
 * many transactions need it.
 */
export class LockQueues {
  readonly #queues = new Map<LockName, Queue>();

  lengthOf(lock: LockName): number {
    return this.#queues.get(lock)?.length ?? 0;
  }

  /** Runs `transaction` when all earlier ones have succeeded or failed. */
  async run<T>(lock: LockName, transaction: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(lock) ?? { length: 0, ended: Promise.resolve() };
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#queues.set(lock, { length: queue.length + 1, ended });
    try {
      await queue.ended;
      return await transaction();
    } finally {
      end();
      const now = this.#queues.get(lock);
      if (now !== undefined) this.#queues.set(lock, { ...now, length: now.length - 1 });
    }
  }
}
