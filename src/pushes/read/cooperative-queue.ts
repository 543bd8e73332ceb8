/**
 * Divides long work into short pieces. In each turn of the event loop one waiter continues, so that however many there are,
 * a request in between waits for one piece only.
 */
export class CooperativeQueue {
  #waiting: (() => void)[] = [];
  #scheduled = false;

  /** Resolves in a turn of its own, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
