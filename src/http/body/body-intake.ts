import { unavailable } from "../../base/errors.ts";
import { ClientShares } from "../../limits/client-shares.ts";
import { bytesPerTurnMax, LoopTurns } from "./loop-turns.ts";
import { SmallBodies } from "./small-bodies.ts";

const mebibyte = 1024 * 1024;

/** An eighth of the memory that the process may use, within bounds. */
export function bodyMemoryLimits(memoryBytes: number) {
  const max = Math.min(256 * mebibyte, Math.max(48 * mebibyte, Math.floor(memoryBytes / 8)));
  // The longest body that is read whole must fit in it.
  return { max, perClientMax: Math.max(32 * mebibyte, max / 4) };
}

/** The first bytes of each body are not counted: the number of connections limits them. */
const uncountedBytes = 16 * 1024;

/** The resources that all requests share for reading their bodies: memory and the event loop. */
export class BodyIntake {
  readonly #memory: ClientShares;
  readonly #isMemoryShort: () => boolean;
  readonly turns: LoopTurns;
  readonly small = new SmallBodies();

  /** @param isMemoryShort whether the process has no room for another large body, whatever is counted. */
  constructor(
    limits: ReturnType<typeof bodyMemoryLimits>,
    isMemoryShort: () => boolean,
    nextTurn: () => Promise<unknown>,
  ) {
    this.#memory = new ClientShares(limits);
    this.#isMemoryShort = isMemoryShort;
    this.turns = new LoopTurns(bytesPerTurnMax, nextTurn);
  }

  get heldBytes(): number {
    return this.#memory.held;
  }

  hold(client: string): BodyHold {
    return new BodyHold(this.#memory, this.#isMemoryShort, client);
  }
}

/** The bytes of one request's body that are in memory: those that have arrived, whatever length was declared. */
export class BodyHold {
  readonly #memory: ClientShares;
  readonly #isMemoryShort: () => boolean;
  readonly #client: string;
  #bytes = 0;
  #counted = 0;
  #isReleased = false;

  constructor(memory: ClientShares, isMemoryShort: () => boolean, client: string) {
    this.#memory = memory;
    this.#isMemoryShort = isMemoryShort;
    this.#client = client;
  }

  /** @throws AppError unavailable when the memory, or this client's share, is used up. */
  add(bytes: number): void {
    // The connection is closed: nothing more arrives, and nothing would release what is counted now.
    if (this.#isReleased) return;
    const counted = Math.max(0, this.#bytes + bytes - uncountedBytes) - this.#counted;
    const beginsMebibyte = Math.floor(this.#bytes / mebibyte) < Math.floor((this.#bytes + bytes) / mebibyte);
    if ((beginsMebibyte && this.#isMemoryShort()) || !this.#memory.take(this.#client, counted)) {
      throw unavailable("Too many large bodies are being received. Try again shortly.", 2);
    }
    this.#bytes += bytes;
    this.#counted += counted;
  }

  /** For a body that passes: at any time at most `bytesMax` of it are in memory. @throws as `add`. */
  async *passing(content: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
    let uncounted = bytesMax;
    for await (const chunk of content) {
      const counted = Math.min(uncounted, chunk.length);
      uncounted -= counted;
      if (counted > 0) this.add(counted);
      yield chunk;
    }
  }

  /** The answer has ended. */
  release(): void {
    if (this.#counted > 0) this.#memory.release(this.#client, this.#counted);
    this.#counted = 0;
    this.#isReleased = true;
  }
}
