/** Bounds the number of keys with a remembered attempt. */
const rememberedMax = 10_000;

/**
 * Records the time of last use, at most once per interval and key. No request waits for the write or fails because of it.
 */
export function createLastUse<Key extends string | number, Details extends readonly unknown[] = []>(deps: {
  readonly intervalMs: number;
  readonly record: (key: Key, now: number, ...details: Details) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}) {
  const attemptedAt = new Map<Key, number>();

  /** Uses the absolute difference: a time recorded before the clock was set back is also due. */
  const isDue = (at: number | null | undefined, now: number) =>
    at === null || at === undefined || Math.abs(now - at) >= deps.intervalMs;

  return {
    /** @param recordedAt the stored time; null: never used. @param details stored with the time. */
    note(key: Key, recordedAt: number | null, now: number, ...details: Details): void {
      if (!isDue(recordedAt, now) || !isDue(attemptedAt.get(key), now)) return;
      if (attemptedAt.size >= rememberedMax) attemptedAt.clear();
      attemptedAt.set(key, now);
      deps.record(key, now, ...details).catch(deps.onFailure);
    },
  };
}
