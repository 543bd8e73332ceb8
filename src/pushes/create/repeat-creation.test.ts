import { describe, expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { makeFile } from "../../../test/support/files.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { clockSpreadMs, secondMs } from "../../base/clock.ts";
import type { Actor, CreatePush, IncomingFile } from "../pushes.ts";

const idempotencyKey = "a-random-key-of-the-client";
const owner = signedIn(7);
const other = expect.objectContaining({
  code: "invalid_fields",
  fields: { idempotencyKey: [expect.stringContaining("Send a new random key")] },
});

const create = ({ domain }: TestDomain, push: CreatePush = {}, actor: Actor = owner) =>
  domain.pushes.create({ payload: "hunter2", idempotencyKey, ...push }, actor);

const livePushes = async ({ domain }: TestDomain) => [...(await domain.pushes.list(7, "active", 1))].length;

test("for a minute the same request gets the same push, and afterwards another one", async () => {
  await using fixture = await openTestDomain();
  const labels = { name: "name", note: "note", expireAfterViews: 3, retrievalStep: false };
  const first = await create(fixture, labels);
  expect(first.repeated).toBe(false);
  fixture.clock.advance(59 * secondMs);
  expect(await create(fixture, labels)).toEqual({ ...first, repeated: true });
  expect(await livePushes(fixture)).toBe(1);
  fixture.clock.advance(secondMs);
  const next = await create(fixture, labels);
  expect(next).toMatchObject({ repeated: false });
  expect(next.urlToken).not.toBe(first.urlToken);
  expect(await create(fixture, labels)).toEqual({ ...next, repeated: true });
});

describe("the same key with", () => {
  test.each<[string, CreatePush]>([
    ["another payload", { payload: "hunter3" }],
    ["another passphrase", { passphrase: "other" }],
    ["no passphrase", { passphrase: "" }],
    ["another kind", { kind: "qr" }],
    ["another limit of views", { expireAfterViews: 9 }],
    ["another time", { expireAfterMs: 3_600_000 }],
    ["another option", { deletableByViewer: false }],
    ["another name", { name: "other" }],
    ["another note", { note: "other" }],
  ])("%s is refused, and creates nothing", async (_, change) => {
    await using fixture = await openTestDomain();
    const push = { passphrase: "between us", name: "name" };
    const first = await create(fixture, push);
    await expect(create(fixture, { ...push, ...change })).rejects.toEqual(other);
    expect(await livePushes(fixture)).toBe(1);
    expect(await create(fixture, push)).toEqual({ ...first, repeated: true });
  });

  test("a passphrase for a push without one is refused, and no passphrase is tried", async () => {
    await using fixture = await openTestDomain();
    const { urlToken } = await create(fixture);
    await expect(create(fixture, { passphrase: "other" })).rejects.toEqual(other);
    const kinds = (await fixture.domain.pushes.audit(urlToken, owner, 1)).map(({ kind }) => kind);
    expect(kinds).toEqual(["creation"]);
  });
});

test("guesses of a passphrase through a repeated request have the limit of all guesses", async () => {
  await using fixture = await openTestDomain();
  await create(fixture, { passphrase: "between us" });
  const guess = () => create(fixture, { passphrase: "a guess" });
  for (let at = 0; at < 5; at += 1) await expect(guess()).rejects.toEqual(other);
  await expect(guess()).rejects.toMatchObject({ code: "too_many_requests" });
});

test("each user has keys of their own, and anonymous requests have none", async () => {
  await using fixture = await openTestDomain();
  const tokens = [];
  for (const actor of [owner, signedIn(8), stranger, stranger]) {
    const { urlToken, repeated } = await create(fixture, {}, actor);
    expect(repeated).toBe(false);
    tokens.push(urlToken);
  }
  expect(new Set(tokens).size).toBe(4);
  expect(await countRows(fixture.domain.db, "creation_keys")).toBe(2);
});

test("after views and after its end a push is returned as it is, and no new one is created", async () => {
  await using fixture = await openTestDomain();
  const push = { expireAfterViews: 2 };
  const { urlToken } = await create(fixture, push);
  const view = () => fixture.domain.pushes.claimView(urlToken, countEveryone, stranger);
  await view();
  expect(await create(fixture, push)).toMatchObject({ urlToken, viewsRemaining: 1, expired: false });
  await view();
  expect(await create(fixture, push)).toMatchObject({ urlToken, viewsRemaining: 0, expired: true, repeated: true });
  // The content is gone, so it cannot be compared; the settings can.
  expect(await create(fixture, { ...push, payload: "hunter3" })).toMatchObject({ urlToken, expired: true });
  await expect(create(fixture, { ...push, name: "other" })).rejects.toEqual(other);
  const deleted = await create(fixture, { idempotencyKey: "another-key-of-a-client" });
  await fixture.domain.pushes.expire(deleted.urlToken, owner);
  const again = await create(fixture, { idempotencyKey: "another-key-of-a-client" });
  expect(again).toMatchObject({ urlToken: deleted.urlToken, deleted: true, repeated: true });
});

test("after an edit of the content a repeated request is refused", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await create(fixture);
  await fixture.domain.pushes.edit(urlToken, { payload: "hunter3" }, owner);
  await expect(create(fixture)).rejects.toEqual(other);
});

test("files are compared by name, type and bytes, and those of a repeated request are removed", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const large = "x".repeat(200_000);
  const send = async (...files: readonly IncomingFile[]) => {
    const upload = await pushes.beginUpload(owner);
    for (const file of files) await upload.addFile(file);
    return await pushes.create({ upload, idempotencyKey }, owner);
  };
  const sent = () => [makeFile("a.txt", large), makeFile("empty.txt")] as const;
  const first = await send(...sent());
  expect(await send(...sent())).toEqual({ ...first, repeated: true });
  const [, empty] = sent();
  for (const changed of [
    [makeFile("a.txt", large)],
    [makeFile("b.txt", large), empty],
    [{ ...makeFile("a.txt", large), contentType: "text/html" }, empty],
    [makeFile("a.txt", `${large.slice(1)}y`), empty],
    [empty, makeFile("a.txt", large)],
  ]) {
    await expect(send(...changed)).rejects.toEqual(other);
  }
  expect(await countRows(db, "files")).toBe(2);
  expect(await countRows(db, "uploads")).toBe(0);
  expect(await countRows(db, "blob_deletions")).toBe(11);
});

test("a repeated request uses nothing of the account's bytes", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__ACCOUNT_BYTES_PER_DAY: "10" } });
  for (let at = 0; at < 3; at += 1) await create(fixture);
  await expect(create(fixture, { idempotencyKey: "another-key-of-a-client" })).rejects.toMatchObject({
    code: "bytes_used_up",
  });
});

test("50 requests at once under one key create one push", async () => {
  await using fixture = await openTestDomain();
  const created = await Promise.all(Array.from({ length: 50 }, () => create(fixture, { name: "name" })));
  expect(new Set(created.map(({ urlToken }) => urlToken)).size).toBe(1);
  expect(created.filter(({ repeated }) => !repeated)).toHaveLength(1);
  expect(await livePushes(fixture)).toBe(1);
});

test("0 seconds switch it off", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__CLAIM_RETRY_SECONDS: "0" } });
  await create(fixture);
  expect(await create(fixture)).toMatchObject({ repeated: false });
  expect(await countRows(fixture.domain.db, "creation_keys")).toBe(0);
});

test("keys are removed when their time is over, and when the clock was set back by more than two clocks differ", async () => {
  await using fixture = await openTestDomain();
  const sweeper = makeSweeper(fixture);
  await create(fixture);
  fixture.clock.advance(59 * secondMs);
  expect(await sweeper.removeExpiredRetries()).toBe(0);
  fixture.clock.advance(secondMs);
  expect(await sweeper.removeExpiredRetries()).toBe(1);
  await create(fixture);
  fixture.clock.advance(-clockSpreadMs);
  expect(await sweeper.removeExpiredRetries()).toBe(0);
  fixture.clock.advance(-1);
  expect(await sweeper.removeExpiredRetries()).toBe(1);
  expect(await countRows(fixture.domain.db, "creation_keys")).toBe(0);
});
