import { createFairQueue } from "../../base/fair-queue.ts";

/** Smaller payloads need little memory and time, and share a commit with others. */
const largeBytes = 256 * 1024;
const limits = { runningMax: 1, waitingMax: 64, waitingPerClientMax: 16 };

export type LargePayloads = ReturnType<typeof createLargePayloads>;

/**
 * Large payloads are sealed and written one at a time: meanwhile each takes several times its bytes, and the event loop is free
 * between two of them.
 */
export function createLargePayloads() {
  const queue = createFairQueue(limits, "Too many large texts are being stored right now. Try again in a moment.");
  return {
    /** @param client a throttle key. @throws AppError unavailable when too many wait; what `write` throws. */
    write<T>(payloadBytes: number, client: string, write: () => Promise<T>): Promise<T> {
      return payloadBytes < largeBytes ? write() : queue.run(client, write);
    },
  };
}
