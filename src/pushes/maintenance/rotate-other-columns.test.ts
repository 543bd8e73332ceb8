import { expect, test } from "vitest";
import { signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { makeFolder } from "../../../test/support/folders.ts";
import { open, rotate } from "../../../test/support/rotation.ts";
import { mailedLinks, signOnSteps, totpFactors, users } from "../../accounts/store/tables.ts";
import type { SealedRow } from "../../crypto/keyring.ts";
import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import { outbox } from "../../mail/store/emails.ts";
import { requests } from "../../requests/store/request-store.ts";
import { rotatedColumns } from "../../tables.ts";
import type { RowId } from "../store/reseal.ts";
import { linkDeliveries } from "../store/tables.ts";

/** Adds rows until every registered column has a value. */
async function sealEverywhere({ domain: { db, keyring, pushes } }: TestDomain): Promise<void> {
  const user = `INSERT INTO users (id, email, admin, created_at, updated_at, has_password, second_factors)
     VALUES (7, 'a', 0, 0, 0, 1, 0)`;
  await changeRows(db, user);
  await pushes.create({ payload: "x", name: "VPN", note: "for Jo" }, signedIn(7));
  await pushFiles(pushes, signedIn(7), [makeFile("plan.txt", "the plan")]);
  await pushes.create({ payload: "x" }, { ...stranger, answersRequest: { maxMinutes: null } });
  const [push] = await readRows<{ id: number }>(db, "SELECT max(id) AS id FROM pushes WHERE owner_id = 7");
  const sealed = (column: RotatedColumn, row: SealedRow) => keyring.seal(column, row, Buffer.from(column.column));
  const ofUser = { id: 7, ownerId: 7 };
  await changeRows(db, "UPDATE users SET password_sealed = ?", sealed(users.seals.password, ofUser));
  const link = Buffer.alloc(32, 8);
  await changeRows(
    db,
    `INSERT INTO mailed_links (digest, user_id, purpose, password_sealed, sets_password, created_at)
     VALUES (?, 7, 0, ?, 1, 0)`,
    link,
    sealed(mailedLinks.seals.signUpPassword, { id: link, ownerId: 7 }),
  );
  await changeRows(db, "INSERT INTO totp_factors VALUES (7, ?, 0, 0)", sealed(totpFactors.seals.totpSecret, ofUser));
  const step = Buffer.alloc(32, 9);
  const insertStep = "INSERT INTO sign_on_steps (digest, step_sealed, client, created_at) VALUES (?, ?, '', 0)";
  await changeRows(db, insertStep, step, sealed(signOnSteps.seals.signOnStep, { id: step, ownerId: null }));
  const insertLinkDelivery = `INSERT INTO link_deliveries (id, push_id, sequence, recipient_count, details_sealed, sent, given_up, put_off)
    VALUES (3, ?, 2, 1, ?, 0, 0, 0)`;
  await changeRows(
    db,
    insertLinkDelivery,
    push?.id ?? 0,
    sealed(linkDeliveries.seals.linkDelivery, { id: 3, ownerId: 7 }),
  );
  const insertRequest = `INSERT INTO requests (id, owner_id, link_check, details_sealed, created_at, expires_at, answers_max, answers)
    VALUES (4, 7, ?, ?, 0, 0, 1, 0)`;
  await changeRows(db, insertRequest, link, sealed(requests.seals.requestDetails, { id: 4, ownerId: 7 }));
  const insertEmail = "INSERT INTO outbox (id, email_sealed, created_at, attempts) VALUES (?, ?, 0, 0)";
  for (let id = 1; id <= 250; id += 1) {
    await changeRows(db, insertEmail, id, sealed(outbox.seals.email, { id, ownerId: null }));
  }
}

/** All values of a registered column with the row that they are bound to. */
async function valuesOf({ domain: { db } }: TestDomain, { table, column, seal }: RotatedColumn) {
  const { id, owner, from = table, only } = seal.rows;
  const rows = await readRows<{ id: RowId; ownerId: number | null; sealed: Buffer | null }>(
    db,
    `SELECT ${id} AS id, ${owner} AS "ownerId", ${table}.${column} AS sealed FROM ${from} ORDER BY ${id}`,
  );
  return rows.filter(({ ownerId }) => only === undefined || only === (ownerId === null ? "anonymous" : "owned"));
}

test("the values of every registered column are sealed under the new key, and open to what they were", async () => {
  const dataDir = makeFolder();
  const nameOf = ({ table, column }: RotatedColumn) => `${table}.${column}`;
  const openAll = async (fixture: TestDomain) => {
    const opened: Record<string, (string | undefined)[]> = {};
    for (const column of rotatedColumns) {
      opened[nameOf(column)] = (await valuesOf(fixture, column)).flatMap(({ sealed, ...row }) =>
        sealed === null ? [] : [fixture.domain.keyring.open(column, row, sealed)?.toString("hex")],
      );
    }
    return opened;
  };
  let before: Awaited<ReturnType<typeof openAll>>;
  {
    await using fixture = await open(dataDir, "first");
    await sealEverywhere(fixture);
    before = await openAll(fixture);
    for (const name of rotatedColumns.map(nameOf)) expect(before[name]?.length, name).toBeGreaterThan(0);
    expect(Object.values(before).flat()).not.toContain(undefined);
  }
  {
    await using fixture = await open(dataDir, "second", "first");
    expect((await rotate(fixture)).resealed).toBe(Object.values(before).flat().length);
    expect((await rotate(fixture)).resealed).toBe(0);
  }
  await using fixture = await open(dataDir, "second");
  expect(await openAll(fixture)).toEqual(before);
});

test("a value that does not open is reported with its row, and the key is kept", async () => {
  const dataDir = makeFolder();
  {
    await using fixture = await open(dataDir, "first");
    await sealEverywhere(fixture);
    await changeRows(fixture.domain.db, "UPDATE pushes SET owner_id = 8 WHERE name_sealed IS NOT NULL");
  }
  await using fixture = await open(dataDir, "second", "first");
  await expect(rotate(fixture)).rejects.toThrow(/of \d+ does not open under any given master key/);
});
