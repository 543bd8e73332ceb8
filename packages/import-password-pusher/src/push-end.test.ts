import { describe, expect, it } from "vitest";
import { type EndColumns, endOf } from "./read-pushes.ts";

const dayMs = 86_400_000;
const createdAt = Date.UTC(2026, 0, 1);
const alive: EndColumns = {
  expired: false,
  expiredOn: undefined,
  deletedAt: undefined,
  lastViewAt: undefined,
  expireAfterDays: 7,
  expireAfterViews: 5,
  countedViews: 0,
  createdAt,
  updatedAt: createdAt,
};
const daysEndAt = createdAt + 7 * dayMs;

describe("the end of a push", () => {
  it("is the exact millisecond at which its days are over", () => {
    expect(endOf(alive, daysEndAt - 1)).toBeNull();
    expect(endOf(alive, daysEndAt)).toEqual({ at: daysEndAt, reason: "time" });
  });

  it("is the last view, even if the flag is not set yet", () => {
    const marks = { ...alive, countedViews: 6, lastViewAt: createdAt + 5 };
    expect(endOf(marks, createdAt + 9)).toEqual({ at: createdAt + 5, reason: "views" });
  });

  it("is the limit that was reached first", () => {
    const marks = { ...alive, countedViews: 5 };
    expect(endOf({ ...marks, lastViewAt: daysEndAt - 1 }, daysEndAt)).toEqual({ at: daysEndAt - 1, reason: "views" });
    expect(endOf({ ...marks, lastViewAt: daysEndAt + 1 }, daysEndAt + 2)).toEqual({ at: daysEndAt, reason: "time" });
  });

  it("is the recorded time if a person deleted it", () => {
    const marks = { ...alive, expired: true, deletedAt: createdAt + 3, countedViews: 5 };
    expect(endOf({ ...marks, expiredOn: createdAt + 4 }, createdAt + 9)).toEqual({
      at: createdAt + 4,
      reason: "deleted",
    });
    expect(endOf(marks, createdAt + 9)).toEqual({ at: createdAt + 3, reason: "deleted" });
  });

  it("follows the flag if no limit is reached and no time is recorded", () => {
    expect(endOf({ ...alive, expired: true, updatedAt: createdAt + 8 }, createdAt + 9)).toEqual({
      at: createdAt + 8,
      reason: "time",
    });
  });

  it("does not follow from an audit entry alone", () => {
    expect(endOf({ ...alive, deletedAt: createdAt + 3 }, createdAt + 9)).toBeNull();
  });

  it("is distant for raised limits, and immediate for limits of zero", () => {
    expect(endOf({ ...alive, expireAfterDays: 3_650, expireAfterViews: 500 }, daysEndAt)).toBeNull();
    expect(endOf({ ...alive, expireAfterDays: 0 }, createdAt)).toMatchObject({ reason: "time" });
    expect(endOf({ ...alive, expireAfterViews: 0 }, createdAt + 1)).toMatchObject({ reason: "views" });
  });
});
