import { describe, expect, it } from "vitest";
import { endOf, type PushMarks } from "./push-state.ts";

const dayMs = 86_400_000;
const createdAt = Date.UTC(2026, 0, 1);
const alive: PushMarks = {
  ...{ expired: false, expiredOn: undefined, deletedAt: undefined, lastViewAt: undefined },
  ...{ expireAfterDays: 7, expireAfterViews: 5, countedViews: 0, createdAt, updatedAt: createdAt },
};
const daysEndAt = createdAt + 7 * dayMs;

describe("the end of a push", () => {
  it("is on the millisecond at which its days are over", () => {
    expect(endOf(alive, daysEndAt - 1)).toBeNull();
    expect(endOf(alive, daysEndAt)).toEqual({ at: daysEndAt, reason: "time" });
  });

  it("is at the last view, although nobody has set the flag yet", () => {
    const marks = { ...alive, countedViews: 6, lastViewAt: createdAt + 5 };
    expect(endOf(marks, createdAt + 9)).toEqual({ at: createdAt + 5, reason: "views" });
  });

  it("is at what came first, when days and views are both used up", () => {
    const marks = { ...alive, countedViews: 5 };
    expect(endOf({ ...marks, lastViewAt: daysEndAt - 1 }, daysEndAt)).toEqual({ at: daysEndAt - 1, reason: "views" });
    expect(endOf({ ...marks, lastViewAt: daysEndAt + 1 }, daysEndAt + 2)).toEqual({ at: daysEndAt, reason: "time" });
  });

  it("is by hand when somebody ended it, at the time on record", () => {
    const marks = { ...alive, expired: true, deletedAt: createdAt + 3, countedViews: 5 };
    expect(endOf({ ...marks, expiredOn: createdAt + 4 }, createdAt + 9)).toEqual({
      at: createdAt + 4,
      reason: "deleted",
    });
    expect(endOf(marks, createdAt + 9)).toEqual({ at: createdAt + 3, reason: "deleted" });
  });

  it("is what the flag says, also when no limit is reached and no time is on record", () => {
    expect(endOf({ ...alive, expired: true, updatedAt: createdAt + 8 }, createdAt + 9)).toEqual({
      at: createdAt + 8,
      reason: "time",
    });
  });

  it("is not brought about by an expiry in the trail alone", () => {
    expect(endOf({ ...alive, deletedAt: createdAt + 3 }, createdAt + 9)).toBeNull();
  });

  it("is far away for limits that were raised, and at once for limits of zero", () => {
    expect(endOf({ ...alive, expireAfterDays: 3_650, expireAfterViews: 500 }, daysEndAt)).toBeNull();
    expect(endOf({ ...alive, expireAfterDays: 0 }, createdAt)).toMatchObject({ reason: "time" });
    expect(endOf({ ...alive, expireAfterViews: 0 }, createdAt + 1)).toMatchObject({ reason: "views" });
  });
});
