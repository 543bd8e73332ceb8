import type { Database } from "../../db/sqlite.ts";

type Counted = "users" | "api_tokens" | "sessions" | "passkeys";

/**
 * Ids of what people and operators name by hand are counted one by one; none is given twice, even when its row is
 * deleted. The function returned runs inside a unit of `db.write`.
 */
export function countedIds(db: Database): (name: Counted) => number {
  const take = db.writer.prepare<[string], { next_id: number }>(
    `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
     ON CONFLICT (name) DO UPDATE SET next_id = next_id + 1 RETURNING next_id`,
  );
  return (name) => {
    const row = take.get(name);
    if (row === undefined) throw new Error("No id was reserved.");
    return row.next_id - 1;
  };
}
