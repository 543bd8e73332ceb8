import type { Database } from "./sqlite.ts";

/**
 * Integer ids that are known before the row is written (a seal binds a value to its row's id) and unique over all
 * processes on the database: each process reserves a block and hands out its members. A restart skips the rest.
 */
export interface Ids {
  next(): Promise<number>;
}

const blockSize = 1_024;

export function createIds(db: Database, name: string): Ids {
  const reserve = db.writer.prepare<[string, number, number], { next_id: number }>(
    `INSERT INTO id_blocks (name, next_id) VALUES (?, 1 + ?)
     ON CONFLICT (name) DO UPDATE SET next_id = next_id + ? RETURNING next_id`,
  );
  let next = 0;
  let end = 0;
  let reserving: Promise<void> | undefined;

  async function reserveBlock(): Promise<void> {
    const row = await db.write(() => reserve.get(name, blockSize, blockSize));
    if (row === undefined) throw new Error("The id block was not reserved.");
    end = row.next_id;
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
