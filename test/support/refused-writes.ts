import type { Database } from "../../src/database/database.ts";
import { changeRows, sqliteOf, tablesOf } from "./engine-database.ts";

/** Makes the database refuse every write, as on a full disk. @returns a function that ends this. */
export async function refuseWrites(db: Database): Promise<() => Promise<void>> {
  if (db.engine === "sqlite") {
    const { writer } = sqliteOf(db);
    writer.pragma("query_only = ON");
    return async () => void writer.pragma("query_only = OFF");
  }
  const tables = await tablesOf(db);
  await changeRows(
    db,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full'', MESSAGE = ''No space left on device''; END'`,
  );
  for (const table of tables) {
    await changeRows(
      db,
      `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse()`,
    );
  }
  return async () => void (await changeRows(db, "DROP FUNCTION refuse() CASCADE"));
}
