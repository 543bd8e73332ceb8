/**
 * Long work in short pieces: of all that wait, one goes on in each turn of the event loop, so that however many there
 * are, a request that comes in between waits for one piece.
 */
export class CooperativeQueue {
  #waiting: (() => void)[] = [];
  #scheduled = false;

  /** Resolves in a turn that is nobody else's. In the order in which it was asked. */
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
