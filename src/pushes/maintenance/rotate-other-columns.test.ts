import { expect, test } from "vitest";
import type { TestDomain } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFolder, open, rotate } from "../../../test/support/rotation.ts";
import { sealedColumnsOutsidePushes } from "../../domain.ts";

/** Adds a row for every sealed column outside of pushes. */
async function sealElsewhere({ domain: { db, keyring } }: TestDomain): Promise<void> {
  const user =
    "INSERT INTO users (id, email, password_hash, admin, created_at, updated_at) VALUES (7, 'a', '', 0, 0, 0)";
  await changeRows(db, user);
  const sealFor = (table: string, id: number | Buffer) => {
    const column = sealedColumnsOutsidePushes.find((each) => each.table === table);
    if (column === undefined) throw new Error(`No sealed column of ${table} is known.`);
    return keyring.seal(column.contextOf(id), Buffer.from(table));
  };
  await changeRows(db, "INSERT INTO totp_factors VALUES (7, ?, 0, 0)", sealFor("totp_factors", 7));
  await changeRows(db, "INSERT INTO imported_backup_code_keys VALUES (7, ?)", sealFor("imported_backup_code_keys", 7));
  const step = Buffer.alloc(32, 9);
  const insertStep = "INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, '', 0)";
  await changeRows(db, insertStep, step, sealFor("sign_on_steps", step));
  const insertLinkDelivery = `INSERT INTO link_deliveries (id, push_id, sequence, recipient_count, details_sealed, sent, given_up, put_off)
    VALUES (3, 1, 2, 1, ?, 0, 0, 0)`;
  await changeRows(db, insertLinkDelivery, sealFor("link_deliveries", 3));
  const insertEmail = "INSERT INTO outbox (id, email_sealed, created_at, attempts) VALUES (?, ?, 0, 0)";
  for (let id = 1; id <= 250; id += 1) await changeRows(db, insertEmail, id, sealFor("outbox", id));
}

test("sealed values of other parts are sealed under the new key as well, and open", async () => {
  const dataDir = makeFolder();
  {
    await using fixture = await open(dataDir, "first");
    await sealElsewhere(fixture);
  }
  {
    await using fixture = await open(dataDir, "second", "first");
    expect((await rotate(fixture)).resealed).toBe(2 + 1 + 1 + 1 + 1 + 250);
    expect((await rotate(fixture)).resealed).toBe(0);
  }
  await using fixture = await open(dataDir, "second");
  const { db, keyring } = fixture.domain;
  for (const { table, idColumn, sealedColumn, contextOf } of sealedColumnsOutsidePushes) {
    const rows = await readRows<{ id: number | Buffer; sealed: Buffer }>(
      db,
      `SELECT ${idColumn} AS id, ${sealedColumn} AS sealed FROM ${table}`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { id, sealed } of rows) expect(keyring.open(contextOf(id), sealed)?.toString()).toBe(table);
  }
});

test("the rotation covers every column of sealed values", async () => {
  await using fixture = await open(makeFolder(), "first");
  const columns = await readRows(fixture.domain.db, {
    sqlite: `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
      WHERE tables.type = 'table' AND columns.name LIKE '%sealed%'`,
    postgres: `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema() AND column_name LIKE '%sealed%'`,
  });
  const ofPushes = ["data_keys.sealed", "payloads.sealed", "files.details_sealed", "files.key_sealed"].concat(
    ["token_sealed", "name_sealed", "note_sealed"].map((column) => `pushes.${column}`),
  );
  const outsidePushes = sealedColumnsOutsidePushes.map(({ table, sealedColumn }) => `${table}.${sealedColumn}`);
  expect(columns.map(({ name }) => name).sort()).toEqual([...ofPushes, ...outsidePushes].sort());
});
