/** About two milliseconds of parsing. */
export const bytesPerTurnMax = 256 * 1024;

/**
 * Divides the event loop between all bodies that are being parsed and everything else: after `bytesMax` bytes, the next ones
 * wait for the next turn of the loop, however many clients send. Waiting bodies are served in the order in which they arrived.
 */
export class LoopTurns {
  readonly #bytesMax: number;
  readonly #nextTurn: () => Promise<unknown>;
  #bytes = 0;
  #next: Promise<void> | undefined;

  /** @param nextTurn resolves after the event loop has served everything else that is ready. */
  constructor(bytesMax: number, nextTurn: () => Promise<unknown>) {
    this.#bytesMax = bytesMax;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when these bytes may be parsed. One call may exceed the rest of a turn. */
  async take(bytes: number): Promise<void> {
    while (this.#bytes >= this.#bytesMax) {
      this.#next ??= this.#startNext();
      await this.#next;
    }
    this.#bytes += bytes;
  }

  async #startNext(): Promise<void> {
    await this.#nextTurn();
    this.#bytes = 0;
    this.#next = undefined;
  }
}
