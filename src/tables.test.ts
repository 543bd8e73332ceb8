import { describe, expect, test } from "vitest";
import { engine } from "../test/support/engine.ts";
import { openEngineDatabase, readRows } from "../test/support/engine-database.ts";
import { systemRandom } from "./base/random.ts";
import { createKeyring } from "./crypto/keyring.ts";
import { AuthenticatedTable } from "./database/authenticated-table.ts";
import type { Protection } from "./database/table.ts";
import { allTables, rotatedColumns, sealedColumns } from "./tables.ts";

/** What only one engine has. */
const ofOtherEngine = {
  sqlite: [
    "locks",
    "schema_version",
    "limit_windows",
    "limit_attempts",
    "pushes.last_claim_id",
    "audit_entries.claim_id",
  ],
  postgres: ["totals"],
}[engine];
/** Ids that the database assigns. */
const assigned = ["admin_audit_entries.id"];

const described = new Map<string, Protection>(
  allTables.flatMap(({ name, protections }) =>
    protections.map(([column, protection]) => [`${name}.${column}`, protection] as const),
  ),
);

/** `table.column` of everything that the database has. */
async function columnsOfSchema(): Promise<readonly string[]> {
  const rows = await readRows<{ name: string }>(openEngineDatabase(), {
    sqlite: `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
      WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%'`,
    postgres: `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema()`,
  });
  return rows.map(({ name }) => name).filter((name) => !assigned.includes(name));
}

test("every column of the schema says how it is protected, and no other one is described", async () => {
  const ours = [...described.keys()].filter(
    (name) => !ofOtherEngine.includes(name) && !ofOtherEngine.includes(name.split(".")[0] ?? ""),
  );
  expect(ours.sort()).toEqual([...(await columnsOfSchema())].sort());
});

test("columns are named as sealed if they are described as sealed", async () => {
  const named = (await columnsOfSchema()).filter((name) => name.includes("sealed"));
  const sealed = new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`));
  // The secrets of the domain are values by name.
  sealed.delete("meta.value");
  expect([...sealed].sort()).toEqual(named.sort());
});

describe.each(allTables.map((table) => [table.name, table] as const))("%s", (_, table) => {
  test("says what protects a column that is neither sealed nor under the MAC of the row", () => {
    for (const [column, protection] of table.protections) {
      if ("reason" in protection) expect(protection.reason, column).toMatch(/^\S.{15,}/);
    }
  });

  test("has a MAC if one of its columns is authenticated by it", () => {
    const authenticated = table.protections.some(([, { how }]) => how === "mac");
    expect(table instanceof AuthenticatedTable).toBe(authenticated);
    expect(table.columnNames.includes("mac")).toBe(authenticated);
  });
});

test("no two columns open each other's values", () => {
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  const row = { id: 1, ownerId: 7 };
  for (const column of rotatedColumns) {
    const envelope = keyring.seal(column, row, Buffer.from("a label"));
    expect(rotatedColumns.filter((other) => keyring.open(other, row, envelope) !== undefined)).toEqual([column]);
  }
});
