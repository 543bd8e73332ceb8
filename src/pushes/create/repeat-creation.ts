import { invalidFields } from "../../base/errors.ts";
import { equalDigests } from "../../crypto/digests.ts";
import { keyedHash } from "../../crypto/sodium.ts";
import { tooManyAttempts } from "../../limits/limits.ts";
import type { Actor } from "../actor.ts";
import { createLinkDeliveryReports } from "../audit/read-trail.ts";
import { fileRefusal, readStoredFile, type StoredFile } from "../claim/stored-files.ts";
import { unlock } from "../claim/unlock.ts";
import type { PushDeps } from "../deps.ts";
import { storedPayload } from "../payload.ts";
import { hasEnded, isOwner, ownerKeysOf, toListedPush } from "../present-push.ts";
import { namesLifetime } from "../presets/preset.ts";
import type { CreatePush, Lifetime, OwnedPush } from "../push.ts";
import { openFileKey, openOwnedFileDetails, openPayload } from "../seals.ts";
import type { AskedKey } from "../store/idempotency-keys.ts";
import { optionsBy, type PushRow, pushOptions } from "../store/tables.ts";
import { lifetimeOf } from "./limits.ts";
import type { RequestedPush } from "./requested-push.ts";
import type { PendingUpload } from "./upload.ts";

const digestBytes = 32;
/** The audit entry of the emails that a request to create a push asks for. The first entry is that of the creation. */
const linkDeliverySequence = 2;

/** @param request as it was sent, without what its preset says. @returns undefined: it has no key, or nobody is signed in. */
export function creationKeyOf({ vault }: PushDeps, request: CreatePush, { user }: Actor): AskedKey | undefined {
  const { idempotencyKey } = request;
  if (idempotencyKey === undefined || user === null) return undefined;
  const hashKey = vault.indexKey("creation keys");
  const digest = keyedHash(hashKey, digestBytes, "digest", idempotencyKey, user.id);
  return { userId: user.id, digest, given: givenBy(request, hashKey) };
}

/** The order of the bits must not change while rows with them are stored, for a day. */
function givenBy(request: CreatePush, hashKey: Buffer): number {
  const { preset, expireAfterViews } = request;
  const options = pushOptions.keys.map((option) => request[option]);
  const given = [expireAfterViews, preset, ...options].map((value) => value !== undefined);
  const bits = [namesLifetime(request), ...given].reduce((all, isGiven, at) => all | (isGiven ? 1 << at : 0), 0);
  // Which preset, by two bytes above the bits: the names of all presets are in the database anyway.
  const named = preset === undefined ? 0 : keyedHash(hashKey, digestBytes, "preset", preset).readUInt16BE();
  return bits + named * 2 ** 24;
}

/** A request to create a push, as it is compared with the push that was created under its key. */
interface Compared {
  readonly request: CreatePush;
  /** Without the rules of today. */
  readonly requested: RequestedPush;
  readonly upload: PendingUpload;
}

/**
 * Finds the push that was created under the key of this request, and compares the two. The server stores no digest of a
 * request, which would let its content be guessed: the push is opened with the passphrase of the request.
 * @returns the push as it is now; undefined: none was created under the key. And the database's time.
 * @throws AppError invalid_fields if the push has ended or differs from the request; too_many_requests, unavailable.
 */
export async function findRepeated(deps: PushDeps, key: AskedKey, compared: Compared, actor: Actor) {
  const { databaseTime, pushId, given } = await deps.store.creationKeys.find(key.userId, key.digest);
  if (pushId === null) return { push: undefined, databaseTime };
  const now = deps.clock.now();
  const row = await deps.store.findById(pushId);
  // After its end there is nothing left to compare.
  if (row === undefined || hasEnded(row, now)) throw keyUsed("a push that cannot be opened any more");
  if (given !== key.given) throw keyUsed(anotherContent);
  const push = isOwner(row, actor) ? toListedPush(row, now, await ownerKeysOf(deps, row.ownerId)) : undefined;
  if (push === undefined) throw keyUsed(anotherContent);
  const { id: _, urlToken, ...owned } = push;
  // The link is needed to compare the two, and to answer. It is not stored under the key, either: clients choose that.
  if (urlToken === null)
    throw keyUsed("a push that was created, whose link this server does not store and cannot answer again");
  const { request, requested } = compared;
  const lifetime = lifetimeOf(request, deps.config.kinds[requested.columns.kind], row.createdAt);
  const isSame =
    hasSameSettings(row, owned, compared) &&
    hasSameLimits(row, request, lifetime) &&
    (await hasSameRecipients(deps, row, request)) &&
    (await hasSameContent(deps, urlToken, compared, actor));
  if (!isSame) throw keyUsed(anotherContent);
  return { push: { ...owned, urlToken }, databaseTime };
}

const anotherContent = "a push with another content";

function keyUsed(what: string) {
  return invalidFields({ idempotencyKey: [`was used for ${what}. Send a new random key for each push.`] });
}

/** What neither request names is the same: the push has the defaults of its creation. */
function hasSameSettings(
  row: PushRow,
  push: Pick<OwnedPush, "name" | "note">,
  { request, requested: { name, note, columns } }: Compared,
): boolean {
  const unnamed = optionsBy((option) => (request[option] === undefined ? row[option] : columns[option]));
  return isSubset({ ...columns, ...unnamed }, row) && (push.name ?? "") === name && (push.note ?? "") === note;
}

function hasSameLimits(row: PushRow, request: CreatePush, { expiresAt, expireAfterViews }: Lifetime): boolean {
  return (
    (!namesLifetime(request) || row.expiresAt === expiresAt) &&
    (request.expireAfterViews === undefined || row.expireAfterViews === expireAfterViews)
  );
}

function isSubset(columns: Partial<PushRow>, row: PushRow): boolean {
  return Object.entries(columns).every(([column, value]) => Reflect.get(row, column) === value);
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
  urlToken: string,
  { request, upload }: Compared,
  actor: Actor,
): Promise<boolean> {
  const { passphrase = "" } = request;
  // No memory is reserved for the answer: it does not contain the payload.
  const sealed = await deps.store.findSealed(deps.vault.urlTokens.addressOf(urlToken), () => undefined);
  if (sealed === undefined || sealed.payloadSealed === null) return false;
  const { row } = sealed;
  if ((row.passphraseSalt === null) !== (passphrase === "")) return false;
  const unlocked = await unlock(deps, sealed, { urlToken, passphrase, now: deps.clock.now(), actor });
  if (unlocked.outcome === "too_many_attempts") throw tooManyAttempts({ ...unlocked, outcome: "refused" });
  if (unlocked.outcome !== "unlocked") return false;
  const stored = await deps.store.filesOf(sealed);
  const opened = openPayload(unlocked.key, row, stored, sealed.payloadSealed);
  if (opened === undefined || !equalDigests(Buffer.from(opened), Buffer.from(storedPayload(request).payload)))
    return false;
  if (stored.length !== upload.fileCount) return false;
  // The push has taken the uploads that the request names again.
  if (upload.missing > 0) return true;
  for (const [at, file] of stored.entries()) {
    const other = upload.files[at];
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
