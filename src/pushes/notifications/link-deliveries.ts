import { dayMs, minuteMs } from "../../base/clock.ts";
import { AppError, invalidFields, unavailable } from "../../base/errors.ts";
import { addProblem, assertNoProblems, type Problems } from "../../base/field-problems.ts";
import { isFields } from "../../base/json.ts";
import type { Keyring, SealedRow } from "../../crypto/keyring.ts";
import type { RowOf } from "../../database/table.ts";
import { type Counter, type Limits, tooManyAttempts } from "../../limits/limits.ts";
import { findViolations } from "../../policies/policies.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { pushLimits } from "../create/limits.ts";
import type { PushDeps } from "../deps.ts";
import { hasEnded, isForgotten, isProvenOwner } from "../present-push.ts";
import type { LinkDeliveryReport, LinkDeliveryRequest, LinkDeliveryStatus } from "../push.ts";
import type { LinkDeliveryRefusal, NewLinkDelivery } from "../store/notifications.ts";
import { linkDeliveries, type UnsealedPushRow } from "../store/tables.ts";
import type { AccountStoredLinkKey } from "../stored-link-keys.ts";
import {
  type AskedLinkDelivery,
  asksForLinkDelivery,
  checkRecipients,
  keyNotKnown,
  recipientsOf,
  splitRecipients,
} from "./email-rules.ts";

/**
 * A link delivery: the emailed link of an owned push. It belongs to an audit entry of the kind `creation_email_send`.
 */
export type LinkDeliveryRow = RowOf<typeof linkDeliveries>;

/** Details that only the push's owner may read. */
export interface LinkDeliveryDetails {
  /** As the owner entered them, separated by commas. */
  readonly recipients: string;
  readonly locale: string | null;
  /** For an imported link delivery: its outcome on the other installation. This server sends none of its emails. */
  readonly past?: Pick<LinkDeliveryReport, "status" | "successfulSends" | "errorMessage">;
}

export function sealLinkDelivery(keyring: Keyring, row: SealedRow, details: LinkDeliveryDetails): Buffer {
  return keyring.seal(linkDeliveries.seals.linkDelivery, row, Buffer.from(JSON.stringify(details), "utf8"));
}

/**
 * An imported link delivery, for `insertLinkDelivery` in the transaction that writes its audit entry.
 * @param key `id` from the ids named "link deliveries"; `sequence` of the audit entry.
 */
export function pastLinkDelivery(
  keyring: Keyring,
  { ownerId, ...key }: Pick<LinkDeliveryRow, "id" | "pushId" | "sequence"> & { readonly ownerId: number },
  report: LinkDeliveryReport,
): LinkDeliveryRow {
  const { recipients, locale, proceedAt, ...past } = report;
  return {
    ...key,
    recipientCount: splitRecipients(recipients).length,
    detailsSealed: sealLinkDelivery(keyring, { id: key.id, ownerId }, { recipients, locale, past }),
    // Every recipient counts as settled, whatever the status, because no email is queued.
    sent: 0,
    givenUp: allOf(splitRecipients(recipients).length),
    putOff: false,
    settledAt: proceedAt,
  };
}

/**
 * @param ownerId of the push.
 * @throws Error when the details do not open: they were changed, or their master key is missing.
 */
export function reportOf(row: LinkDeliveryRow, ownerId: number | null, keyring: Keyring): LinkDeliveryReport {
  const { recipients, locale, past } = openDetails(row, ownerId, keyring);
  if (past !== undefined) return { recipients, locale, ...past, proceedAt: row.settledAt };
  const addresses = splitRecipients(recipients);
  const { sent } = row;
  const status = statusOf(row, addresses.length);
  const isOver = status !== "pending" && status !== "processing";
  return {
    recipients,
    locale,
    status,
    successfulSends:
      status === "pending" ? null : addresses.filter((_, index) => (sent & (1 << index)) !== 0).join(","),
    proceedAt: isOver ? row.settledAt : null,
    errorMessage: errorMessages[status],
  };
}

function statusOf({ sent, givenUp, putOff }: LinkDeliveryRow, count: number): LinkDeliveryStatus {
  const settled = sent | givenUp;
  if (settled === 0 && !putOff) return "pending";
  const all = allOf(count);
  if (settled !== all) return "processing";
  if (sent === all) return "completed";
  return sent === 0 ? "failed" : "partially_failed";
}

function allOf(count: number): number {
  return (1 << count) - 1;
}

const errorMessages: Readonly<Record<LinkDeliveryStatus, string | null>> = {
  pending: null,
  processing: null,
  completed: null,
  partially_failed: "Some of the emails could not be sent.",
  failed: "None of the emails could be sent.",
};

function openDetails(
  { id, detailsSealed }: LinkDeliveryRow,
  ownerId: number | null,
  keyring: Keyring,
): LinkDeliveryDetails {
  const plain = keyring.open(linkDeliveries.seals.linkDelivery, { id, ownerId }, detailsSealed);
  const details: unknown = plain === undefined ? undefined : JSON.parse(plain.toString("utf8"));
  if (!isDetails(details)) throw new Error(`The details of link delivery ${id} do not open.`);
  return details;
}

/** The details were sealed here for this row, so only another version can have written another shape. */
function isDetails(value: unknown): value is LinkDeliveryDetails {
  return isFields(value) && typeof value.recipients === "string";
}

export function createLinkDeliveryCounter(limits: Limits): Counter {
  return limits.sliding({ name: "linkDelivery", windowMs: minuteMs, max: 5, rememberedMax: 40_000 });
}

interface LinkToDeliver {
  readonly row: UnsealedPushRow;
  readonly urlToken: string;
  readonly storedLinkKey: AccountStoredLinkKey;
}

/**
 * @param link of an existing push, or of one that is about to be written.
 * @returns undefined when the request has no recipients.
 */
export async function prepareLinkDelivery(
  deps: PushDeps,
  request: AskedLinkDelivery,
  { row, urlToken, storedLinkKey }: LinkToDeliver,
  actor: Actor,
): Promise<NewLinkDelivery | undefined> {
  const { ownerId } = row;
  if (!asksForLinkDelivery(request) || ownerId === null) return undefined;
  const { emails } = deps;
  if (await emails.isFull()) throw unavailable("Too many emails wait to be sent. Try again later.", 60);
  const owner = await emails.findOwner(ownerId);
  const recipients = (request.notifyEmailsTo ?? "").trim();
  const locale = (request.notifyEmailsToLocale ?? "").trim() || null;
  const id = await deps.linkDeliveryIds.next();
  const now = deps.clock.now();
  const email = {
    locale,
    linkDeliveryId: id,
    pushId: row.id,
    ownerId,
    urlToken,
    sealPath: (path: string) => storedLinkKey.sealMessage(queuedLink(id), path, deps.random).toString("base64"),
    retrievalStep: row.retrievalStep,
    passphraseRequired: row.passphraseSalt !== null,
    viewsRemaining: Math.max(0, row.expireAfterViews - row.views),
    expiresAt: row.expiresAt,
    from: owner?.isConfirmed === true ? owner.email : null,
  };
  const addresses = recipientsOf(request);
  return {
    id,
    ownerId,
    recipientCount: addresses.length,
    detailsSealed: sealLinkDelivery(deps.vault.keyring, { id, ownerId }, { recipients, locale }),
    audit: auditRecord("creation_email_send", actor, now),
    day: Math.floor(now / dayMs),
    dailyMax: emails.dailyMax,
    async putEmails(tx) {
      for (const [recipientIndex, to] of addresses.entries())
        await emails.putLink(tx, { ...email, to, recipientIndex }, now);
    },
  };
}

export function linkDeliveryOperations(deps: PushDeps) {
  return {
    /**
     * Mails the link of a live push that belongs to the actor to up to five addresses over its lifetime. The audit trail shows
     * the recipients and the outcome.
     * @param readRequest called once the push is known to be the actor's; what it throws refuses the request.
     * @throws AppError not_found (unknown, or this server does not send links by email), not_authenticated, forbidden,
     * invalid_fields, too_many_requests (5 a minute), unavailable.
     */
    async deliverLink(urlToken: string, readRequest: () => LinkDeliveryRequest, actor: Actor): Promise<void> {
      const { user } = actor;
      if (user === null) throw new AppError("not_authenticated", "Mailing a link needs an API token.");
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      const now = deps.clock.now();
      if (row === undefined || isForgotten(row, now)) throw new AppError("not_found", "not-found");
      if (!isProvenOwner(row, urlToken, actor, deps.vault))
        throw new AppError("forbidden", "Only its owner may have the link of a push mailed.");
      const request = readRequest();
      const problems: Problems = {};
      if (row.encryption === "none") checkRecipients(problems, request);
      else addProblem(problems, "notifyEmailsTo", keyNotKnown);
      assertNoProblems(problems);
      assertNoProblems(findViolations(await deps.policies.of(user), { recipients: recipientsOf(request) }));
      if (!deps.emails.mailsLinks)
        throw new AppError("not_found", "not-found", { explanation: "Email is not configured on this server." });
      const charge = await deps.linkDeliveryCounter.charge(String(user.id), now);
      if (charge.outcome === "refused") throw tooManyAttempts(charge);
      if (hasEnded(row, now)) throw linkDeliveryRefused("ended", deps.emails);
      const storedLinkKey = await deps.storedLinkKeys.findOrDraw(user.id);
      const linkDelivery = await prepareLinkDelivery(deps, request, { row, urlToken, storedLinkKey }, actor);
      if (linkDelivery === undefined) throw new Error(`No link delivery of push ${row.id} could be made.`);
      const outcome = await deps.store.linkDeliveries.put(row.id, linkDelivery);
      if (outcome !== "put") throw linkDeliveryRefused(outcome, deps.emails);
    },
  };
}

export function linkDeliveryRefused(
  reason: LinkDeliveryRefusal,
  { dailyMax }: Pick<PushDeps["emails"], "dailyMax">,
): AppError {
  const sentences: Readonly<Record<LinkDeliveryRefusal, string>> = {
    ended: "The push has ended.",
    recipients_used_up: `The link of a push can be mailed to ${pushLimits.recipientsMax} addresses in all.`,
    day_used_up: `Links can be mailed to ${dailyMax} addresses a day.`,
  };
  return invalidFields({ notifyEmailsTo: [sentences[reason]] });
}

interface LinkEmailId {
  readonly pushId: number;
  readonly linkDeliveryId: number;
  readonly recipientIndex: number;
}

/** What the link in a queued email is bound to. The email as a whole is sealed under the master key. */
const queuedLink = (linkDeliveryId: number) => ["link delivery", linkDeliveryId] as const;

interface QueuedLink extends LinkEmailId {
  readonly ownerId: number;
  /** Base64, sealed under the key of the owner's stored links. */
  readonly pathSealed: string;
}

/** For the email queue: records the outcomes of link emails. Each call may be repeated. */
export function watchLinkEmails({
  store,
  clock,
  storedLinkKeys,
}: Pick<PushDeps, "store" | "clock" | "storedLinkKeys">) {
  return {
    /**
     * The path of the link in the email. @returns undefined: the push behind it can no longer be retrieved, or the link secret of its owner
     * was replaced since the email was queued.
     */
    async openPath({ pushId, linkDeliveryId, ownerId, pathSealed }: QueuedLink): Promise<string | undefined> {
      const row = await store.findById(pushId);
      if (row === undefined || hasEnded(row, clock.now())) return undefined;
      const storedLinkKey = await storedLinkKeys.find(ownerId);
      const opened = storedLinkKey?.openMessage(queuedLink(linkDeliveryId), Buffer.from(pathSealed, "base64"));
      return opened === "other_key" ? undefined : opened?.link;
    },
    settle: ({ linkDeliveryId, recipientIndex }: LinkEmailId, fate: "sent" | "given_up"): Promise<void> =>
      store.linkDeliveries.settle(linkDeliveryId, recipientIndex, fate, clock.now()),
    putOff: ({ linkDeliveryId }: LinkEmailId): Promise<void> => store.linkDeliveries.putOff(linkDeliveryId),
  };
}
