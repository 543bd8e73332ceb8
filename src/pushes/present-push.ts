import { isArmored } from "@sealpush/age/armor";
import { dayMs } from "../base/clock.ts";
import { equalDigests } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { RotatedColumn } from "../crypto/sealed-column.ts";
import type { OpenedLink, StoredLinkKey } from "../crypto/stored-link-key.ts";
import type { Actor } from "./actor.ts";
import type { PushDeps } from "./deps.ts";
import type { EndToEnd, ListedPush, OwnedPush, Push } from "./push.ts";
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

/** @param ownerId null: the row is an answer to a request without an account, and the caller knows whose request it is. */
export function isListedFor(row: Pick<PushRow, "ownerId" | "isAnswer">, ownerId: number | null): boolean {
  return row.ownerId === ownerId && (ownerId !== null || row.isAnswer === 1);
}

/**
 * Whether the actor owns the push, and the server made exactly this link for that owner. `ownerId` alone is not
 * authenticated: somebody who can write to the database and knows a link could otherwise replace what is behind it.
 */
export function isProvenOwner(row: OwnedRow, urlToken: string, actor: Actor, vault: Vault): boolean {
  return isOwner(row, actor) && hasProvenOwner(row, urlToken, vault);
}

/** Whether the server made exactly this link for the owner in the row. */
export function hasProvenOwner(row: OwnedRow, urlToken: string, vault: Vault): boolean {
  return isOwnersRow({ ...row, linkCheck: vault.urlTokens.addressOf(urlToken).check }, vault);
}

type OwnedRow = Pick<PushRow, "id" | "ownerId" | "linkCheck" | "ownerCheck">;

/** @returns false: the owner in the row is another one than the server wrote, which is reported. */
function isOwnersRow(row: OwnedRow, { access, ownerCheckOf }: Pick<Vault, "access" | "ownerCheckOf">): boolean {
  const isSame = row.ownerCheck !== null && equalDigests(row.ownerCheck, ownerCheckOf(row));
  if (!isSame) access.reportForgedRow("pushes");
  return isSame;
}

/** What opens the lists of one owner. */
export interface OwnerKeys extends Pick<Vault, "keyring" | "access" | "ownerCheckOf"> {
  /** undefined: no owner, or one who has never stored a link. */
  readonly storedLinkKey: StoredLinkKey | undefined;
}

export async function ownerKeysOf(
  { vault, storedLinkKeys }: Pick<PushDeps, "vault" | "storedLinkKeys">,
  ownerId: number | null,
): Promise<OwnerKeys> {
  return { ...vault, storedLinkKey: ownerId === null ? undefined : await storedLinkKeys.find(ownerId) };
}

/**
 * The url_token that was stored for the owner. "not_stored": also one that was sealed under an earlier link secret of the account.
 * @returns undefined: it was not sealed for this owner, which is reported.
 */
export function openLink(
  row: OwnedRow & Pick<PushRow, "tokenSealed">,
  keys: OwnerKeys,
): OpenedLink | "not_stored" | undefined {
  const { tokenSealed } = row;
  const { keyring, storedLinkKey } = keys;
  if (row.ownerId !== null && !isOwnersRow(row, keys)) return undefined;
  if (row.ownerId !== null && (tokenSealed === null || storedLinkKey === undefined)) return "not_stored";
  const opened =
    row.ownerId === null
      ? openAnonymous(keyring, row, tokenSealed)
      : storedLinkKey?.open(pushes.seals.urlToken, row, tokenSealed ?? Buffer.alloc(0));
  if (opened === undefined) keys.access.reportForgedRow("pushes");
  return opened === "other_key" ? "not_stored" : opened;
}

function openAnonymous(keyring: Keyring, row: OwnedRow, sealed: Buffer | null): OpenedLink | undefined {
  const opened = sealed === null ? undefined : keyring.open(pushes.seals.anonymousUrlToken, row, sealed);
  return opened && { link: opened.toString("utf8") };
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
    showsSender: row.senderShown && row.isAnswer === 0,
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

/**
 * A push in a list of its owner. @param keys of this owner.
 * @returns undefined: the owner was changed in the database. The push counts as absent, and that is reported.
 */
export function toListedPush(row: PushRow, now: number, keys: OwnerKeys): ListedPush | undefined {
  const link = openLink(row, keys);
  if (link === undefined) return undefined;
  const push = toOwnersPush(row, link === "not_stored" ? "" : link.link, now, keys.keyring);
  return { ...push, id: row.id, urlToken: link === "not_stored" ? null : push.urlToken };
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
