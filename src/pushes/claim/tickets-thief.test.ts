import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { minuteMs } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { digest } from "../../crypto/digests.ts";
import { createKeyring, type Keyring } from "../../crypto/keyring.ts";
import { keyBytes } from "../../crypto/sodium.ts";
import { rowSecrets } from "../store/tables.ts";

const owner = signedIn(7);

interface StoredTicket {
  readonly push_id: number;
  readonly file_id: number;
  readonly row_secret_id: number;
}

async function ticketTo(fixture: TestDomain, name: string, ownerId = 7): Promise<string> {
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, signedIn(ownerId), [makeFile(name, `in ${name}`)]);
  return (await claimFiles(pushes, urlToken, stranger))[0]?.ticket ?? "";
}

const ticketsIn = ({ domain }: TestDomain) =>
  readRows<StoredTicket>(domain.db, "SELECT push_id, file_id, row_secret_id FROM download_tickets ORDER BY file_id");

async function contentOf(fixture: TestDomain, ticket: string): Promise<string | undefined> {
  const download = await fixture.domain.pushes.openTicket(ticket, stranger);
  return download && (await readDownload(download)).toString();
}

test("a ticket row that was changed to name another file, push or key opens nothing", async () => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  const own = await ticketTo(fixture, "own", 8);
  await ticketTo(fixture, "other");
  const [mine, theirs] = await ticketsIn(fixture);
  if (mine === undefined || theirs === undefined) throw new Error("There are not two tickets.");
  const write = (row: StoredTicket) =>
    changeRows(
      db,
      "UPDATE download_tickets SET push_id = ?, file_id = ?, row_secret_id = ? WHERE push_id = ? OR row_secret_id = ?",
      row.push_id,
      row.file_id,
      row.row_secret_id,
      mine.push_id,
      mine.row_secret_id,
    );
  const forgeries: readonly StoredTicket[] = [
    { ...mine, push_id: theirs.push_id, file_id: theirs.file_id },
    { ...mine, file_id: theirs.file_id },
    { ...mine, row_secret_id: theirs.row_secret_id },
  ];
  for (const forged of forgeries) {
    await write(forged);
    expect(await contentOf(fixture, own)).toBeUndefined();
    await write(mine);
    expect(await contentOf(fixture, own)).toBe("in own");
  }
  await changeRows(
    db,
    "UPDATE files SET push_id = ?, position = position + 1 WHERE id = ?",
    mine.push_id,
    theirs.file_id,
  );
  await write({ ...mine, file_id: theirs.file_id, row_secret_id: theirs.row_secret_id });
  expect(await contentOf(fixture, own)).toBeUndefined();
});

test("a ticket row that somebody without the keys has written opens nothing", async () => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  await ticketTo(fixture, "other");
  const [row] = await ticketsIn(fixture);
  if (row === undefined) throw new Error("There is no ticket.");
  const chosen = randomBytes(32).toString("base64url");
  const keyring = createKeyring([randomBytes(keyBytes)], systemRandom);
  const sealed = keyring.sealJointly(
    rowSecrets.seals.downloadTicket,
    { id: row.file_id, ownerId: 7 },
    [chosen, row.push_id],
    randomBytes(keyBytes),
  );
  await changeRows(db, "UPDATE row_secrets SET sealed = ? WHERE id = ?", sealed, row.row_secret_id);
  for (const forged of [digest(chosen), Buffer.from(chosen, "base64url"), Buffer.from(chosen)]) {
    await changeRows(db, "UPDATE download_tickets SET digest = ?", forged);
    expect(await contentOf(fixture, chosen)).toBeUndefined();
  }
});

/** Whether the keys that derive from a master key and a ticket open any value of the database. */
async function opensAny(fixture: TestDomain, keyring: Keyring, ticket: string, row: StoredTicket): Promise<boolean> {
  const values = await readRows<{ sealed: Buffer }>(fixture.domain.db, "SELECT sealed FROM row_secrets");
  const bound = { id: row.file_id, ownerId: 7 };
  return values.some(
    ({ sealed }) =>
      keyring.openJointly(rowSecrets.seals.downloadTicket, bound, [ticket, row.push_id], sealed) !== undefined,
  );
}

test("a ticket opens no copy of the database without the master key, and none without the ticket", async () => {
  await using fixture = await openTestDomain();
  const ticket = await ticketTo(fixture, "plan");
  const [row] = await ticketsIn(fixture);
  if (row === undefined) throw new Error("There is no ticket.");
  const { keyring } = fixture.domain;
  expect(await opensAny(fixture, keyring, ticket, row)).toBe(true);
  expect(await opensAny(fixture, createKeyring([randomBytes(keyBytes)], systemRandom), ticket, row)).toBe(false);
  const stored = await readRows<{ digest: Buffer }>(fixture.domain.db, "SELECT digest FROM download_tickets");
  for (const { digest: known } of stored) {
    for (const guess of [known.toString("base64url"), known.toString("hex"), ""]) {
      expect(await opensAny(fixture, keyring, guess, row)).toBe(false);
    }
  }
});

test.each([
  ["its time", (fixture: TestDomain) => makeSweeper(fixture).removeExpiredTickets()],
  ["a deletion", ({ domain: { pushes } }: TestDomain, urlToken: string) => pushes.expire(urlToken, owner)],
] as const)("after %s, a ticket and the master key together open nothing in the database", async (_, end) => {
  await using fixture = await openTestDomain();
  const { pushes, keyring } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("plan", "the plan")]);
  const ticket = (await claimFiles(pushes, urlToken, stranger))[0]?.ticket ?? "";
  const [row] = await ticketsIn(fixture);
  if (row === undefined) throw new Error("There is no ticket.");
  expect(await opensAny(fixture, keyring, ticket, row)).toBe(true);
  fixture.clock.advance(15 * minuteMs);
  await end(fixture, urlToken);
  expect(await ticketsIn(fixture)).toEqual([]);
  expect(await opensAny(fixture, keyring, ticket, row)).toBe(false);
});
