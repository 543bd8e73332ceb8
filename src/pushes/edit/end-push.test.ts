import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { dayMs } from "../../base/clock.ts";
import type { Actor } from "../actor.ts";
import { endOperations } from "./end-push.ts";

const owner = signedIn(7);
const other = signedIn(8);
const admin = signedIn(9, true);

const make = (fixture: TestDomain, actor: Actor, deletableByViewer: boolean, expireAfterViews = 5) =>
  fixture.domain.pushes.create({ payload: "x", deletableByViewer, expireAfterViews }, actor);

const retrieve = (fixture: TestDomain, urlToken: string) =>
  fixture.domain.pushes.claimView(urlToken, countEveryone, stranger);

test("an owner can always end a push; the secret is gone, and the push records who ended it", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await make(fixture, owner, false);
  const ended = await pushes.expire(urlToken, owner);
  const now = fixture.clock.now();
  expect(ended).toMatchObject({ expired: true, deleted: true, expiredOn: now, updatedAt: now, urlToken });
  expect(await retrieve(fixture, urlToken)).toMatchObject({ outcome: "gone", push: { deleted: true } });
  expect((await pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind)).toContain("expire");
});

test("a viewer may end a push only when allowed: known callers get forbidden, anonymous ones not_authenticated", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const kept = await make(fixture, owner, false);
  await expect(pushes.expire(kept.urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  await expect(pushes.expire(kept.urlToken, other)).rejects.toMatchObject({ code: "forbidden" });
  await expect(pushes.expire(kept.urlToken, admin)).rejects.toMatchObject({ code: "forbidden" });
  expect(await retrieve(fixture, kept.urlToken)).toMatchObject({ outcome: "revealed" });
  for (const viewer of [stranger, other]) {
    const { urlToken } = await make(fixture, owner, true);
    expect(await pushes.expire(urlToken, viewer)).toMatchObject({ expired: true, deleted: true });
    expect(await retrieve(fixture, urlToken)).toMatchObject({ outcome: "gone" });
  }
});

test("an anonymous push has no owner: a null owner matches no user", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await make(fixture, stranger, false);
  await expect(pushes.expire(urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  await expect(pushes.expire(urlToken, owner)).rejects.toMatchObject({ code: "forbidden" });
  await expect(pushes.audit(urlToken, stranger, 1)).rejects.toMatchObject({ code: "not_authenticated" });
  await expect(pushes.audit(urlToken, owner, 1)).rejects.toMatchObject({ code: "forbidden" });
  expect(await retrieve(fixture, urlToken)).toMatchObject({ outcome: "revealed" });
});

test("an ended push keeps its end reason, and ending it again is not an error", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const viewed = await make(fixture, owner, false, 1);
  await retrieve(fixture, viewed.urlToken);
  fixture.clock.advance(1_000);
  const again = await pushes.expire(viewed.urlToken, owner);
  expect(again).toMatchObject({ expired: true, deleted: false, expiredOn: fixture.clock.now() - 1_000 });
  // A stranger learns nothing, also about a push that has ended.
  await expect(pushes.expire(viewed.urlToken, other)).rejects.toMatchObject({ code: "forbidden" });
  await expect(pushes.expire(viewed.urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  const timed = await make(fixture, stranger, true);
  fixture.clock.advance(7 * dayMs);
  const answer = await pushes.expire(timed.urlToken, stranger);
  expect(answer).toMatchObject({ expired: true, deleted: false, expiredOn: timed.expiresAt, daysRemaining: 0 });
});

test("an unknown link and the link of a forgotten anonymous push are not found", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  await expect(pushes.expire("nosuchtoken", owner)).rejects.toMatchObject({ code: "not_found" });
  const { urlToken } = await make(fixture, stranger, true);
  await pushes.expire(urlToken, stranger);
  fixture.clock.advance(30 * dayMs);
  await expect(pushes.expire(urlToken, stranger)).rejects.toMatchObject({ code: "not_found" });
  expect(await pushes.find(urlToken, stranger)).toBeUndefined();
  expect(await retrieve(fixture, urlToken)).toEqual({ outcome: "unknown" });
});

test("two concurrent deletions both succeed, and one is recorded", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await make(fixture, owner, true);
  const answers = await Promise.all([pushes.expire(urlToken, owner), pushes.expire(urlToken, stranger)]);
  for (const answer of answers) expect(answer).toMatchObject({ expired: true, deleted: true });
  const kinds = (await pushes.audit(urlToken, owner, 1)).map((entry) => entry.kind);
  expect(kinds.filter((kind) => kind === "expire")).toHaveLength(1);
});

test("deleting makes the blobs due at once; after a limit, downloads can finish", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const due = () => readRows(db, "SELECT due_at FROM blob_deletions ORDER BY due_at");
  const deleted = await pushFiles(pushes, owner, [makeFile("a.txt", "a")]);
  await pushes.expire(deleted.urlToken, owner);
  expect(await due()).toEqual([{ due_at: 0 }]);
  const viewed = await pushFiles(pushes, owner, [makeFile("a.txt", "a")], { expireAfterViews: 1 });
  await retrieve(fixture, viewed.urlToken);
  const hour = 60 * 60 * 1_000;
  expect(await due()).toEqual([{ due_at: 0 }, { due_at: fixture.clock.now() + 15 * 60 * 1_000 + hour }]);
  await pushes.expire(viewed.urlToken, owner);
  expect(await due()).toEqual([{ due_at: 0 }, { due_at: 0 }]);
});

test("an ended anonymous push keeps only its tombstone, an owned one also its trail and labels", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const rows = (...tables: readonly string[]) => Promise.all(tables.map((table) => countRows(db, table)));
  const creators = () => readRows(db, "SELECT creator_address FROM pushes");
  const anonymous = await make(fixture, stranger, true);
  await retrieve(fixture, anonymous.urlToken);
  expect(await rows("payloads", "audit_entries")).toEqual([1, 1]);
  expect(await creators()).toEqual([{ creator_address: stranger.address }]);
  await pushes.expire(anonymous.urlToken, stranger);
  expect(await rows("pushes", "payloads", "audit_entries")).toEqual([1, 0, 0]);
  expect(await creators()).toEqual([{ creator_address: null }]);
  // Later refusals do not record the client.
  await retrieve(fixture, anonymous.urlToken);
  expect(await rows("audit_entries")).toEqual([0]);

  const owned = await pushes.create({ payload: "x", name: "VPN" }, owner);
  await pushes.expire(owned.urlToken, owner);
  expect(await rows("payloads", "audit_entries")).toEqual([0, 2]);
  expect(await pushes.find(owned.urlToken, owner)).toMatchObject({ name: "VPN", expired: true });
  expect(await pushes.find(owned.urlToken, other)).toMatchObject({ name: null });
});

test("while the clock may be wrong, a deletion destroys the secret of a push that seems to have expired", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const secrets = () => countRows(db, "payloads");
  const late = { now: () => fixture.clock.now() + 2 * dayMs };
  const { expire } = endOperations(pushDepsOf(fixture, { clock: late, clockTrust: { check: () => false } }));
  const guarded = await pushes.create({ payload: "x", expireAfterDays: 1, deletableByViewer: false }, stranger);
  await expect(expire(guarded.urlToken, stranger)).rejects.toMatchObject({ code: "not_authenticated" });
  expect(await secrets()).toBe(1);
  const open = await pushes.create({ payload: "x", expireAfterDays: 1, deletableByViewer: true }, stranger);
  expect(await expire(open.urlToken, stranger)).toMatchObject({ expired: true, deleted: true });
  expect(await secrets()).toBe(1);
  expect(await pushes.claimView(open.urlToken, countEveryone, stranger)).toMatchObject({ outcome: "gone" });
});
