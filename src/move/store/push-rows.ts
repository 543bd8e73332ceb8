import { capabilitiesOf, type Engine, type Transaction } from "../../database/database.ts";
import { type Statement, sql } from "../../database/statement.ts";
import { type Row, type RowMover, readerOf, writerOf } from "./rows.ts";
import type { MovedTable } from "./tables.ts";

const keyColumn = "data_key_sealed";

const appendKey = sql<[sealed: Buffer], { id: number }>("INSERT INTO data_keys (sealed) VALUES (?) RETURNING id");
const insertKey: Statement<[pushId: number, sealed: Buffer], never> = sql(
  "INSERT INTO data_keys (id, sealed) VALUES (?, ?)",
);

/**
 * Pushes with their data keys. A key has its push's id on PostgreSQL, and the next one on SQLite, where rows of keys are
 * only ever appended; keys that were destroyed are not moved.
 */
export function createPushMover(pushes: MovedTable, to: Engine): RowMover {
  const stored = pushes.columns.filter((column) => column !== "data_key_id");
  const columns = [...stored, keyColumn];
  const source = `(SELECT pushes.*, data_keys.sealed AS ${keyColumn} FROM pushes
    LEFT JOIN data_keys ON data_keys.id = pushes.data_key_id AND pushes.ended_at IS NULL) AS sealed_pushes`;
  const writePushes = writerOf("pushes", [...stored, "data_key_id"]);

  async function writeKey(tx: Transaction, pushId: number, sealed: Buffer): Promise<number> {
    if (capabilitiesOf[to].dataKeyId === "push") {
      await tx.run(insertKey, pushId, sealed);
      return pushId;
    }
    const key = await tx.one(appendKey, sealed);
    if (key === undefined) throw new Error("The data key was not written.");
    return key.id;
  }

  return {
    ...{ name: "pushes", columns },
    read: readerOf(columns, source, ["id"]),
    keyOf: ({ id = null }) => [id],
    async write(tx, rows) {
      const withKeys: Row[] = [];
      for (const row of rows) {
        const { id, [keyColumn]: sealed } = row;
        if (typeof id !== "number") throw new Error("A push has no number.");
        withKeys.push({ ...row, data_key_id: Buffer.isBuffer(sealed) ? await writeKey(tx, id, sealed) : 0 });
      }
      await writePushes(tx, withKeys);
    },
  };
}
