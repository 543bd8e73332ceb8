import { unavailable } from "../../base/errors.ts";

export interface BodyBudgetLimits {
  readonly bytesMax: number;
  readonly bytesPerClientMax: number;
}

export const bodyBudgetLimits: BodyBudgetLimits = {
  bytesMax: 256 * 1024 * 1024,
  bytesPerClientMax: 64 * 1024 * 1024,
};

/** Bodies below this are not counted: the number of connections bounds them. */
export const uncountedBytesMax = 64 * 1024;

/**
 * Memory for bodies that are held whole, over all requests at once. Each client has its own share, so one that sends
 * many large bodies cannot use up the room of all others.
 */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #perClient = new Map<string, number>();
  #bytes = 0;

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  /** @throws AppError unavailable when the room is used up. What was taken must be given back. */
  take(client: string, bytes: number): void {
    const ofClient = (this.#perClient.get(client) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#limits.bytesMax || ofClient > this.#limits.bytesPerClientMax) {
      throw unavailable("Too many large bodies are being received. Try again shortly.", 2);
    }
    this.#bytes += bytes;
    this.#perClient.set(client, ofClient);
  }

  giveBack(client: string, bytes: number): void {
    if (bytes === 0) return;
    const left = (this.#perClient.get(client) ?? 0) - bytes;
    this.#bytes -= bytes;
    if (left <= 0) this.#perClient.delete(client);
    else this.#perClient.set(client, left);
  }
}
