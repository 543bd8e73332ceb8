import { expect, test } from "vitest";
import type { TestHouse } from "../../test/support/house.ts";
import { makeFolder, open, rotate } from "../../test/support/rotation.ts";
import { sealedElsewhere } from "../house.ts";

/** Rows in every column that other rooms keep sealed. */
function sealElsewhere({ house: { db, keyring } }: TestHouse): void {
  const user =
    "INSERT INTO users (id, email, password_hash, admin, created_at, updated_at) VALUES (7, 'a', '', 0, 0, 0)";
  db.writer.exec(user);
  const sealFor = (table: string, id: number | Buffer) => {
    const column = sealedElsewhere.find((each) => each.table === table);
    if (column === undefined) throw new Error(`Nobody says what is sealed in ${table}.`);
    return keyring.seal(column.contextOf(id), Buffer.from(table));
  };
  db.writer.prepare("INSERT INTO totp_factors VALUES (7, ?, 0, 0)").run(sealFor("totp_factors", 7));
  const step = Buffer.alloc(32, 9);
  db.writer
    .prepare("INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, '', 0)")
    .run(step, sealFor("sign_on_steps", step));
  for (let id = 1; id <= 250; id += 1) {
    db.writer
      .prepare("INSERT INTO outbox (id, letter_sealed, created_at, attempts) VALUES (?, ?, 0, 0)")
      .run(id, sealFor("outbox", id));
  }
}

test("what other rooms keep sealed is sealed under the new key as well, and opens", async () => {
  const dataDir = makeFolder();
  {
    await using world = await open(dataDir, "first");
    sealElsewhere(world);
  }
  {
    await using world = await open(dataDir, "second", "first");
    expect((await rotate(world)).resealed).toBe(1 + 1 + 1 + 250);
    expect((await rotate(world)).resealed).toBe(0);
  }
  await using world = await open(dataDir, "second");
  const { db, keyring } = world.house;
  for (const { table, idColumn, sealedColumn, contextOf } of sealedElsewhere) {
    const rows = db.reader
      .prepare<[], { id: number | Buffer; sealed: Buffer }>(
        `SELECT ${idColumn} AS id, ${sealedColumn} AS sealed FROM ${table}`,
      )
      .all();
    expect(rows.length).toBeGreaterThan(0);
    for (const { id, sealed } of rows) expect(keyring.open(contextOf(id), sealed)?.toString()).toBe(table);
  }
});

test("every column of sealed values is known to the rotation", async () => {
  await using world = await open(makeFolder(), "first");
  const columns = world.house.db.reader
    .prepare<[], { name: string }>(
      `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND columns.name LIKE '%sealed%' ORDER BY 1`,
    )
    .all();
  const ofPushes = ["data_keys.sealed", "payloads.sealed", "files.details_sealed", "files.key_sealed"].concat(
    ["token_sealed", "name_sealed", "note_sealed"].map((column) => `pushes.${column}`),
  );
  const elsewhere = sealedElsewhere.map(({ table, sealedColumn }) => `${table}.${sealedColumn}`);
  expect(columns.map(({ name }) => name)).toEqual([...ofPushes, ...elsewhere].sort());
});
