/**
 * Stores when something was last used, at most once in an interval for each key: a convenience that no request waits
 * for, and whose failure must not fail one.
 */
export interface LastUse<Key, Details extends readonly unknown[]> {
  /** @param recordedAt what the store says; null: never. @param details stored along. */
  note(key: Key, recordedAt: number | null, now: number, ...details: Details): void;
}

/** Keys remembered so that requests arriving before the first write is done do not write again. */
const rememberedMax = 10_000;

export function createLastUse<Key extends string | number, Details extends readonly unknown[] = []>(deps: {
  readonly intervalMs: number;
  readonly record: (key: Key, now: number, ...details: Details) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}): LastUse<Key, Details> {
  const tried = new Map<Key, number>();

  /** Either direction: a time from before the clock was set back is due as well. */
  const isDue = (at: number | null | undefined, now: number) =>
    at === null || at === undefined || Math.abs(now - at) >= deps.intervalMs;

  return {
    note(key, recordedAt, now, ...details) {
      if (!isDue(recordedAt, now) || !isDue(tried.get(key), now)) return;
      if (tried.size >= rememberedMax) tried.clear();
      tried.set(key, now);
      deps.record(key, now, ...details).catch(deps.onFailure);
    },
  };
}
