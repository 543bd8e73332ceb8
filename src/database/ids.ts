import type { Database } from "./database.ts";
import { sql } from "./statement.ts";

/**
 * Integer ids that are known before the row is written, because a seal binds a value to its row's id. They are unique over
 * all processes: each process reserves a block and hands out its ids. A restart skips the rest of the block.
 */
export interface Ids {
  next(): Promise<number>;
}

const blockSize = 1_024;

const reserve = sql<[name: string, size: number, size: number], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES (?, 1 + ?)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + ? RETURNING next_id AS nextId`,
);

export function createIds(db: Pick<Database, "autocommit">, name: string): Ids {
  let next = 0;
  let end = 0;
  let reserving: Promise<void> | undefined;

  async function reserveBlock(): Promise<void> {
    // Reserving twice only leaves a block unused.
    const row = await db.autocommit({ retry: "idempotent" }).one(reserve, name, blockSize, blockSize);
    if (row === undefined) throw new Error("The id block was not reserved.");
    end = row.nextId;
    next = end - blockSize;
  }

  return {
    async next() {
      while (next >= end) {
        reserving ??= reserveBlock().finally(() => {
          reserving = undefined;
        });
        await reserving;
      }
      const id = next;
      next += 1;
      return id;
    },
  };
}
