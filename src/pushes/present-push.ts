import { dayMs } from "../base/clock.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Actor, OwnedPush, Push } from "./push.ts";
import { sealContexts } from "./seals.ts";
import { optionsBy, type PushRow } from "./store/tables.ts";

/** How long the answer for an ended anonymous push stays "expired" instead of "unknown". */
export const tombstoneMs = 30 * dayMs;

/** Time's end holds from the instant of expires_at, whether or not anything has written it down yet. */
export function hasEnded(row: Pick<PushRow, "endedAt" | "expiresAt">, now: number): boolean {
  return row.endedAt !== null || row.expiresAt <= now;
}

/** An anonymous push is unknown 30 days after its end, not when the sweeper gets to it. */
export function isForgotten(row: PushRow, now: number): boolean {
  return row.ownerId === null && Math.min(row.endedAt ?? row.expiresAt, row.expiresAt) + tombstoneMs <= now;
}

/** Nobody owns an anonymous push: null is equal to no user. */
export function isOwner(row: Pick<PushRow, "ownerId">, actor: Actor): boolean {
  return actor.user !== null && row.ownerId !== null && row.ownerId === actor.user.id;
}

export function toPush(row: PushRow, urlToken: string, now: number): Push {
  const expired = hasEnded(row, now);
  const { notifyOnView: _, ...options } = optionsBy((option) => row[option]);
  return {
    urlToken,
    kind: row.kind,
    ownerId: row.ownerId,
    expireAfterDays: row.expireAfterDays,
    expireAfterViews: row.expireAfterViews,
    daysRemaining: Math.max(0, row.expireAfterDays - Math.max(0, Math.floor((now - row.createdAt) / dayMs))),
    viewsRemaining: Math.max(0, row.expireAfterViews - row.views - row.refusals),
    ...options,
    passphraseRequired: row.passphraseSalt !== null,
    expired,
    deleted: row.endReason !== null && row.endReason !== "views" && row.endReason !== "time",
    expiredOn: expired ? (row.endedAt ?? row.expiresAt) : null,
    expiresAt: row.expiresAt,
    createdAt: row.createdAt,
    // What will be written down once the end is, so that the answer does not change when it is.
    updatedAt: expired && row.endedAt === null ? row.expiresAt : row.updatedAt,
    name: null,
    note: null,
  };
}

/** With the labels, which only the owner may see. */
export function toOwnersPush(row: PushRow, urlToken: string, now: number, keyring: Keyring): Push {
  return {
    ...toPush(row, urlToken, now),
    name: openLabel(keyring, sealContexts.name(row.id), row.nameSealed),
    note: openLabel(keyring, sealContexts.note(row.id), row.noteSealed),
  };
}

/** @throws Error for an anonymous push: its url_token is not stored. */
export function toOwnedPush(row: PushRow, now: number, keyring: Keyring): OwnedPush {
  const urlToken = openLabel(keyring, sealContexts.token(row.id), row.tokenSealed);
  if (urlToken === null) throw new Error(`The owned push ${row.id} has no sealed url_token.`);
  const endReason = row.endReason ?? (hasEnded(row, now) ? "time" : null);
  const { views, notifyOnView } = row;
  return { ...toOwnersPush(row, urlToken, now, keyring), views, notifyOnView, endReason };
}

export function openLabel(keyring: Keyring, context: string, sealed: Buffer | null): string | null {
  if (sealed === null) return null;
  const plain = keyring.open(context, sealed);
  if (plain === undefined) throw new Error(`A sealed label does not open: ${context}.`);
  return plain.toString("utf8");
}
