import type { SourcePush } from "../../../src/import/source.ts";

const dayMs = 86_400_000;

export interface PushMarks {
  /** The row's own flag, which comes late. */
  readonly expired: boolean;
  readonly expiredOn: number | undefined;
  /** When somebody pressed "expire"; undefined: nobody did. */
  readonly deletedAt: number | undefined;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly countedViews: number;
  /** Of the view that was the last; undefined: the limit is not reached, or it is not known. */
  readonly lastViewAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Days are whole 24 hours, so the end is exact. null: it has not ended. */
export function endOf(marks: PushMarks, now: number): SourcePush["end"] {
  const { expired, expiredOn, deletedAt, createdAt, updatedAt } = marks;
  const daysEndAt = createdAt + Math.max(marks.expireAfterDays, 0) * dayMs;
  const viewsUsed = marks.countedViews >= marks.expireAfterViews;
  const daysUsed = now >= daysEndAt;
  if (!expired && !viewsUsed && !daysUsed) return null;
  if (deletedAt !== undefined) return { at: expiredOn ?? deletedAt, reason: "deleted" };
  // What is seen twice has ended by what came first.
  const viewsEndAt = marks.lastViewAt ?? updatedAt;
  if (viewsUsed && (!daysUsed || viewsEndAt <= daysEndAt)) return { at: expiredOn ?? viewsEndAt, reason: "views" };
  return { at: expiredOn ?? (daysUsed ? daysEndAt : updatedAt), reason: "time" };
}
