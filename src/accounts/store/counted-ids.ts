import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

type Counted = "users" | "api_tokens" | "sessions" | "passkeys";

const takeId = sql<[name: string], { nextId: number }>(
  `INSERT INTO id_blocks (name, next_id) VALUES (?, 2)
   ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + 1 RETURNING next_id AS nextId`,
);

/** Ids of what people and operators name by hand are counted one by one; none is given twice, even when its row goes. */
export async function nextId(tx: Transaction, name: Counted): Promise<number> {
  const row = await tx.one(takeId, name);
  if (row === undefined) throw new Error("No id was reserved.");
  return row.nextId - 1;
}
