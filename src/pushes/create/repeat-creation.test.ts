import { describe, expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { changeRows, countRows } from "../../../test/support/engine-database.ts";
import { makeFile } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../base/clock.ts";
import { ClockTrust } from "../../base/clock-trust.ts";
import type { Actor, CreatePush, IncomingFile } from "../pushes.ts";
import { createOperations } from "./create.ts";

const idempotencyKey = "a-random-key-of-the-client";
const owner = signedIn(7);
const other = expect.objectContaining({
  code: "invalid_fields",
  fields: { idempotencyKey: [expect.stringContaining("Send a new random key")] },
});

const ended = expect.objectContaining({
  code: "invalid_fields",
  fields: { idempotencyKey: [expect.stringContaining("was used for a push that cannot be opened any more.")] },
});

const create = ({ domain }: TestDomain, push: CreatePush = {}, actor: Actor = owner) =>
  domain.pushes.create({ payload: "hunter2", idempotencyKey, ...push }, actor);

const livePushes = async ({ domain }: TestDomain) => [...(await domain.pushes.list(7, "active", 1))].length;

test("for a day the same request gets the same push, and afterwards another one", async () => {
  await using fixture = await openTestDomain();
  const sweeper = makeSweeper(fixture);
  const labels = { name: "name", note: "note", expireAfterViews: 3, retrievalStep: false };
  const first = await create(fixture, labels);
  expect(first.repeated).toBe(false);
  const age = (ms: number) => changeRows(fixture.domain.db, "UPDATE creation_keys SET taken_at = taken_at - ?", ms);
  for (const ms of [minuteMs, dayMs - hourMs]) {
    await age(ms);
    expect(await sweeper.removeExpiredRetries()).toBe(0);
    expect(await create(fixture, labels)).toEqual({ ...first, repeated: true });
  }
  expect(await livePushes(fixture)).toBe(1);
  await age(hourMs);
  // No clock but that of the removal decides.
  expect(await create(fixture, labels)).toEqual({ ...first, repeated: true });
  expect(await sweeper.removeExpiredRetries()).toBe(1);
  const next = await create(fixture, labels);
  expect(next).toMatchObject({ repeated: false });
  expect(next.urlToken).not.toBe(first.urlToken);
  expect(await create(fixture, labels)).toEqual({ ...next, repeated: true });
});

test("keys stay while the clock may be wrong", async () => {
  await using fixture = await openTestDomain();
  await create(fixture);
  await changeRows(fixture.domain.db, "UPDATE creation_keys SET taken_at = 0");
  const doubting = makeSweeper(fixture, { clockTrust: new ClockTrust(fixture.clock, () => 0) });
  expect(await doubting.removeExpiredRetries()).toBe(0);
  expect(await create(fixture)).toMatchObject({ repeated: true });
});

/** A creation that stands still before its transaction while `meanwhile` runs. */
function createLate(fixture: TestDomain, meanwhile: () => Promise<unknown>) {
  const { store } = fixture.domain;
  const late: typeof store = {
    ...store,
    async insertPush(...push) {
      await meanwhile();
      return await store.insertPush(...push);
    },
  };
  const { create: createIt } = createOperations(pushDepsOf(fixture, { store: late }));
  return createIt({ payload: "hunter2", idempotencyKey }, owner);
}

test("a creation that stood still while another one under its key was written creates nothing", async () => {
  await using fixture = await openTestDomain();
  const late = createLate(fixture, () => create(fixture));
  expect(await late).toMatchObject({ repeated: true });
  expect(await livePushes(fixture)).toBe(1);
});

test("also if the other push has ended meanwhile", async () => {
  await using fixture = await openTestDomain();
  const late = createLate(fixture, async () => {
    const { urlToken } = await create(fixture);
    fixture.clock.advance(2 * minuteMs);
    await makeSweeper(fixture).removeExpiredRetries();
    await fixture.domain.pushes.expire(urlToken, owner);
  });
  await expect(late).rejects.toEqual(ended);
  expect(await countRows(fixture.domain.db, "pushes")).toBe(1);
});

test("a creation whose request arrived more than an hour ago by the database's clock writes nothing", async () => {
  await using fixture = await openTestDomain();
  const { store, db } = fixture.domain;
  const after = (ms: number) => {
    const late: typeof store = {
      ...store,
      creationKeys: {
        ...store.creationKeys,
        async find(...key) {
          const found = await store.creationKeys.find(...key);
          return { ...found, databaseTime: found.databaseTime - ms };
        },
      },
    };
    const { create: createIt } = createOperations(pushDepsOf(fixture, { store: late }));
    return createIt({ payload: "hunter2", idempotencyKey }, owner);
  };
  await expect(after(hourMs + secondMs)).rejects.toMatchObject({ code: "unavailable" });
  for (const table of ["pushes", "creation_keys", "row_secrets"]) expect(await countRows(db, table)).toBe(0);
  expect(await after(hourMs - minuteMs)).toMatchObject({ repeated: false });
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

test("after views a push is returned as it is; after its end the key is refused, and no new push is created", async () => {
  await using fixture = await openTestDomain();
  const push = { expireAfterViews: 2 };
  const { urlToken } = await create(fixture, push);
  const view = () => fixture.domain.pushes.claimView(urlToken, countEveryone, stranger);
  await view();
  expect(await create(fixture, push)).toMatchObject({ urlToken, viewsRemaining: 1, expired: false });
  await view();
  for (const changed of [{}, { payload: "hunter3" }, { name: "other" }]) {
    await expect(create(fixture, { ...push, ...changed })).rejects.toEqual(ended);
  }
  const deleted = await create(fixture, { idempotencyKey: "another-key-of-a-client" });
  await fixture.domain.pushes.expire(deleted.urlToken, owner);
  await expect(create(fixture, { idempotencyKey: "another-key-of-a-client" })).rejects.toEqual(ended);
  expect(await countRows(fixture.domain.db, "pushes")).toBe(2);
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

test("it does not depend on how long a claim can be repeated", async () => {
  await using fixture = await openTestDomain({ environment: { PWP__CLAIM_RETRY_SECONDS: "0" } });
  await create(fixture);
  expect(await create(fixture)).toMatchObject({ repeated: true });
});
