import { unavailable } from "../../base/errors.ts";

export const bodyBudgetLimits = {
  bytesMax: 256 * 1024 * 1024,
  bytesPerClientMax: 64 * 1024 * 1024,
};

/** Smaller bodies are not counted: the number of connections limits them. */
export const uncountedBytesMax = 64 * 1024;

/**
 * Limits the memory of bodies that are read whole, over all requests. Each client has its own limit as well, so that one
 * client with many large bodies cannot block all others.
 */
export class BodyBudget {
  readonly #limits: typeof bodyBudgetLimits;
  readonly #perClient = new Map<string, number>();
  #bytes = 0;

  constructor(limits: typeof bodyBudgetLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  /** The caller must `release` the bytes. @throws AppError unavailable when the budget is used up. */
  take(client: string, bytes: number): void {
    const clientBytes = (this.#perClient.get(client) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#limits.bytesMax || clientBytes > this.#limits.bytesPerClientMax) {
      throw unavailable("Too many large bodies are being received. Try again shortly.", 2);
    }
    this.#bytes += bytes;
    this.#perClient.set(client, clientBytes);
  }

  release(client: string, bytes: number): void {
    if (bytes === 0) return;
    const remaining = (this.#perClient.get(client) ?? 0) - bytes;
    this.#bytes -= bytes;
    if (remaining <= 0) this.#perClient.delete(client);
    else this.#perClient.set(client, remaining);
  }
}

/** The bytes that one request holds of the budget. */
export class BudgetShare {
  readonly #budget: BodyBudget;
  readonly #client: string;
  #heldBytes = 0;

  constructor(budget: BodyBudget, client: string) {
    this.#budget = budget;
    this.#client = client;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @throws AppError unavailable when the budget is used up. */
  take(bytes: number): void {
    this.#budget.take(this.#client, bytes);
    this.#heldBytes += bytes;
  }

  release(): void {
    this.#budget.release(this.#client, this.#heldBytes);
    this.#heldBytes = 0;
  }
}
