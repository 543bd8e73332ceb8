import { expect, test } from "vitest";
import { engine } from "../../../test/support/engine.ts";
import { openEngineDatabase, readRows } from "../../../test/support/engine-database.ts";
import { Table } from "../../database/table.ts";
import * as descriptions from "./tables.ts";

/** Over a network the answer to a claim can be lost. PostgreSQL then finds the claim by these columns. */
const claimColumns: Readonly<Record<string, string>> = { pushes: "last_claim_id", audit_entries: "claim_id" };
const { readPushes, pushOptions, readFiles, readAuditEntries, newPushes, claimedEntries, ...tables } = descriptions;

for (const table of Object.values(tables).filter((table) => table instanceof Table)) {
  test(`the description of ${table.name} has all columns of the schema and no others`, async () => {
    const columns = await readRows<{ name: string }>(
      openEngineDatabase(),
      {
        sqlite: "SELECT name FROM pragma_table_info(?)",
        postgres: `SELECT column_name AS name
          FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?`,
      },
      table.name,
    );
    const ours = columns.map(({ name }) => name).filter((name) => name !== claimColumns[table.name]);
    expect(ours.sort()).toEqual([...table.columnNames].sort());
  });
}

test("only PostgreSQL has the columns for claim ids", async () => {
  const db = openEngineDatabase();
  const read = readRows(db, "SELECT last_claim_id, claim_id FROM pushes, audit_entries");
  if (engine === "postgres") expect(await read).toEqual([]);
  else await expect(read).rejects.toThrow("no such column");
});
