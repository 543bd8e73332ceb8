import { secondMs } from "../../base/clock.ts";
import { invalidFields } from "../../base/errors.ts";
import { equalDigests } from "../../crypto/digests.ts";
import { keyedHash } from "../../crypto/sodium.ts";
import { tooManyAttempts } from "../../limits/limits.ts";
import { createLinkDeliveryReports } from "../audit/read-trail.ts";
import { fileRefusal, readStoredFile, type StoredFile } from "../claim/stored-files.ts";
import { unlock } from "../claim/unlock.ts";
import type { PushDeps } from "../deps.ts";
import { hasEnded, isOwner, ownerKeysOf, toListedPush } from "../present-push.ts";
import type { Actor, CreatePush, ListedPush, OwnedPush } from "../push.ts";
import { openFileKey, openOwnedFileDetails, openPayload } from "../seals.ts";
import type { CreationKey } from "../store/creation-keys.ts";
import type { PushRow } from "../store/tables.ts";
import type { RequestedPush } from "./create.ts";
import type { PendingUpload } from "./upload.ts";

const digestBytes = 32;
/** The audit entry of the emails that a request to create a push asks for. The first entry is that of the creation. */
const linkDeliverySequence = 2;

/** @returns undefined: the request has no key, nobody is signed in, or requests cannot be repeated on this server. */
export function creationKeyOf(
  { vault, config }: PushDeps,
  { idempotencyKey }: CreatePush,
  { user }: Actor,
  now: number,
): CreationKey | undefined {
  const { claimRetrySeconds } = config;
  if (idempotencyKey === undefined || user === null || claimRetrySeconds === 0) return undefined;
  const digest = keyedHash(vault.indexKey("creation keys"), digestBytes, "digest", idempotencyKey, user.id);
  return { userId: user.id, digest, expiresAt: now + claimRetrySeconds * secondMs };
}

/**
 * Finds the push that was created under the key of this request, and compares the two. The server stores no digest of a
 * request, which would let its content be guessed: the push is opened with the passphrase of the request. After its end there
 * is nothing left to open.
 * @returns the push as it is now; undefined: none was created under the key.
 * @throws AppError invalid_fields if the push differs from the request; too_many_requests, unavailable.
 */
export async function findRepeated(
  deps: PushDeps,
  key: CreationKey,
  request: CreatePush,
  requested: RequestedPush,
  upload: PendingUpload | undefined,
  actor: Actor,
): Promise<OwnedPush | undefined> {
  const now = deps.clock.now();
  const pushId = await deps.store.creationKeys.find(key.userId, key.digest, now);
  if (pushId === undefined) return undefined;
  const row = await deps.store.findById(pushId);
  const push =
    row !== undefined && isOwner(row, actor) ? toListedPush(row, now, await ownerKeysOf(deps, row.ownerId)) : undefined;
  if (row === undefined || push === undefined) throw usedForAnother();
  const { urlToken } = push;
  if (urlToken === null) throw usedBefore();
  const isSame =
    hasSameSettings(row, push, requested) &&
    (await hasSameRecipients(deps, row, request)) &&
    (hasEnded(row, now) || (await hasSameContent(deps, { urlToken }, request, upload, now, actor)));
  if (!isSame) throw usedForAnother();
  const { id: _, ...owned } = push;
  return { ...owned, urlToken };
}

function usedForAnother() {
  return invalidFields({
    idempotencyKey: ["was used for a push with another content. Send a new random key for each push."],
  });
}

/** The link is needed to compare the two, and to answer. */
function usedBefore() {
  return invalidFields({
    idempotencyKey: ["was used for a push whose link this server does not store. Send a new random key for each push."],
  });
}

function hasSameSettings(row: PushRow, push: ListedPush, requested: RequestedPush): boolean {
  const { name, note, lifetimeMs, ...columns } = requested;
  return (
    Object.entries(columns).every(([column, value]) => Reflect.get(row, column) === value) &&
    row.expiresAt - row.createdAt === lifetimeMs &&
    (push.name ?? "") === name &&
    (push.note ?? "") === note
  );
}

/** A repetition without recipients sends no email, so it is the same. */
async function hasSameRecipients(deps: PushDeps, row: PushRow, request: CreatePush): Promise<boolean> {
  const recipients = (request.notifyEmailsTo ?? "").trim();
  if (recipients === "") return true;
  const { linkDelivery } = await createLinkDeliveryReports(deps, row).of("creation_email_send", linkDeliverySequence);
  return (
    linkDelivery?.recipients === recipients &&
    linkDelivery.locale === ((request.notifyEmailsToLocale ?? "").trim() || null)
  );
}

async function hasSameContent(
  deps: PushDeps,
  { urlToken }: Pick<OwnedPush, "urlToken">,
  { payload = "", passphrase = "" }: CreatePush,
  upload: PendingUpload | undefined,
  now: number,
  actor: Actor,
): Promise<boolean> {
  // Not reserved for the answer: it does not contain the payload.
  const sealed = await deps.store.findSealed(deps.vault.urlTokens.addressOf(urlToken), () => undefined);
  if (sealed === undefined || sealed.payloadSealed === null) return false;
  const { row } = sealed;
  if ((row.passphraseSalt === null) !== (passphrase === "")) return false;
  const unlocked = await unlock(deps, sealed, { urlToken, passphrase }, now, actor);
  if (unlocked.outcome === "too_many_attempts") throw tooManyAttempts({ ...unlocked, outcome: "refused" });
  if (unlocked.outcome !== "unlocked") return false;
  const stored = await deps.store.filesOf(sealed);
  const opened = openPayload(unlocked.key, row, stored, sealed.payloadSealed);
  if (opened === undefined || !equalDigests(Buffer.from(opened), Buffer.from(payload))) return false;
  if (stored.length !== (upload?.fileCount ?? 0)) return false;
  // The push has taken the uploads that the request names again.
  if (upload !== undefined && upload.missing > 0) return true;
  const sent = upload?.files ?? [];
  for (const [at, file] of stored.entries()) {
    const other = sent[at];
    const key = openFileKey(unlocked.key, row, file);
    if (other === undefined || key === undefined || file.sizeBytes !== other.sizeBytes) return false;
    const details = openOwnedFileDetails(deps.vault.keyring, { ...file, ownerId: row.ownerId });
    const otherDetails = openOwnedFileDetails(deps.vault.keyring, { ...other, ownerId: row.ownerId });
    if (details?.filename !== otherDetails?.filename || details?.contentType !== otherDetails?.contentType)
      return false;
    const pushId = row.id;
    if (!(await areSameBytes(deps, { pushId, row: file, key }, { pushId, row: other, key: other.key }))) return false;
  }
  return true;
}

async function areSameBytes({ blobs }: PushDeps, one: StoredFile, other: StoredFile): Promise<boolean> {
  const all = { start: 0, end: one.row.sizeBytes - 1 };
  const others = readStoredFile(blobs, other, all);
  try {
    // Files of one size have the same segments.
    for await (const segment of readStoredFile(blobs, one, all)) {
      const next = await others.next();
      if (next.done === true || !equalDigests(segment, next.value)) return false;
    }
    return true;
  } catch (error) {
    throw fileRefusal(error);
  } finally {
    await others.return();
  }
}
