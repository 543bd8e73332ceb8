import type { LockName } from "../database.ts";

interface Line {
  /** Under way or waiting. */
  readonly length: number;
  /** When the last of them has ended. */
  readonly ended: Promise<void>;
}

/**
 * Transactions of one turn wait for each other within the process, so that however many there are, one connection of the pool
 * waits for the turn's row.
 */
export class TurnLines {
  readonly #lines = new Map<LockName, Line>();

  lengthOf(turn: LockName): number {
    return this.#lines.get(turn)?.length ?? 0;
  }

  /** Runs `transaction` when all that came before it have ended, one way or the other. */
  async run<T>(turn: LockName, tx: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(turn) ?? { length: 0, ended: Promise.resolve() };
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#lines.set(turn, { length: line.length + 1, ended });
    try {
      await line.ended;
      return await tx();
    } finally {
      end();
      const now = this.#lines.get(turn);
      if (now !== undefined) this.#lines.set(turn, { ...now, length: now.length - 1 });
    }
  }
}
