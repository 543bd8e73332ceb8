/**
 * Divides long work into short pieces. Each turn of the event loop continues one waiter, so a request in between waits for
 * one piece only, however many waiters there are.
 */
export class CooperativeQueue {
  #waiting: (() => void)[] = [];
  #scheduled = false;

  /** Resolves in its own turn of the event loop, in the order of the calls. */
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
