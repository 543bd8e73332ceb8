import { fieldsText } from "@sealpush/age/fields";
import { unavailable } from "../../base/errors.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { blobsGraceMs, type PushDeps } from "../deps.ts";
import { endIfDue } from "../edit/end-push.ts";
import { readStoredFields } from "../payload.ts";
import { hasEnded, isForgotten, isOwner, toPush } from "../present-push.ts";
import type { AuditKind, ClaimOutcome, EarlierViews, Push, PushField, RevealedFile } from "../push.ts";
import { senderOf } from "../read/sender.ts";
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

type Opened =
  | {
      readonly outcome: "opened";
      readonly payload: string;
      readonly fields: readonly PushField[] | null;
      readonly files: readonly RevealedFile[];
      readonly tickets: readonly NewTicket[];
      readonly sender: string | null;
      readonly rowSecret: Buffer;
    }
  | { readonly outcome: "broken" }
  | Exclude<ClaimOutcome, { outcome: "revealed" | "unknown" }>;

/** After a refused claim, or when the rows do not match, the push is read again: it was edited, ended, or is damaged. */
const readsMax = 3;
const claimIdBytes = 6;

export function claimOperations(deps: PushDeps) {
  return {
    claimView: (urlToken: string, request: ClaimRequest, actor: Actor): Promise<ClaimOutcome> =>
      claimView(deps, urlToken, request, actor),
  };
}

/**
 * The only way to retrieve a secret. Everything is decrypted in memory first, and the first segment of each file is read
 * and verified. Then one conditional write counts the view, adds its audit entry and the tickets of its files and, on the last
 * view, destroys the key.
 * The answer is sent once that write is durable. So a view that cannot be decrypted is never counted, and an uncounted
 * secret is never sent.
 */
async function claimView(deps: PushDeps, urlToken: string, request: ClaimRequest, actor: Actor): Promise<ClaimOutcome> {
  const receivedAt = deps.clock.now();
  for (let reads = 1; reads <= readsMax; reads += 1) {
    const outcome = await tryToClaim(deps, urlToken, request, { actor, receivedAt, isLast: reads === readsMax });
    if (outcome !== undefined) return outcome;
  }
  throw unavailable("The push is being changed. Try again.", 1);
}

/** @returns undefined: the push was changed meanwhile and has to be read again. */
async function tryToClaim(
  deps: PushDeps,
  urlToken: string,
  request: ClaimRequest,
  { actor, receivedAt, isLast }: { readonly actor: Actor; readonly receivedAt: number; readonly isLast: boolean },
): Promise<ClaimOutcome | undefined> {
  const link = deps.vault.urlTokens.addressOf(urlToken);
  const now = deps.clock.now();
  const sealed = await deps.store.findSealed(link, request.reserveAnswer);
  if (sealed === undefined || isForgotten(sealed.row, now)) return { outcome: "unknown" };
  const { kind, counted } = viewKind(sealed.row, request, actor);
  const isRepeatable = counted && request.idempotencyKey !== undefined;
  const retry = isRepeatable ? await retryOf(deps, sealed.row, request, { receivedAt, now }) : undefined;
  if (retry !== undefined && retry.copy !== null) {
    const copy = { ...retry.copy, key: retry.key };
    const repeated = await repeat(deps, sealed, { copy, urlToken, request, now, actor });
    if (repeated !== undefined) return repeated;
    // An end or an edit has voided the copy meanwhile.
    if (!isLast) return undefined;
  }
  if (hasEnded(sealed.row, now)) return await refuse(deps, sealed.row, { urlToken, now, actor });
  if (retry?.isUsed === true) return { outcome: "key_used", push: toPush(sealed.row, urlToken, now) };
  const opened = await open(deps, sealed, { urlToken, request, now, actor });
  if (opened.outcome === "broken") {
    // The files are read after the row: an edit or an end may have happened in between.
    if (!isLast || (await hasChanged(deps, sealed.row))) return undefined;
    throw new Error(`Payload and files of push ${sealed.row.id} do not match.`);
  }
  if (opened.outcome !== "opened") return opened;
  const isImported = link.pushId !== sealed.row.id;
  const asksLastView = request.tellsLastView === true && counted && sealed.row.views > 0;
  const lastViewAt = asksLastView ? await deps.store.lastViewAt(sealed.row.id) : null;
  const newCopy = retry && { ...retry, id: await deps.ids.next() };
  const claim = claimOf(deps, sealed, opened, { actor, kind, counted, isImported, lastViewAt, newCopy });
  const claimed = await deps.store.writeView(claim);
  if (claimed === undefined) return undefined;
  // The view that reaches the limit still gets the payload, with no views remaining.
  const push = { ...toPush(claimed, urlToken, claim.now), expired: false, expiredOn: null };
  return revealed(push, opened, { earlierViews: counted ? earlierViewsOf(claim, claimed) : null, repeated: false });
}

type Retry = NonNullable<Awaited<ReturnType<typeof retryOf>>>;

/** The idempotency key of a claim and its earlier use. @returns undefined: the claim cannot be repeated. */
async function retryOf(
  deps: PushDeps,
  row: PushRow,
  { idempotencyKey }: ClaimRequest,
  { receivedAt, now }: { readonly receivedAt: number; readonly now: number },
) {
  const key = retryKeyOf(deps, row, idempotencyKey);
  if (key === undefined) return undefined;
  const { copy, isUsed, databaseTime } = await deps.store.claimRetries.find(row.id, key.digest, now);
  return { key, copy, isUsed, arrivedAt: arrivalOf(deps.clock, receivedAt, databaseTime) };
}

/** What counts the view of an opened push. */
function claimOf(
  deps: PushDeps,
  sealed: SealedPush,
  opened: Extract<Opened, { outcome: "opened" }>,
  {
    actor,
    kind,
    counted,
    isImported,
    lastViewAt,
    newCopy,
  }: Pick<ViewClaim, "counted" | "isImported" | "lastViewAt"> & {
    readonly actor: Actor;
    readonly kind: AuditKind;
    /** What seals the copy of the row secret, and its id; undefined: the claim cannot be repeated. */
    readonly newCopy: (Pick<Retry, "key" | "arrivedAt"> & { readonly id: number }) | undefined;
  },
): ViewClaim {
  // Read the clock again: the passphrase check may have waited in a queue past the push's expiry.
  const now = deps.clock.now();
  return {
    counted,
    isImported,
    lastViewAt,
    claimId: deps.random.bytes(claimIdBytes).readUIntBE(0, claimIdBytes),
    now,
    asRead: sealed,
    notByOwner: !isOwner(sealed.row, actor),
    audit: auditRecord(kind, actor, now),
    blobsDueAt: now + blobsGraceMs(deps.config),
    tickets: opened.tickets,
    key: newCopy?.key.seal(opened.rowSecret, newCopy.id, { now, arrivedAt: newCopy.arrivedAt }),
  };
}

/**
 * Answers a claim again that was counted under the same idempotency key. The push may have ended since, but not by a person.
 * @returns undefined: it cannot be repeated any more.
 */
async function repeat(
  deps: PushDeps,
  sealed: SealedPush,
  {
    copy,
    urlToken,
    request,
    now,
    actor,
  }: {
    readonly copy: { readonly key: RetryKey; readonly sealed: Buffer; readonly earlierViews: EarlierViews };
    readonly urlToken: string;
    readonly request: ClaimRequest;
    readonly now: number;
    readonly actor: Actor;
  },
): Promise<ClaimOutcome | undefined> {
  const { row } = sealed;
  const { claimRetries } = deps.store;
  const { key, sealed: rowSecretSealed, earlierViews } = copy;
  const payloadSealed = sealed.payloadSealed ?? (await claimRetries.payload(row.id));
  if (payloadSealed === undefined) return undefined;
  const copied = { ...sealed, rowSecretSealed, payloadSealed };
  const opened = await open(deps, copied, { urlToken, request, now, actor, openSecret: key.open });
  if (opened.outcome === "broken") return undefined;
  if (opened.outcome !== "opened") return opened;
  const repeatedAt = deps.clock.now();
  const audit = auditRecord("repeated_view", actor, repeatedAt);
  const logged = await claimRetries.repeat(row.id, {
    sealGeneration: row.sealGeneration,
    digest: key.digest,
    now: repeatedAt,
    audit,
    tickets: opened.tickets,
  });
  if (logged === undefined) return undefined;
  const push = { ...toPush(logged, urlToken, repeatedAt), expired: false, expiredOn: null };
  return revealed(push, opened, { earlierViews, repeated: true });
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
  {
    urlToken,
    request,
    now,
    actor,
    openSecret,
  }: {
    readonly urlToken: string;
    readonly request: ClaimRequest;
    readonly now: number;
    readonly actor: Actor;
    readonly openSecret?: RetryKey["open"];
  },
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
  const unlocked = await unlock(deps, sealed, {
    secrets: { urlToken, passphrase },
    now,
    actor,
    openSecret,
  });
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
  const text = fields === null ? payload : fieldsText(fields);
  // Before the view is counted: a read that fails must not cost it.
  const sender = row.senderShown ? await senderOf(deps, row, urlToken) : null;
  return { outcome: "opened", payload: text, fields, files, tickets, sender, rowSecret: unlocked.rowSecret };
}

type Revealed = Extract<ClaimOutcome, { outcome: "revealed" }>;

function revealed(
  push: Push,
  { payload, fields, files, sender }: Extract<Opened, { outcome: "opened" }>,
  { earlierViews, repeated }: Pick<Revealed, "earlierViews" | "repeated">,
): Revealed {
  return { outcome: "revealed", push, payload, fields, files, sender, earlierViews, repeated };
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

/** Refuses a retrieval of an ended push and logs it. */
async function refuse(
  deps: PushDeps,
  row: PushRow,
  { urlToken, now, actor }: { readonly urlToken: string; readonly now: number; readonly actor: Actor },
): Promise<ClaimOutcome> {
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
