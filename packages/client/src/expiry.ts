import { type CreatePushRequest, durationMinutes } from "./api-types.ts";

/** The fields that limit the time of a push. */
export type Expiry = Pick<CreatePushRequest["push"], "expire_after_days" | "expire_after_duration">;

const unitMinutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60 };

/**
 * Reads a time such as 30m, 1h, 3d or 2w. Whole days are sent as days, which servers of every age understand.
 * @returns undefined if the server has no such limit.
 */
export function expiryOf(text: string): Expiry | undefined {
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? [];
  const minutes = Number(count) * (unitMinutes[unit] ?? 0);
  if (minutes === 0) return undefined;
  if (minutes % 1_440 === 0) return { expire_after_days: minutes / 1_440 };
  const duration = durationMinutes.indexOf(minutes);
  return duration === -1 ? undefined : { expire_after_duration: duration };
}
