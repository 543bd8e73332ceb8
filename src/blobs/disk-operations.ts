import { secondMs } from "../base/clock.ts";
import { createFairQueue } from "../base/fair-queue.ts";
import { BlobStoreError } from "./blob-store.ts";

/** Node has four threads for files, passwords and host names. While a disk hangs, one of them stays free. */
const runningMax = 3;
const waitingMax = 10_000;
/** The system itself may wait forever for a network mount. */
const operationMsMax = 20 * secondMs;

export type DiskOperations = ReturnType<typeof createDiskOperations>;

/**
 * Runs operations on a disk that may hang. Node cannot cancel them, so each keeps its thread until the disk answers.
 * @param abortAfter a signal that is aborted after `ms`.
 */
export function createDiskOperations(abortAfter: (ms: number) => AbortSignal) {
  const queue = createFairQueue(
    { runningMax, waitingMax, waitingPerClientMax: waitingMax },
    "The disk is busy right now. Try again in a moment.",
  );

  /**
   * @param signal ends the waiting earlier. An operation that has not begun by then never begins.
   * @param discard called with the result of an operation that ends after nobody waits for it any more.
   * @throws BlobStoreError when the disk does not answer in time; AppError `unavailable`; what `operation` throws.
   */
  return <T>(
    operation: () => Promise<T>,
    { signal, discard }: { signal?: AbortSignal | undefined; discard?: (late: T) => Promise<void> } = {},
  ): Promise<T> => {
    const signals = [abortAfter(operationMsMax), ...(signal === undefined ? [] : [signal])];
    const isAborted = () => signals.some(({ aborted }) => aborted);
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new BlobStoreError("The disk does not answer.", "ETIMEDOUT"));
      if (isAborted()) return giveUp();
      for (const one of signals) one.addEventListener("abort", giveUp, { once: true });
      queue
        .run("disk", async () => {
          if (isAborted()) return;
          const result = await operation();
          if (isAborted()) await discard?.(result);
          else resolve(result);
        })
        .catch(reject)
        .finally(() => {
          for (const one of signals) one.removeEventListener("abort", giveUp);
        });
    });
  };
}
