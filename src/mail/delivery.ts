import { type Clock, dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import { unreachable } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Events } from "../telemetry/events.ts";
import { composeEmail, type EmailHead } from "./compose.ts";
import { type ContentOf, type Email, type EmailContent, linkLifeOf, openEmail, type ReadyContent } from "./email.ts";
import type { Mailer, MailFailure, OutgoingMessage, Sending } from "./smtp.ts";
import type { EmailStore, StoredEmail } from "./store/emails.ts";

const retryMsMin = minuteMs;
const refusedRetryMsMax = 6 * hourMs;
/** Short, so that emails are sent soon after the mail server recovers. The pause limits how often a dead server is tried. */
const unavailableRetryMsMax = 15 * minuteMs;
const givenUpAfterMs = 3 * dayMs;
/**
 * Some servers refuse permanently what they accept at the next attempt (RFC 5321, section 4.2.1). The sender of a push's
 * link sees the result and may have mistyped the address, so for link emails the first refusal is final.
 */
const permanentRefusalsMax = 3;
const linkPermanentRefusalsMax = 1;
const pauseMsMin = 5 * secondMs;
const pauseMsMax = minuteMs;
const batchMax = 50;
export const failedMax = 1_000;

/** The caller's decisions about link emails. Each call may be repeated. */
export interface LinkEmails {
  /** Called right before the link is sent. @returns its path; undefined: it must not be sent any more. */
  openPath(content: ContentOf<"push_link">): Promise<string | undefined>;
  settle(content: ContentOf<"push_link">, fate: "sent" | "given_up"): Promise<void>;
  /** An attempt has failed and will be repeated. */
  putOff(content: ContentOf<"push_link">): Promise<void>;
}

interface Deps extends EmailHead {
  readonly store: EmailStore;
  readonly keyring: Keyring;
  readonly mailer: Pick<Mailer, "send" | "sendMsMax">;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Pick<Events, "mailSent" | "mailPutOff" | "mailGivenUp">;
  readonly linkEmails: LinkEmails;
  /** Called after the result of an attempt is stored. */
  readonly onAttempt: (sending: Sending, stop: AbortSignal) => Promise<void>;
}

const failures = {
  unreadable: {
    code: "unreadable",
    sentence: "The email cannot be opened: its master key is not configured any more.",
  },
  pushEnded: {
    code: "push_ended",
    sentence: "The push had ended before its link could be sent, or its owner had lost the link.",
  },
  linkOver: { code: "link_over", sentence: "The link in the email had expired before it could be sent." },
} as const satisfies Record<string, MailFailure>;

export type Delivery = ReturnType<typeof createDelivery>;

function createFates(deps: Deps) {
  const { store, clock, events } = deps;

  /** Runs before the email's row changes: if the process dies in between, the result is reported twice, never lost. */
  async function settle(content: EmailContent, fate: "sent" | "given_up"): Promise<void> {
    if (content.kind === "push_link") await deps.linkEmails.settle(content, fate);
  }

  async function giveUp(stored: StoredEmail, message: Email | undefined, failure: MailFailure): Promise<"done"> {
    if (message !== undefined) await settle(message.content, "given_up");
    await store.giveUp(stored, failure.sentence, failedMax);
    logGivenUp(stored, message?.content.kind ?? "unknown", failure);
    return "done";
  }

  function logGivenUp({ id, attempts }: StoredEmail, kind: string, { code }: MailFailure): void {
    events.mailGivenUp({ id, kind, attempts, code });
  }

  /** The push has ended, or its link does not open any more: it is not sent, and no failure is kept for administrators. */
  async function drop(stored: StoredEmail, { content }: Email): Promise<"done"> {
    await settle(content, "given_up");
    await store.remove(stored.id);
    logGivenUp(stored, content.kind, failures.pushEnded);
    return "done";
  }

  /** @param message undefined: it cannot be opened. */
  async function putOff(
    stored: StoredEmail,
    message: Email | undefined,
    failure: MailFailure,
    maxMs: number,
  ): Promise<"done"> {
    const content = message?.content;
    const dueAt = clock.now() + retryAfterMs(stored.attempts, maxMs, deps.random);
    if (dueAt >= uselessFrom(stored, message)) return await giveUp(stored, message, failure);
    if (content?.kind === "push_link") await deps.linkEmails.putOff(content);
    await store.postpone(stored, dueAt, failure.sentence);
    events.mailPutOff({
      id: stored.id,
      kind: content?.kind ?? "unknown",
      attempts: stored.attempts,
      code: failure.code,
    });
    return "done";
  }

  async function withPath(content: ContentOf<"push_link">): Promise<ReadyContent | undefined> {
    const path = await deps.linkEmails.openPath(content);
    return path === undefined ? undefined : { ...content, path };
  }

  return { settle, giveUp, drop, putOff, withPath };
}

/** @param onAnswered called when the mail server has accepted or refused an email. */
function createSending(deps: Deps, onAnswered: () => void) {
  const { store, clock, events } = deps;
  const { settle, giveUp, drop, putOff, withPath } = createFates(deps);

  /** Another process may have its key, if this one was suspended when the key was put to use: see `assertSameSecrets`. */
  async function keepUnreadable(stored: StoredEmail): Promise<"done"> {
    if (stored.attempts >= permanentRefusalsMax) return await giveUp(stored, undefined, failures.unreadable);
    return await putOff(stored, undefined, failures.unreadable, refusedRetryMsMax);
  }

  /** @returns "pause": do not use the mail server again at once. */
  async function deliver(stored: StoredEmail, stop: AbortSignal): Promise<"done" | "pause"> {
    const message = openEmail(deps.keyring, stored.id, stored.emailSealed);
    if (message === undefined) return await keepUnreadable(stored);
    const { content } = message;
    const expiresAt = linkExpiry(stored, message);
    if (expiresAt !== undefined && clock.now() >= expiresAt) return await giveUp(stored, message, failures.linkOver);
    const ready = content.kind === "push_link" ? await withPath(content) : content;
    if (ready === undefined) return await drop(stored, message);

    const sending = await deps.mailer.send(outgoing(stored, { ...message, content: ready }, deps), stop);
    const next = await record(stored, message, sending);
    await deps.onAttempt(sending, stop);
    return next;
  }

  async function record(stored: StoredEmail, message: Email, sending: Sending): Promise<"done" | "pause"> {
    const { content } = message;
    const { kind } = content;
    switch (sending.outcome) {
      case "accepted":
        onAnswered();
        await settle(content, "sent");
        await store.remove(stored.id);
        events.mailSent({ id: stored.id, kind, attempts: stored.attempts });
        return "done";
      case "refused":
        onAnswered();
        if (!sending.permanent || stored.attempts < permanentRefusalsMaxOf(kind)) {
          return await putOff(stored, message, sending.failure, refusedRetryMsMax);
        }
        return await giveUp(stored, message, sending.failure);
      case "unavailable":
        await putOff(stored, message, sending.failure, unavailableRetryMsMax);
        return "pause";
      case "stopped":
        await store.release(stored, clock.now());
        return "pause";
      default:
        return unreachable(sending);
    }
  }

  return deliver;
}

export function createDelivery(deps: Deps) {
  const { store, clock } = deps;
  /** Longer than any delivery attempt takes. If the process dies while sending, another one takes over after this. */
  const leaseMs = deps.mailer.sendMsMax + minuteMs;
  const farthestMs = refusedRetryMsMax * 1.25 + leaseMs;
  /** While the mail server is unavailable, only one email at a time is tried. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let pauseMs = 0;
  const deliver = createSending(deps, () => {
    pauseMs = 0;
  });

  return {
    /**
     * Sends due emails one after the other, a bounded number of them. Each is sent at least once: if the process dies
     * between the server's acceptance and the write that records it, the email is sent again with the same Message-ID.
     */
    async deliverDue(stop: AbortSignal): Promise<void> {
      for (let count = 0; count < batchMax && !stop.aborted; count += 1) {
        const now = clock.now();
        // A pause longer than the maximum was set before the clock was moved back: ignore it.
        if (now < pausedUntil && pausedUntil - now <= pauseMsMax) return;
        const window = { now, farthest: now + farthestMs };
        if (!(await store.hasDue(window))) return;
        const stored = await store.claimDue(window, now + leaseMs);
        if (stored === undefined) return;
        if ((await deliver(stored, stop)) === "pause") {
          pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, 2 * pauseMs));
          pausedUntil = clock.now() + pauseMs;
        }
      }
    },
  };
}

function permanentRefusalsMaxOf(kind: EmailContent["kind"]): number {
  return kind === "push_link" ? linkPermanentRefusalsMax : permanentRefusalsMax;
}

/** 1 minute, doubled at each attempt, plus up to a quarter at random, so that many emails do not become due together. */
function retryAfterMs(attempts: number, maxMs: number, random: Random): number {
  const doubled = Math.min(maxMs, retryMsMin * 2 ** Math.min(attempts - 1, 20));
  const fraction = random.bytes(4).readUInt32BE() / 2 ** 32;
  return Math.round(doubled * (1 + fraction / 4));
}

function linkExpiry({ createdAt }: StoredEmail, message: Email | undefined): number | undefined {
  const life = message && linkLifeOf(message.content.kind);
  return life === undefined ? undefined : createdAt + life;
}

function uselessFrom(stored: StoredEmail, message: Email | undefined): number {
  return linkExpiry(stored, message) ?? stored.createdAt + givenUpAfterMs;
}

/** The Message-ID comes from the sealed bytes, which differ for every email: it is unique and reveals nothing. */
function outgoing(
  stored: StoredEmail,
  message: Email & { readonly content: ReadyContent },
  head: EmailHead,
): OutgoingMessage {
  const id = digest(stored.emailSealed.toString("base64")).toString("hex").slice(0, 32);
  return {
    to: message.to,
    ...composeEmail(message, head),
    messageId: `${id}@${new URL(head.baseUrl).hostname}`,
    date: stored.createdAt,
  };
}
