import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import {
  countEveryone,
  countStrangers,
  openTestDomain,
  signedIn,
  stranger,
  type TestDomain,
} from "../../../test/support/domain.ts";
import { engine } from "../../../test/support/engine.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { clockSpreadMs, dayMs, hourMs, minuteMs } from "../../base/clock.ts";
import { ClockTrust } from "../../base/clock-trust.ts";
import { nothingElse } from "../../database/database.ts";
import { runBulkEndings } from "../maintenance/bulk-endings.ts";
import type { BulkEndingFilter } from "../push.ts";

const owner = signedIn(7);

async function retrieveOne(fixture: TestDomain, content: string | Buffer = "the content", expireAfterViews = 1) {
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("plan.txt", content)], { expireAfterViews });
  const [file] = await claimFiles(pushes, urlToken, stranger);
  if (file === undefined) throw new Error("There is no file.");
  return { urlToken, file, open: () => pushes.openTicket(file.ticket, stranger) };
}

test("a ticket opens its file after the last view, until the ticket expires", async () => {
  await using fixture = await openTestDomain();
  const { file, open } = await retrieveOne(fixture);
  expect(file).toMatchObject({ filename: "plan.txt", contentType: "text/plain", sizeBytes: 11 });
  expect(file.ticket).toMatch(/^[A-Za-z0-9_-]+$/);
  const download = await open();
  expect(download).toMatchObject({ filename: "plan.txt", contentType: "text/plain", sizeBytes: 11 });
  if (download === undefined) throw new Error("The ticket does not open.");
  expect((await readDownload(download)).toString()).toBe("the content");
  fixture.clock.advance(15 * minuteMs - 1);
  expect(await open()).toBeDefined();
  fixture.clock.advance(1);
  expect(await open()).toBeUndefined();
});

test("the operator sets the lifetime of tickets, and a push's expiry does not shorten it", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__FILES__TICKET_MINUTES: "60" } });
  const { pushes } = fixture.domain;
  const { urlToken, expiresAt } = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
  fixture.clock.advance(expiresAt - fixture.clock.now() - 1);
  const [file] = await claimFiles(pushes, urlToken, stranger);
  fixture.clock.advance(1);
  await pushes.claimView(urlToken, countEveryone, stranger);
  await makeSweeper(fixture).sweep();
  fixture.clock.advance(60 * minuteMs - 2);
  const download = await pushes.openTicket(file?.ticket ?? "", stranger);
  if (download === undefined) throw new Error("The ticket does not open.");
  expect((await readDownload(download)).toString()).toBe("a");
});

test("a forged, changed or foreign ticket opens nothing", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { file } = await retrieveOne(fixture);
  const bytes = Buffer.from(file.ticket, "base64url");
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(await pushes.openTicket(changed.toString("base64url"), stranger)).toBeUndefined();
  }
  const others = [
    "",
    "x",
    file.ticket.slice(1),
    `${file.ticket}AAAA`,
    "A".repeat(256),
    "A".repeat(100_000),
    "../../x",
    "é".repeat(40),
  ];
  for (const ticket of others) expect(await pushes.openTicket(ticket, stranger)).toBeUndefined();
});

test("a ticket of one domain opens nothing in another", async () => {
  await using fixture = await openTestDomain();
  await using otherFixture = await openTestDomain();
  const { file } = await retrieveOne(fixture);
  await retrieveOne(otherFixture);
  expect(await otherFixture.domain.pushes.openTicket(file.ticket, stranger)).toBeUndefined();
});

test("ranges are exact, also across segments", async () => {
  await using fixture = await openTestDomain();
  const content = randomBytes(200_000);
  const { open } = await retrieveOne(fixture, content);
  const download = await open();
  if (download === undefined) throw new Error("The ticket does not open.");
  expect((await readDownload(download)).equals(content)).toBe(true);
  for (const [start, end] of [
    [0, 0],
    [199_999, 199_999],
    [65_535, 65_536],
    [70_000, 199_999],
  ] as const) {
    expect((await readDownload(download, { start, end })).equals(content.subarray(start, end + 1))).toBe(true);
  }
});

test("an empty file can be pushed and downloaded", async () => {
  await using fixture = await openTestDomain();
  const { file, open } = await retrieveOne(fixture, "");
  expect(file.sizeBytes).toBe(0);
  const download = await open();
  if (download === undefined) throw new Error("The ticket does not open.");
  expect(await readDownload(download)).toHaveLength(0);
});

test("each read is audited as a download", async () => {
  await using fixture = await openTestDomain();
  const { urlToken, open } = await retrieveOne(fixture);
  const download = await open();
  if (download === undefined) throw new Error("The ticket does not open.");
  const downloads = async () => {
    const trail = await fixture.domain.pushes.audit(urlToken, owner, 1);
    return trail.filter((entry) => entry.kind === "download").map((entry) => entry.address);
  };
  expect(await downloads()).toEqual([]);
  await readDownload(download);
  await readDownload(download, { start: 5, end: 6 });
  expect(await downloads()).toEqual([stranger.address, stranger.address]);
});

test("after the blobs are deleted, expired tickets are refused without an error", async () => {
  await using fixture = await openTestDomain();
  const { open } = await retrieveOne(fixture);
  await open();
  fixture.clock.advance(2 * dayMs);
  expect(await makeSweeper(fixture).sweep()).toMatchObject({ blobsDeleted: 1 });
  expect(await open()).toBeUndefined();
});

test("a started download may finish after the ticket has expired and its row is gone", async () => {
  await using fixture = await openTestDomain();
  const content = randomBytes(200_000);
  const { open } = await retrieveOne(fixture, content);
  const download = await open();
  if (download === undefined) throw new Error("The ticket does not open.");
  const parts: Uint8Array[] = [];
  for await (const part of download.read({ start: 0, end: content.length - 1 })) {
    if (parts.length === 0) {
      fixture.clock.advance(15 * minuteMs);
      expect(await makeSweeper(fixture).removeExpiredTickets()).toBe(1);
      await makeSweeper(fixture).sweep();
      expect(await open()).toBeUndefined();
    }
    parts.push(part);
  }
  expect(Buffer.concat(parts).equals(content)).toBe(true);
});

test.each([
  ["issued", false],
  ["waiting for the store", true],
] as const)("a ticket %s stays although the job that removes tickets read its clock before", async (_, waits) => {
  await using fixture = await openTestDomain();
  const readAt = fixture.clock.now();
  fixture.clock.advance(clockSpreadMs);
  const { open } = await retrieveOne(fixture);
  const { db, store } = fixture.domain;
  const [ticket] = await readRows<{ digest: Buffer }>(db, "SELECT digest FROM download_tickets");
  if (ticket === undefined) throw new Error("There is no ticket.");
  if (waits) await store.downloadTickets.wait(ticket.digest);
  expect(await makeSweeper(fixture, { clock: { now: () => readAt } }).removeExpiredTickets()).toBe(0);
  expect(await open()).toBeDefined();
});

test("expired tickets are removed in batches, but not while the clock may be wrong", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const files = (name: string) => Array.from({ length: 10 }, (_, at) => makeFile(`${name} ${at}`, "x"));
  const { urlToken } = await pushFiles(pushes, owner, files("a"), { expireAfterViews: 20 });
  for (let view = 0; view < 6; view += 1) await claimFiles(pushes, urlToken, stranger);
  fixture.clock.advance(15 * minuteMs - 1);
  await claimFiles(pushes, urlToken, stranger);
  fixture.clock.advance(1);
  const clockTrust = new ClockTrust(fixture.clock, () => fixture.clock.now());
  expect(await makeSweeper(fixture, { clockTrust }).removeExpiredTickets()).toBe(0);
  expect(await makeSweeper(fixture).removeExpiredTickets()).toBe(60);
  expect(await countRows(db, "download_tickets")).toBe(10);
});

test.each([
  ["issued", false, 15 * minuteMs],
  ["waiting for the store", true, 7 * dayMs + 15 * minuteMs],
] as const)(
  "a ticket that was %s when the clock was set back does not live longer for it",
  async (_, waits, lifeMs) => {
    await using fixture = await openTestDomain();
    const { db, store } = fixture.domain;
    const { open } = await retrieveOne(fixture);
    const rows = await readRows<{ digest: Buffer }>(db, "SELECT digest FROM download_tickets");
    if (waits) for (const { digest } of rows) await store.downloadTickets.wait(digest);
    fixture.clock.advance(-hourMs);
    const sweeper = makeSweeper(fixture);
    const clockTrust = new ClockTrust(fixture.clock, () => fixture.clock.now());
    expect(await makeSweeper(fixture, { clockTrust }).removeExpiredTickets()).toBe(0);
    expect(await open()).toBeDefined();
    expect(await sweeper.removeExpiredTickets()).toBe(1);
    expect(await open()).toBeUndefined();

    const later = await retrieveOne(fixture);
    if (waits) {
      const stored = await readRows<{ digest: Buffer }>(db, "SELECT digest FROM download_tickets");
      for (const { digest } of stored) await store.downloadTickets.wait(digest);
    }
    expect(await sweeper.removeExpiredTickets()).toBe(0);
    fixture.clock.advance(lifeMs - 1);
    expect(await sweeper.removeExpiredTickets()).toBe(0);
    expect(await later.open()).toBeDefined();
    fixture.clock.advance(1);
    expect(await sweeper.removeExpiredTickets()).toBe(1);
  },
);

/** Adds rows of tickets that nobody has, of which none waits for the store. */
const fill = ({ domain }: TestDomain, count: number, pushId: number) =>
  changeRows(
    domain.db,
    {
      sqlite: `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        INSERT INTO download_tickets SELECT CAST(n AS BLOB), ?, 0, 0, 0, 1, 1 FROM numbers`,
      postgres: `INSERT INTO download_tickets
        SELECT decode(lpad(to_hex(n), 16, '0'), 'hex'), ?, 0, 0, 0, 1, 1 FROM generate_series(1, CAST(? AS BIGINT)) AS n`,
    },
    ...(engine === "sqlite" ? [count, pushId] : [pushId, count]),
  );

test("an owner's views and repeated answers are refused while a push has 1,000 tickets; counted views are not", async () => {
  await using fixture = await openTestDomain();
  const { pushes, vault } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "a")], { expireAfterViews: 5 });
  const repeatable = { ...countEveryone, idempotencyKey: "a-random-key-of-the-client" };
  expect(await pushes.claimView(urlToken, repeatable, stranger)).toMatchObject({ outcome: "revealed" });
  await fill(fixture, 999, vault.urlTokens.addressOf(urlToken).pushId);
  const refused = { code: "unavailable", retryAfterSeconds: 60 };
  await expect(pushes.claimView(urlToken, repeatable, stranger)).rejects.toMatchObject(refused);
  await expect(pushes.claimView(urlToken, countStrangers, owner)).rejects.toMatchObject(refused);
  const [file] = await claimFiles(pushes, urlToken, stranger);
  expect(await pushes.openTicket(file?.ticket ?? "", stranger)).toBeDefined();
});

test("at most 10,000 tickets wait for the store, however many others there are", async () => {
  await using fixture = await openTestDomain();
  const { db, store } = fixture.domain;
  await retrieveOne(fixture);
  const [own] = await readRows<{ digest: Buffer }>(db, "SELECT digest FROM download_tickets");
  if (own === undefined) throw new Error("There is no ticket.");
  await fill(fixture, 10_000, 1);
  const waiting = () => countRows(db, "download_tickets", "waits_for_store = 1");
  await store.downloadTickets.wait(own.digest);
  expect(await waiting()).toBe(1);
  await changeRows(
    db,
    "UPDATE download_tickets SET waits_for_store = CASE WHEN digest = ? THEN 0 ELSE 1 END",
    own.digest,
  );
  await store.downloadTickets.wait(own.digest);
  expect(await waiting()).toBe(10_000);
});

test("no view of a file push is counted while there are 100,000 tickets", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "a")], { expireAfterViews: 1 });
  const text = await pushes.create({ payload: "text" }, stranger);
  await fill(fixture, 100_000, 1);
  await expect(claimFiles(pushes, urlToken, stranger)).rejects.toMatchObject({ code: "unavailable" });
  expect(await pushes.claimView(text.urlToken, countEveryone, stranger)).toMatchObject({ outcome: "revealed" });
  await changeRows(fixture.domain.db, "DELETE FROM download_tickets");
  expect(await claimFiles(pushes, urlToken, stranger)).toHaveLength(1);
});

const administrator = signedIn(1, true);
const everything: BulkEndingFilter = { network: "", olderThanMs: 0, largerThanBytes: 0, owners: "owned" };
type Ending = (fixture: TestDomain, urlToken: string) => Promise<unknown>;
const endings: Readonly<Record<string, Ending>> = {
  "its owner": ({ domain }, urlToken) => domain.pushes.expire(urlToken, owner),
  "a viewer": ({ domain }, urlToken) => domain.pushes.expire(urlToken, stranger),
  "an administrator": ({ domain: { pushes, vault } }, urlToken) => {
    const { pushId } = vault.urlTokens.addressOf(urlToken);
    return pushes.endAsAdministrator(pushId, administrator, nothingElse);
  },
  "a request that ends many": async ({ domain: { pushes, store }, clock }) => {
    await pushes.startBulkEnding(everything, administrator, nothingElse);
    const deps = { store, clock, monotonicMs: () => 0, pause: async () => undefined };
    await runBulkEndings(deps, new AbortController().signal);
  },
  "the deletion of the account": ({ domain }) => domain.pushes.removeOwner(7),
};

test.each(
  Object.entries(endings).flatMap(([who, end]) => [
    [who, "a live push", 5, end] as const,
    [who, "a push after its last view", 1, end] as const,
  ]),
)("an end by %s voids the tickets of %s at once", async (_who, _what, expireAfterViews, end) => {
  await using fixture = await openTestDomain();
  const { db } = fixture.domain;
  const { urlToken, open } = await retrieveOne(fixture, "x", expireAfterViews);
  await changeRows(db, "UPDATE pushes SET deletable_by_viewer = 1");
  expect(await open()).toBeDefined();
  await end(fixture, urlToken);
  expect(await open()).toBeUndefined();
  expect(await countRows(db, "download_tickets")).toBe(0);
});
