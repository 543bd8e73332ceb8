import { expect, test } from "vitest";
import { signedIn, stranger } from "../../test/support/domain.ts";
import { pushRow } from "../../test/support/push-row.ts";
import { dayMs } from "../base/clock.ts";
import { hasEnded, isForgotten, isOwner, tombstoneMs, toPush } from "./present-push.ts";
import type { PushRow } from "./store/tables.ts";

const created = pushRow().createdAt;

test("days remaining count whole days down to 0, even if the clock was set back", () => {
  const days = (now: number) => toPush(pushRow(), "t", now).daysRemaining;
  expect(days(created)).toBe(7);
  expect(days(created + dayMs - 1)).toBe(7);
  expect(days(created + dayMs)).toBe(6);
  expect(days(created + 6 * dayMs)).toBe(1);
  expect(days(created + 7 * dayMs)).toBe(0);
  expect(days(created + 700 * dayMs)).toBe(0);
  expect(days(created - 30 * dayMs)).toBe(7);
});

test("views remaining are the limit minus views and refusals, never below 0", () => {
  const views = (changes: Partial<PushRow>) => toPush(pushRow(changes), "t", created).viewsRemaining;
  expect(views({})).toBe(5);
  expect(views({ views: 2 })).toBe(3);
  expect(views({ views: 2, refusals: 2 })).toBe(1);
  expect(views({ views: 5, refusals: 5 })).toBe(0);
});

test("an expiry by time applies exactly on time, and is presented the same before and after it is recorded", () => {
  const end = created + 7 * dayMs;
  expect(hasEnded(pushRow(), end - 1)).toBe(false);
  expect(toPush(pushRow(), "t", end - 1)).toMatchObject({ expired: false, expiredOn: null });
  expect(hasEnded(pushRow(), end)).toBe(true);
  const written = pushRow({ endedAt: end, endReason: "time", updatedAt: end });
  for (const now of [end, end + 1, end + 20 * dayMs]) {
    const presented = toPush(pushRow(), "t", now);
    expect(presented).toMatchObject({ expired: true, expiredOn: end, deleted: false });
    expect(toPush(written, "t", now)).toEqual(presented);
  }
});

test("a push counts as deleted if a person ended it, not if a limit did", () => {
  const deleted = (endReason: PushRow["endReason"]) =>
    toPush(pushRow({ endedAt: created + 1, endReason }), "t", created + 2).deleted;
  expect([deleted("owner"), deleted("viewer"), deleted("views"), deleted("time")]).toEqual([true, true, false, false]);
});

test("an anonymous push is forgotten 30 days after its end, whether or not the end was recorded", () => {
  const end = created + 7 * dayMs;
  const forgottenAt = (push: PushRow) => [
    isForgotten(push, end + tombstoneMs - 1),
    isForgotten(push, end + tombstoneMs),
  ];
  expect(forgottenAt(pushRow())).toEqual([false, true]);
  expect(forgottenAt(pushRow({ endedAt: end, endReason: "time" }))).toEqual([false, true]);
  expect(isForgotten(pushRow({ endedAt: created, endReason: "viewer" }), created + tombstoneMs - 1)).toBe(false);
  expect(isForgotten(pushRow({ endedAt: created, endReason: "viewer" }), created + tombstoneMs)).toBe(true);
  expect(isForgotten(pushRow({ ownerId: 7 }), end + 100 * tombstoneMs)).toBe(false);
});

test("an anonymous push has no owner, and any other push has only its own", () => {
  expect(isOwner(pushRow(), stranger)).toBe(false);
  expect(isOwner(pushRow(), signedIn(7))).toBe(false);
  expect(isOwner(pushRow({ ownerId: 7 }), stranger)).toBe(false);
  expect(isOwner(pushRow({ ownerId: 7 }), signedIn(8, true))).toBe(false);
  expect(isOwner(pushRow({ ownerId: 7 }), signedIn(7))).toBe(true);
});

test("only the owner sees the labels", () => {
  const sealed = Buffer.from("sealed");
  expect(toPush(pushRow({ ownerId: 7, nameSealed: sealed, noteSealed: sealed }), "t", created)).toMatchObject({
    name: null,
    note: null,
  });
  expect(toPush(pushRow(), "t", created).passphraseRequired).toBe(false);
  expect(toPush(pushRow({ passphraseSalt: Buffer.alloc(16) }), "t", created).passphraseRequired).toBe(true);
});
