import { type Clock, dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import { unreachable } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Events } from "../telemetry/events.ts";
import { composeEmail, type EmailHead } from "./compose.ts";
import { type Email, type EmailContent, type LinkContent, linkLifeOf, openEmail } from "./email.ts";
import type { Mailer, MailFailure, Message } from "./smtp.ts";
import type { EmailStore, StoredEmail } from "./store/emails.ts";

/** Longer than any sending takes. When a process dies while it sends, another one takes over after this. */
const leaseMs = 2 * minuteMs;
const retryMsMin = minuteMs;
const refusedRetryMsMax = 6 * hourMs;
/** A server that is back shall not be found hours later; that it is not asked too often is what the rest is for. */
const unavailableRetryMsMax = 15 * minuteMs;
const givenUpAfterMs = 3 * dayMs;
/**
 * Some servers refuse for good what they take at the next try. A link's fate is told to whoever sent it, who waits for
 * it and may have mistyped the address: there the first refusal is the answer (RFC 5321, section 4.2.1).
 */
const permanentRefusalsMax = 3;
const linkPermanentRefusalsMax = 1;
const restMsMin = 5 * secondMs;
const restMsMax = minuteMs;
const batchMax = 50;
export const failedMax = 1_000;

interface Deps extends EmailHead {
  readonly store: EmailStore;
  readonly keyring: Keyring;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Pick<Events, "mailSent" | "mailPutOff" | "mailGivenUp">;
  readonly linkEmails: LinkEmails;
}

export interface Delivery {
  /**
   * Sends what is due, a bounded number, one after the other. A mail leaves at least once: when the process dies between
   * the server's yes and its own note of it, the mail is sent again, under the same Message-ID.
   */
  deliverDue(stop: AbortSignal): Promise<void>;
}

const failures = {
  unreadable: { code: "unreadable", sentence: "The letter cannot be opened: the master key that sealed it is gone." },
  pushEnded: { code: "push_ended", sentence: "The push had ended before its link could be sent." },
  linkOver: { code: "link_over", sentence: "The link in it had run out before it could be sent." },
} as const satisfies Record<string, MailFailure>;

export function createDelivery(deps: Deps): Delivery {
  const { store, clock, events } = deps;
  /** While the server cannot be worked with, one email after the other asks it whether it can again. */
  let restsUntil = Number.NEGATIVE_INFINITY;
  let restMs = 0;

  /** Told before the email's own row is changed: told twice when the process dies in between, never not at all. */
  async function settle(content: EmailContent, fate: "sent" | "given_up"): Promise<void> {
    if (content.kind === "push_link") await deps.linkEmails.settle(content, fate);
  }

  async function giveUp(stored: StoredEmail, letter: Email | undefined, failure: MailFailure): Promise<"done"> {
    if (letter !== undefined) await settle(letter.content, "given_up");
    await store.giveUp(stored, failure.sentence, failedMax);
    tellGivenUp(stored, letter?.content.kind ?? "unknown", failure);
    return "done";
  }

  function tellGivenUp({ id, attempts }: StoredEmail, kind: string, { code }: MailFailure): void {
    events.mailGivenUp({ id, kind, attempts, code });
  }

  /** The link leads nowhere any more: not sent, and nothing that an administrator should look into. */
  async function drop(stored: StoredEmail, { content }: Email): Promise<"done"> {
    await settle(content, "given_up");
    await store.remove(stored.id);
    tellGivenUp(stored, content.kind, failures.pushEnded);
    return "done";
  }

  async function putOff(stored: StoredEmail, letter: Email, failure: MailFailure, maxMs: number): Promise<"done"> {
    const { kind } = letter.content;
    const dueAt = clock.now() + retryAfterMs(stored.attempts, maxMs, deps.random);
    if (dueAt >= uselessFrom(stored, letter)) return await giveUp(stored, letter, failure);
    if (letter.content.kind === "push_link") await deps.linkEmails.putOff(letter.content);
    await store.postpone(stored, dueAt, failure.sentence);
    events.mailPutOff({ id: stored.id, kind, attempts: stored.attempts, code: failure.code });
    return "done";
  }

  /** @returns "rest" when the server is not to be asked again at once. */
  async function deliver(stored: StoredEmail, stop: AbortSignal): Promise<"done" | "rest"> {
    const letter = openEmail(deps.keyring, stored.id, stored.emailSealed);
    if (letter === undefined) return await giveUp(stored, undefined, failures.unreadable);
    const { content } = letter;
    const { kind } = content;
    const ends = linkEnd(stored, letter);
    if (ends !== undefined && clock.now() >= ends) return await giveUp(stored, letter, failures.linkOver);
    if (content.kind === "push_link" && !(await deps.linkEmails.isOfUse(content))) return await drop(stored, letter);

    const sending = await deps.mailer.send(messageOf(stored, letter, deps), stop);
    switch (sending.outcome) {
      case "accepted":
        restMs = 0;
        await settle(content, "sent");
        await store.remove(stored.id);
        events.mailSent({ id: stored.id, kind, attempts: stored.attempts });
        return "done";
      case "refused":
        restMs = 0;
        if (!sending.permanent || stored.attempts < permanentRefusalsMaxOf(kind)) {
          return await putOff(stored, letter, sending.failure, refusedRetryMsMax);
        }
        return await giveUp(stored, letter, sending.failure);
      case "unavailable":
        await putOff(stored, letter, sending.failure, unavailableRetryMsMax);
        return "rest";
      case "stopped":
        await store.release(stored, clock.now());
        return "rest";
      default:
        return unreachable(sending);
    }
  }

  return {
    async deliverDue(stop) {
      for (let count = 0; count < batchMax && !stop.aborted; count += 1) {
        const now = clock.now();
        // A rest that begins in the future was begun by a clock that has been set back since.
        if (now < restsUntil && restsUntil - now <= restMsMax) return;
        const window = { now, farthest: now + farthestMs };
        if (!(await store.anyDue(window))) return;
        const stored = await store.claimDue(window, now + leaseMs);
        if (stored === undefined) return;
        if ((await deliver(stored, stop)) === "rest") {
          restMs = Math.min(restMsMax, Math.max(restMsMin, 2 * restMs));
          restsUntil = clock.now() + restMs;
        }
      }
    },
  };
}

function permanentRefusalsMaxOf(kind: EmailContent["kind"]): number {
  return kind === "push_link" ? linkPermanentRefusalsMax : permanentRefusalsMax;
}

/** 1 minute, doubled each time, and up to a quarter more by chance, so that many do not come at once. */
function retryAfterMs(attempts: number, maxMs: number, random: Random): number {
  const doubled = Math.min(maxMs, retryMsMin * 2 ** Math.min(attempts - 1, 20));
  const chance = random.bytes(4).readUInt32BE() / 2 ** 32;
  return Math.round(doubled * (1 + chance / 4));
}

const farthestMs = refusedRetryMsMax * 1.25 + leaseMs;

function linkEnd({ createdAt }: StoredEmail, letter: Email): number | undefined {
  const life = linkLifeOf(letter.content.kind);
  return life === undefined ? undefined : createdAt + life;
}

function uselessFrom(stored: StoredEmail, letter: Email): number {
  return linkEnd(stored, letter) ?? stored.createdAt + givenUpAfterMs;
}

/** The envelope is new for each email, so its digest names the email to nobody and never names two. */
function messageOf(stored: StoredEmail, letter: Email, head: EmailHead): Message {
  const id = digest(stored.emailSealed.toString("base64")).toString("hex").slice(0, 32);
  return {
    to: letter.to,
    ...composeEmail(letter, head),
    messageId: `${id}@${new URL(head.baseUrl).hostname}`,
    date: stored.createdAt,
  };
}

/** What this room does not know of mails with the link of a push. Each may be told twice. */
export interface LinkEmails {
  /** The link still opens something; asked right before the mail is sent. */
  isOfUse(letter: LinkContent): Promise<boolean>;
  settle(letter: LinkContent, fate: "sent" | "given_up"): Promise<void>;
  /** It was tried, and will be again. */
  putOff(letter: LinkContent): Promise<void>;
}
