import { isArmored } from "../age/armor.ts";
import { dayMs } from "../base/clock.ts";
import { equalDigests } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { RotatedColumn } from "../crypto/sealed-column.ts";
import type { Actor, EndToEnd, OwnedPush, Push } from "./push.ts";
import { publicOptions } from "./push-options.ts";
import { optionsBy, type PushRow, pushes, type UnsealedPushRow } from "./store/tables.ts";
import type { Vault } from "./vault.ts";

/** How long an ended anonymous push is reported as expired before it becomes unknown. */
export const tombstoneMs = 30 * dayMs;

/** A push ends at `expires_at`, even if no process has recorded the end yet. */
export function hasEnded(row: Pick<PushRow, "endedAt" | "expiresAt">, now: number): boolean {
  return row.endedAt !== null || row.expiresAt <= now;
}

/** An anonymous push becomes unknown exactly 30 days after its end, independent of the sweeper. */
export function isForgotten(row: PushRow, now: number): boolean {
  return row.ownerId === null && (row.endedAt ?? row.expiresAt) + tombstoneMs <= now;
}

/** An anonymous push has no owner: its null must not match a caller without a user. */
export function isOwner(row: Pick<PushRow, "ownerId">, actor: Actor): boolean {
  return actor.user !== null && row.ownerId !== null && row.ownerId === actor.user.id;
}

/**
 * Whether the actor owns the push, and the server sealed exactly this link for that owner. `ownerId` alone is not
 * authenticated: somebody who can write to the database and knows a link could otherwise replace what is behind it.
 */
export function isProvenOwner(
  row: Pick<PushRow, "id" | "ownerId" | "tokenSealed">,
  urlToken: string,
  actor: Actor,
  keys: OwnerKeys,
): boolean {
  if (!isOwner(row, actor)) return false;
  const sealedToken = openLink(row, keys);
  return sealedToken !== undefined && equalDigests(sealedToken, Buffer.from(urlToken, "utf8"));
}

type OwnerKeys = Pick<Vault, "keyring" | "access">;

/** The url_token of an owned push. @returns undefined: it was not sealed for this owner, which is reported. */
function openLink(row: Pick<PushRow, "id" | "ownerId" | "tokenSealed">, { keyring, access }: OwnerKeys) {
  const opened = row.tokenSealed === null ? undefined : keyring.open(pushes.seals.urlToken, row, row.tokenSealed);
  if (opened === undefined) access.reportForgedRow("pushes");
  return opened;
}

export function toPush(row: UnsealedPushRow, urlToken: string, now: number): Push {
  const expired = hasEnded(row, now);
  return {
    urlToken,
    kind: row.kind,
    ownerId: row.ownerId,
    expireAfterDays: row.expireAfterDays,
    expireAfterViews: row.expireAfterViews,
    daysRemaining:
      row.expiresAt <= now
        ? 0
        : Math.max(0, row.expireAfterDays - Math.max(0, Math.floor((now - row.createdAt) / dayMs))),
    views: row.views,
    viewsRemaining: Math.max(0, row.expireAfterViews - row.views - row.refusals),
    ...publicOptions(row),
    passphraseRequired: row.passphraseSalt !== null,
    endToEnd: endToEndOf(row),
    isAnswer: row.isAnswer === 1,
    expired,
    deleted: row.endReason !== null && row.endReason !== "views" && row.endReason !== "time",
    expiredOn: expired ? (row.endedAt ?? row.expiresAt) : null,
    expiresAt: row.expiresAt,
    createdAt: row.createdAt,
    // The time that will be recorded for the end, so that the answer stays the same afterwards.
    updatedAt: expired && row.endedAt === null ? row.expiresAt : row.updatedAt,
    name: null,
    note: null,
  };
}

function endToEndOf({ encryption, encryptionCheck }: UnsealedPushRow): EndToEnd | null {
  return encryption === "none" ? null : { underPassphrase: encryption === "age_passphrase", check: encryptionCheck };
}

/** Includes the labels and options that only the owner may see. */
export function toOwnersPush(row: UnsealedPushRow, urlToken: string, now: number, keyring: Keyring): OwnedPush {
  return {
    ...toPush(row, urlToken, now),
    ...optionsBy((option) => row[option]),
    endReason: row.endReason ?? (hasEnded(row, now) ? "time" : null),
    name: openLabel(keyring, pushes.seals.name, row, row.nameSealed),
    note: openLabel(keyring, pushes.seals.note, row, row.noteSealed),
  };
}

/** @returns undefined: the owner was changed in the database. The push counts as absent, and that is reported. */
export function toOwnedPush(row: PushRow, now: number, keys: OwnerKeys): OwnedPush | undefined {
  const urlToken = openLink(row, keys);
  return urlToken === undefined ? undefined : toOwnersPush(row, urlToken.toString("utf8"), now, keys.keyring);
}

/** Whether recipients need a passphrase, which the server checks or only their browser. */
export function asksForPassphrase({
  passphraseRequired,
  endToEnd,
}: Pick<Push, "passphraseRequired" | "endToEnd">): boolean {
  return passphraseRequired || endToEnd?.underPassphrase === true;
}

/** Whether this name or note was sealed in a browser, so that the server cannot read it. */
export function isSealedLabel(label: string | null): label is string {
  return label !== null && isArmored(label);
}

export function openLabel(
  keyring: Keyring,
  column: RotatedColumn,
  row: Pick<PushRow, "id" | "ownerId">,
  sealed: Buffer | null,
): string | null {
  if (sealed === null) return null;
  const plain = keyring.open(column, row, sealed);
  if (plain === undefined) throw new Error(`The ${column.column} of push ${row.id} does not open.`);
  return plain.toString("utf8");
}
