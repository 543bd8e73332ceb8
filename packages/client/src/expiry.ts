import { type CreatePushRequest, durationMinutes } from "./api-types.ts";

/** The fields that limit the time of a push. */
export type Expiry = Pick<CreatePushRequest["push"], "expire_after_days" | "expire_after_duration" | "expires_at">;

const unitMinutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60 };

const instantShape = /^\d{4}-\d\d-\d\dT/;

/**
 * Reads a time such as 30m, 1h, 3d or 2w, or an instant such as 2026-12-01T17:00:00Z, which the server checks. Whole days are sent as days, which servers of every age understand.
 * @returns undefined if the server has no such limit.
 */
export function expiryOf(text: string): Expiry | undefined {
  if (instantShape.test(text)) return Number.isNaN(Date.parse(text)) ? undefined : { expires_at: text };
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? [];
  const minutes = Number(count) * (unitMinutes[unit] ?? 0);
  if (minutes === 0) return undefined;
  if (minutes % 1_440 === 0) return { expire_after_days: minutes / 1_440 };
  const duration = durationMinutes.indexOf(minutes);
  return duration === -1 ? undefined : { expire_after_duration: duration };
}
