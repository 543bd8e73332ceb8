export interface RecentEntriesLimits {
  /** From 2: at most so many entries are remembered, and those that were put last, half as many. */
  readonly max: number;
  /** An entry is remembered for at least so long, unless there are too many. Then it is forgotten when others are put. */
  readonly periodMs: number;
}

/**
 * A bounded map in memory that forgets what was put long ago, so that it becomes small again after a flood. It has two
 * generations instead of an order: finding the oldest entry of a `Map` takes longer the more entries were deleted before it, up
 * to 26 us among 50,000.
 */
export class RecentEntries<Key, Entry> {
  readonly #limits: RecentEntriesLimits;
  #recent = new Map<Key, Entry>();
  #before = new Map<Key, Entry>();
  #recentSince = Number.NEGATIVE_INFINITY;

  constructor(limits: RecentEntriesLimits) {
    this.#limits = limits;
  }

  get(key: Key): Entry | undefined {
    return this.#recent.get(key) ?? this.#before.get(key);
  }

  /** @param now in ms. When it is set back, a generation ends. */
  put(key: Key, entry: Entry, now: number): void {
    const { max, periodMs } = this.#limits;
    const isPeriodOver = now < this.#recentSince || now >= this.#recentSince + periodMs;
    if (isPeriodOver || this.#recent.size >= Math.floor(max / 2)) {
      this.#before = this.#recent;
      this.#recent = new Map();
      this.#recentSince = now;
    }
    this.#recent.set(key, entry);
  }

  delete(key: Key): void {
    this.#recent.delete(key);
    this.#before.delete(key);
  }

  clear(): void {
    this.#recent.clear();
    this.#before.clear();
  }
}
