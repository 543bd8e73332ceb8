/** A server whose turns take long gathers for a few of them only. */
const gatheringMsMax = 10;

/**
 * Decides when work that arrives together begins. After a batch of several, the next one begins when a turn of the event loop has brought
 * nothing more. Clients that were answered together send their next requests together; without this wait they would become
 * two groups that take turns, with twice as many commits. A lone client waits for nothing.
 */
export class Gathering {
  readonly #monotonicMs: () => number;
  readonly #batchMax: number;
  #lastBatch = 0;
  /** What waited in the last turn of the event loop. */
  #gathered = 0;
  #gatheredUntil = 0;

  constructor(monotonicMs: () => number, batchMax: number) {
    this.#monotonicMs = monotonicMs;
    this.#batchMax = batchMax;
  }

  /** Asked once a turn. @param waiting how many wait now. @returns whether the batch should wait for another turn. */
  goesOn(waiting: number): boolean {
    if (this.#lastBatch <= 1) return false;
    const now = this.#monotonicMs();
    if (this.#gathered === 0) this.#gatheredUntil = now + gatheringMsMax;
    const isMore = waiting > this.#gathered && waiting < this.#batchMax && now < this.#gatheredUntil;
    this.#gathered = isMore ? waiting : 0;
    return isMore;
  }

  began(batch: number): void {
    this.#lastBatch = batch;
  }
}
