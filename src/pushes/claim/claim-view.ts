import { fieldsText } from "@sealpush/age/fields";
import { unavailable } from "../../base/errors.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { blobsGraceMs, type PushDeps } from "../deps.ts";
import { endIfDue } from "../edit/end-push.ts";
import { readStoredFields } from "../payload.ts";
import { hasEnded, isForgotten, isOwner, toPush } from "../present-push.ts";
import type { AuditKind, ClaimOutcome, Push, RevealedFile } from "../push.ts";
import { senderOf } from "../read/find-push.ts";
import { openFileDetails, openFileKey, openPayload } from "../seals.ts";
import type { NewTicket } from "../store/download-tickets.ts";
import { arrivalOf } from "../store/idempotency-keys.ts";
import type { FileRow, PushRow, SealedPush } from "../store/tables.ts";
import { earlierViewsOf, type ViewClaim } from "../store/write-view.ts";
import { type RetryKey, retryKeyOf } from "./claim-retry.ts";
import { fileRefusal, type StoredFile, StoredFileError } from "./stored-files.ts";
import { makeTicket } from "./tickets.ts";
import { unlock } from "./unlock.ts";

export interface ClaimRequest {
  readonly passphrase?: string;
  /**
   * "everyone": each retrieval is a counted view (API v2). "strangers": retrievals by the owner and by administrators are
   * logged but not counted (pages, API v1).
   */
  readonly counting: "everyone" | "strangers";
  /**
   * Called before the payload is decrypted, and again before the view is counted, with the maximum UTF-8 length of the
   * revealed texts in bytes. What it throws refuses the retrieval.
   */
  readonly reserveAnswer: (textBytes: number) => void;
  /**
   * A secret of the client. For `PWP__CLAIM_RETRY_SECONDS` a counted claim under the same key on the same push gets the same
   * answer again, not counted. Afterwards the outcome is `key_used` while the push can be opened.
   */
  readonly idempotencyKey?: string | undefined;
  /** The answer says when the push was opened before. */
  readonly tellsLastView?: boolean;
}

type Revealed = Extract<ClaimOutcome, { outcome: "revealed" }>;

type Opened =
  | {
      readonly outcome: "opened";
      readonly content: Pick<Revealed, "payload" | "fields" | "files" | "sender">;
      readonly tickets: readonly NewTicket[];
      readonly rowSecret: Buffer;
    }
  | { readonly outcome: "broken" }
  | Exclude<ClaimOutcome, { outcome: "revealed" | "unknown" }>;

/** One attempt to retrieve a push. */
interface Retrieval {
  readonly urlToken: string;
  readonly request: ClaimRequest;
  readonly actor: Actor;
  readonly now: number;
}

/** After a refused claim, or when the rows do not match, the push is read again: it was edited, ended, or is damaged. */
const readsMax = 3;
const claimIdBytes = 6;

export function claimOperations(deps: PushDeps) {
  return {
    /**
     * The only way to retrieve a secret. Everything is decrypted in memory first, and the first segment of each file is read
     * and verified. Then one conditional write counts the view, adds its audit entry and the tickets of its files and, on the
     * last view, destroys the key.
     * The answer is sent once that write is durable. So a view that cannot be decrypted is never counted, and an uncounted
     * secret is never sent.
     */
    async claimView(urlToken: string, request: ClaimRequest, actor: Actor): Promise<ClaimOutcome> {
      const receivedAt = deps.clock.now();
      for (let reads = 1; reads <= readsMax; reads += 1) {
        const retrieval = { urlToken, request, actor, now: deps.clock.now() };
        const outcome = await tryToClaim(deps, retrieval, receivedAt, reads === readsMax);
        if (outcome !== undefined) return outcome;
      }
      throw unavailable("The push is being changed. Try again.", 1);
    },
  };
}

/** @returns undefined: the push was changed meanwhile and has to be read again. */
async function tryToClaim(
  deps: PushDeps,
  retrieval: Retrieval,
  receivedAt: number,
  isLast: boolean,
): Promise<ClaimOutcome | undefined> {
  const { urlToken, request, actor, now } = retrieval;
  const link = deps.vault.urlTokens.addressOf(urlToken);
  const sealed = await deps.store.findSealed(link, request.reserveAnswer);
  if (sealed === undefined || isForgotten(sealed.row, now)) return { outcome: "unknown" };
  const { row } = sealed;
  const { kind, counted } = viewKind(row, request, actor);
  const isRepeatable = counted && request.idempotencyKey !== undefined;
  const retry = isRepeatable ? await retryOf(deps, row, retrieval, receivedAt) : undefined;
  if (retry !== undefined && retry.copy !== null) {
    const repeated = await repeat(deps, sealed, retrieval, retry.copy);
    if (repeated !== undefined) return repeated;
    // An end or an edit has voided the copy meanwhile.
    if (!isLast) return undefined;
  }
  if (hasEnded(row, now)) return await refuse(deps, row, retrieval);
  if (retry?.isUsed === true) return { outcome: "key_used", push: toPush(row, urlToken, now) };
  const opened = await open(deps, sealed, retrieval);
  if (opened.outcome === "broken") {
    // The files are read after the row: an edit or an end may have happened in between.
    if (!isLast || (await hasChanged(deps, row))) return undefined;
    throw new Error(`Payload and files of push ${row.id} do not match.`);
  }
  if (opened.outcome !== "opened") return opened;
  const { content, tickets, rowSecret } = opened;
  const asksLastView = request.tellsLastView === true && counted && row.views > 0;
  const lastViewAt = asksLastView ? await deps.store.lastViewAt(row.id) : null;
  const newCopy = retry && { ...retry, id: await deps.ids.next() };
  // Read the clock again: the passphrase check may have waited in a queue past the push's expiry.
  const viewedAt = deps.clock.now();
  const claim: ViewClaim = {
    counted,
    isImported: link.pushId !== row.id,
    lastViewAt,
    claimId: deps.random.bytes(claimIdBytes).readUIntBE(0, claimIdBytes),
    now: viewedAt,
    asRead: sealed,
    notByOwner: !isOwner(row, actor),
    audit: auditRecord(kind, actor, viewedAt),
    blobsDueAt: viewedAt + blobsGraceMs(deps.config),
    tickets,
    key: newCopy?.key.seal(rowSecret, newCopy.id, { now: viewedAt, arrivedAt: newCopy.arrivedAt }),
  };
  const claimed = await deps.store.writeView(claim);
  if (claimed === undefined) return undefined;
  const push = toRevealed(claimed, urlToken, viewedAt);
  const earlierViews = counted ? earlierViewsOf(claim, claimed) : null;
  return { outcome: "revealed", push, ...content, earlierViews, repeated: false };
}

/** The view that reaches the limit still gets the payload, with no views remaining. */
function toRevealed(row: PushRow, urlToken: string, now: number): Push {
  return { ...toPush(row, urlToken, now), expired: false, expiredOn: null };
}

type Retry = NonNullable<Awaited<ReturnType<typeof retryOf>>>;

/** The idempotency key of a claim and its earlier use. @returns undefined: the claim cannot be repeated. */
async function retryOf(deps: PushDeps, row: PushRow, { request, now }: Retrieval, receivedAt: number) {
  const key = retryKeyOf(deps, row, request.idempotencyKey);
  if (key === undefined) return undefined;
  const { copy, isUsed, databaseTime } = await deps.store.claimRetries.find(row.id, key.digest, now);
  return { key, copy: copy && { ...copy, key }, isUsed, arrivedAt: arrivalOf(deps.clock, receivedAt, databaseTime) };
}

/**
 * Answers a claim again that was counted under the same idempotency key. The push may have ended since, but not by a person.
 * @returns undefined: it cannot be repeated any more.
 */
async function repeat(
  deps: PushDeps,
  sealed: SealedPush,
  retrieval: Retrieval,
  { key, sealed: rowSecretSealed, earlierViews }: NonNullable<Retry["copy"]>,
): Promise<ClaimOutcome | undefined> {
  const { row } = sealed;
  const { claimRetries } = deps.store;
  const payloadSealed = sealed.payloadSealed ?? (await claimRetries.payload(row.id));
  if (payloadSealed === undefined) return undefined;
  const opened = await open(deps, { ...sealed, rowSecretSealed, payloadSealed }, retrieval, key.open);
  if (opened.outcome === "broken") return undefined;
  if (opened.outcome !== "opened") return opened;
  const { content, tickets } = opened;
  const now = deps.clock.now();
  const audit = auditRecord("repeated_view", retrieval.actor, now);
  const { sealGeneration } = row;
  const logged = await claimRetries.repeat(row.id, { sealGeneration, digest: key.digest, now, audit, tickets });
  if (logged === undefined) return undefined;
  const push = toRevealed(logged, retrieval.urlToken, now);
  return { outcome: "revealed", push, ...content, earlierViews, repeated: true };
}

async function hasChanged(deps: PushDeps, row: PushRow): Promise<boolean> {
  const current = await deps.store.findById(row.id);
  return current?.sealGeneration !== row.sealGeneration || current.endedAt !== row.endedAt;
}

function viewKind(row: PushRow, request: ClaimRequest, actor: Actor): { kind: AuditKind; counted: boolean } {
  // Nobody but its owner opens an answer to a request, once.
  if (request.counting === "strangers" && row.isAnswer === 0) {
    // This holds for their own pushes too, as in Password Pusher.
    if (actor.user?.admin === true) return { kind: "admin_view", counted: false };
    if (isOwner(row, actor)) return { kind: "owner_view", counted: false };
  }
  return { kind: "view", counted: true };
}

async function open(
  deps: PushDeps,
  sealed: SealedPush,
  { urlToken, request, now, actor }: Retrieval,
  openSecret?: RetryKey["open"],
): Promise<Opened> {
  const { row, payloadSealed } = sealed;
  const { passphrase = "" } = request;
  if (row.passphraseSalt !== null && passphrase === "") {
    // No guess was made, so nothing is charged: opening a link repeatedly locks no client out.
    await deps.store.record(row.id, auditRecord("failed_passphrase", actor, now));
    return { outcome: "passphrase_required", push: toPush(row, urlToken, now) };
  }
  if (payloadSealed === null) throw new Error(`The live push ${row.id} lacks its payload.`);
  // Fields are answered twice: as text, too.
  const textBytes = payloadSealed.length * (row.payloadFormat === "fields" ? 2 : 1);
  request.reserveAnswer(textBytes);
  const unlocked = await unlock(deps, sealed, { urlToken, passphrase, now, actor, openSecret });
  if (unlocked.outcome === "too_many_attempts") return unlocked;
  if (unlocked.outcome === "wrong_passphrase") {
    return { outcome: "wrong_passphrase", push: toPush(row, urlToken, now) };
  }
  const fileRows = await deps.store.filesOf(sealed);
  const payload = openPayload(unlocked.key, row, fileRows, payloadSealed);
  if (payload === undefined) return { outcome: "broken" };
  const stored: { pushId: number; row: FileRow; key: Buffer }[] = [];
  for (const file of fileRows) {
    const key = openFileKey(unlocked.key, row, file);
    if (key === undefined) return { outcome: "broken" };
    stored.push({ pushId: row.id, row: file, key });
  }
  if (stored.length > 0 && !(await openStoredFiles(deps, row, stored, actor))) return { outcome: "broken" };
  // Last, because the client may have gone while passphrase and files were being checked.
  request.reserveAnswer(textBytes + fileRows.reduce((bytes, file) => bytes + fileTextBytes(file), 0));
  // Read the clock again: the store may have been slow.
  const revealedAt = deps.clock.now();
  const files: RevealedFile[] = [];
  const tickets: NewTicket[] = [];
  for (const { row: file, key } of stored) {
    const details = openFileDetails(deps.vault.keyring, { ...file, ownerId: row.ownerId, key });
    if (details === undefined) throw new Error(`The details of file ${file.id} do not open.`);
    const made = await makeTicket(deps, row, { id: file.id, key }, revealedAt);
    files.push({ ...details, sizeBytes: file.sizeBytes, ticket: made.ticket });
    tickets.push(made.stored);
  }
  const fields = readStoredFields({ payload, payloadFormat: row.payloadFormat });
  // Before the view is counted: a read that fails must not cost it.
  const sender = row.senderShown ? await senderOf(deps, row, urlToken) : null;
  const content = { payload: fields === null ? payload : fieldsText(fields), fields, files, sender };
  return { outcome: "opened", content, tickets, rowSecret: unlocked.rowSecret };
}

/**
 * @returns false when an edit or an end at the same time has deleted files.
 * @throws AppError unavailable when the store cannot give the files now.
 */
async function openStoredFiles(
  deps: PushDeps,
  row: PushRow,
  files: readonly StoredFile[],
  actor: Actor,
): Promise<boolean> {
  try {
    await deps.openFiles(files, actor.client);
    return true;
  } catch (error) {
    if (error instanceof StoredFileError && (await hasChanged(deps, row))) return false;
    throw fileRefusal(error);
  }
}

/** The name and type of a file, and the address with its ticket. */
const ticketBytesMax = 512;
const fileTextBytes = (file: FileRow) => file.detailsSealed.length + ticketBytesMax;

async function refuse(deps: PushDeps, row: PushRow, { urlToken, now, actor }: Retrieval): Promise<ClaimOutcome> {
  await endIfDue(deps, row, now);
  const refused = await recordRefusal(deps, row, now, actor);
  return { outcome: "gone", push: { ...toPush(refused, urlToken, now), expired: true } };
}

/**
 * Strangers can repeat refused retrievals. A tombstone has no audit trail, so for it a refusal is written only while
 * the count still changes the answer.
 */
async function recordRefusal(deps: PushDeps, row: PushRow, now: number, actor: Actor): Promise<PushRow> {
  const exhausted = row.views + row.refusals >= row.expireAfterViews;
  if (row.ownerId === null && exhausted) return (await deps.store.findById(row.id)) ?? row;
  return (await deps.store.recordRefusal(row.id, auditRecord("failed_view", actor, now))) ?? row;
}
