import { dayMs, minuteMs } from "../base/clock.ts";
import { normalizeEmail } from "../base/email.ts";
import { AppError, invalidFields } from "../base/errors.ts";
import { type Counter, type Limits, tooManyAttempts } from "../limits/limits.ts";
import { auditRecord } from "./audit-trail.ts";
import type { PushDeps } from "./deps.ts";
import { type AskedLinkDelivery, asksForLinkDelivery, checkRecipients } from "./email-rules.ts";
import type { Problems } from "./limits.ts";
import { recipientsMax, sealLinkDelivery, splitRecipients } from "./link-deliveries.ts";
import type { LinkDeliveryRefusal, NewLinkDelivery } from "./notification-store.ts";
import { hasEnded, isForgotten, isOwner } from "./present-push.ts";
import type { Actor, LinkDeliveryRequest } from "./push.ts";
import type { PushRow } from "./push-row.ts";

export function createLinkDeliveryCounter(limits: Limits): Counter {
  return limits.sliding({ name: "linkDelivery", windowMs: minuteMs, max: 5, rememberedMax: 20_000 });
}

/** @param push as it will be, or stands. @returns undefined: none is asked for. */
export async function prepareLinkDelivery(
  deps: PushDeps,
  request: AskedLinkDelivery,
  { row, urlToken }: { readonly row: PushRow; readonly urlToken: string },
  actor: Actor,
): Promise<NewLinkDelivery | undefined> {
  const { ownerId } = row;
  if (!asksForLinkDelivery(request) || ownerId === null) return undefined;
  const { letters } = deps;
  await letters.assertRoom();
  const owner = await letters.findOwner(ownerId);
  const recipients = (request.notifyEmailsTo ?? "").trim();
  const locale = (request.notifyEmailsToLocale ?? "").trim() || null;
  const id = await deps.linkDeliveryIds.next();
  const now = deps.clock.now();
  const letter = {
    ...{ locale, linkDeliveryId: id, pushId: row.id, urlToken },
    retrievalStep: row.retrievalStep,
    passphraseRequired: row.passphraseSalt !== null,
    viewsRemaining: Math.max(0, row.expireAfterViews - row.views),
    expiresAt: row.expiresAt,
    from: owner?.isConfirmed === true ? owner.email : null,
  };
  const addresses = splitRecipients(recipients).flatMap((address) => normalizeEmail(address) ?? []);
  return {
    ...{ id, ownerId, recipientCount: addresses.length },
    detailsSealed: sealLinkDelivery(deps.vault.keyring, id, { recipients, locale }),
    audit: auditRecord("creation_email_send", actor, now),
    day: Math.floor(now / dayMs),
    dailyMax: letters.dailyMax,
    async putEmails(tx) {
      for (const [recipientIndex, to] of addresses.entries())
        await letters.putLink(tx, { ...letter, to, recipientIndex }, now);
    },
  };
}

/**
 * Mails the link of a living push of the actor's. @throws AppError not_found (unknown, or no links are mailed here),
 * not_authenticated, forbidden, invalid_fields, too_many_requests (5 a minute), unavailable.
 */
export async function deliverLink(
  deps: PushDeps,
  urlToken: string,
  request: LinkDeliveryRequest,
  actor: Actor,
): Promise<void> {
  const { user } = actor;
  if (!deps.letters.mailsLinks) throw new AppError("not_found", "not-found");
  if (user === null) throw new AppError("not_authenticated", "Mailing a link needs an API token.");
  const row = await deps.store.find(deps.vault.tokenDigest(urlToken));
  const now = deps.clock.now();
  if (row === undefined || isForgotten(row, now)) throw new AppError("not_found", "not-found");
  if (!isOwner(row, actor)) throw new AppError("forbidden", "Only its owner may have the link of a push mailed.");
  const problems: Problems = {};
  checkRecipients(problems, request);
  if (Object.keys(problems).length > 0) throw invalidFields(problems);
  const charge = await deps.linkDeliveryCounter.charge(String(user.id), now);
  if (charge.outcome === "refused") throw tooManyAttempts(charge);
  if (hasEnded(row, now)) throw linkDeliveryRefused("ended", deps.letters);
  const linkDelivery = await prepareLinkDelivery(deps, request, { row, urlToken }, actor);
  if (linkDelivery === undefined) throw new Error(`No linkDelivery of push ${row.id} could be made.`);
  const outcome = await deps.store.linkDeliveries.put(row.id, linkDelivery);
  if (outcome !== "put") throw linkDeliveryRefused(outcome, deps.letters);
}

export function linkDeliveryRefused(
  reason: LinkDeliveryRefusal,
  { dailyMax }: Pick<PushDeps["letters"], "dailyMax">,
): AppError {
  const sentences: Readonly<Record<LinkDeliveryRefusal, string>> = {
    ended: "The push has ended.",
    recipients_used_up: `The link of a push can be mailed to ${recipientsMax} addresses in all.`,
    day_used_up: `Links can be mailed to ${dailyMax} addresses a day.`,
  };
  return invalidFields({ notifyEmailsTo: [sentences[reason]] });
}
