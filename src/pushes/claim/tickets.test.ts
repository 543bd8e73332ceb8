import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile, pushFiles, readDownload } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import type { Download } from "../push.ts";
import { makeTicket } from "./tickets.ts";

const owner = signedIn(7);

async function retrieveOne(fixture: TestDomain, content: string | Buffer = "the content", expireAfterViews = 1) {
  const { pushes } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("plan.txt", content)], { expireAfterViews });
  const [file] = await claimFiles(pushes, urlToken, stranger);
  if (file === undefined) throw new Error("There is no file.");
  return { urlToken, file, open: (start = 0) => pushes.openTicket(file.ticket, stranger, start) };
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
  const download = await pushes.openTicket(file?.ticket ?? "", stranger, 0);
  if (download === undefined) throw new Error("The ticket does not open.");
  expect((await readDownload(download)).toString()).toBe("a");
});

test("once a person has deleted the push its tickets are void", async () => {
  await using fixture = await openTestDomain();
  const { urlToken, open } = await retrieveOne(fixture, "x", 5);
  expect(await open()).toBeDefined();
  await fixture.domain.pushes.expire(urlToken, owner);
  expect(await open()).toBeUndefined();
});

test("a forged, changed or foreign ticket opens nothing", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring } = fixture.domain;
  const { file } = await retrieveOne(fixture);
  const bytes = Buffer.from(file.ticket, "base64url");
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(await pushes.openTicket(changed.toString("base64url"), stranger, 0)).toBeUndefined();
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
  others.push(keyring.sealMessage("backup manifest", [], Buffer.alloc(56)).toString("base64url"));
  others.push(keyring.sealMessage("download tickets", [], Buffer.alloc(40)).toString("base64url"));
  for (const ticket of others) expect(await pushes.openTicket(ticket, stranger, 0)).toBeUndefined();
});

test("a ticket of one domain opens nothing in another", async () => {
  await using fixture = await openTestDomain();
  await using otherFixture = await openTestDomain();
  const { file } = await retrieveOne(fixture);
  await retrieveOne(otherFixture);
  expect(await otherFixture.domain.pushes.openTicket(file.ticket, stranger, 0)).toBeUndefined();
});

test("a ticket contains only the key of its own file and opens no other file", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring } = fixture.domain;
  const allowed = { environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" } };
  await using open = await openTestDomain(allowed);
  const ids = (from: TestDomain) =>
    readRows<{ id: number; push_id: number }>(from.domain.db, "SELECT id, push_id FROM files ORDER BY id");
  const expiresAt = fixture.clock.now() + minuteMs;

  // An anonymous file's name is sealed under the file's own key, so a wrong key does not open it either.
  await pushFiles(open.domain.pushes, stranger, [makeFile("a.txt", "a"), makeFile("b.txt", "b")]);
  const [foreign] = await ids(open);
  const wrongKey = { pushId: foreign?.push_id ?? 0, fileId: foreign?.id ?? 0, expiresAt, fileKey: randomBytes(32) };
  expect(await open.domain.pushes.openTicket(makeTicket(open.domain.keyring, wrongKey), stranger, 0)).toBeUndefined();

  await pushFiles(pushes, owner, [makeFile("a.txt", "a"), makeFile("b.txt", "b")]);
  await pushFiles(pushes, owner, [makeFile("c.txt", "c")]);
  const [a, b, c] = await ids(fixture);
  if (a === undefined || b === undefined || c === undefined) throw new Error("There are not three files.");
  const make = (pushId: number, fileId: number) =>
    makeTicket(keyring, { pushId, fileId, expiresAt, fileKey: randomBytes(32) });
  expect(await pushes.openTicket(make(a.push_id, c.id), stranger, 0)).toBeUndefined();
  expect(await pushes.openTicket(make(4_711, a.id), stranger, 0)).toBeUndefined();
  const named = await pushes.openTicket(make(a.push_id, b.id), stranger, 0);
  if (named === undefined) throw new Error("The server can read the name of an owned file.");
  await expect(readDownload(named)).rejects.toMatchObject({ code: "unavailable", cause: { problem: "damaged" } });
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

test("each download is audited, its continuation is not, a false continuation is", async () => {
  await using fixture = await openTestDomain();
  const { urlToken, file, open } = await retrieveOne(fixture);
  const read = async (download: Download | undefined) => {
    if (download === undefined) throw new Error("The ticket does not open.");
    await readDownload(download);
  };
  for (const start of [0, 5, 0]) await read(await open(start));
  const addresses = async () => {
    const trail = await fixture.domain.pushes.audit(urlToken, owner, 1);
    return trail.filter((entry) => entry.kind === "download").map((entry) => entry.address);
  };
  expect(await addresses()).toEqual([stranger.address, stranger.address]);
  const other = { ...stranger, address: "198.51.100.9" };
  await fixture.domain.pushes.openTicket(file.ticket, other, "metadata");
  for (const start of [1, 2]) await read(await fixture.domain.pushes.openTicket(file.ticket, other, start));
  expect(await addresses()).toEqual([other.address, stranger.address, stranger.address]);
});

test("after the blobs are deleted, expired tickets are refused without an error", async () => {
  await using fixture = await openTestDomain();
  const { open } = await retrieveOne(fixture);
  await open();
  fixture.clock.advance(2 * dayMs);
  expect(await makeSweeper(fixture).sweep()).toMatchObject({ blobsDeleted: 1 });
  expect(await open()).toBeUndefined();
});
