import { type Clock, dayMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, InTransaction } from "../database/database.ts";
import type { Events } from "../telemetry/events.ts";
import { createDelivery, type Delivery, type LinkEmails } from "./delivery.ts";
import { type EmailKind, linkLifeOf, type NoticeName, openEmail } from "./email.ts";
import { type BoundedOutbox, createOutbox, type Outbox } from "./outbox.ts";
import { createSmtpMailer } from "./smtp.ts";
import { createEmailStore, type EmailCounts, type StoredFailure } from "./store/emails.ts";

/** A mail that was given up. What it says, links above all, is shown to nobody. */
export interface FailedEmail {
  readonly id: number;
  /** null: it cannot be opened any more, because its master key is gone. */
  readonly to: string | null;
  readonly kind: EmailKind | NoticeName | null;
  readonly createdAt: number;
  readonly attempts: number;
  /** One sentence, in English, without any address, link or token. */
  readonly lastError: string;
}

/** What administrators see of mails and do with those that were given up; a deed takes along what is written together with it. */
export interface FailedEmails {
  /** Newest first, `failedPageSize` a page. @param page from 1. */
  failedEmails(page: number): Promise<readonly FailedEmail[]>;
  /** "queued": it is tried again at once. "link_over": nobody could use it any more; discard it. "unknown": no such email. */
  retry(id: number, together: InTransaction): Promise<"queued" | "link_over" | "unknown">;
  /** false: there is no such email. */
  discard(id: number, together: InTransaction): Promise<boolean>;
  sizes(): Promise<EmailCounts>;
}

export interface Mail extends FailedEmails, Delivery {
  /** For mails about accounts. */
  readonly outbox: Outbox;
  /** For what somebody with an account asks for: open wherever mails leave, whether accounts get theirs or not. */
  readonly requestedOutbox: BoundedOutbox;
  /** Removes what was given up, 30 days after it was written. @returns how many. */
  removeOldFailures(): Promise<number>;
}

export const failedPageSize = 50;
const failuresKeptMs = 30 * dayMs;

export function createMail(deps: {
  readonly config: Pick<Config, "accounts" | "mail">;
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Pick<Events, "mailSent" | "mailPutOff" | "mailGivenUp">;
  readonly linkEmails: LinkEmails;
}): Mail {
  const { config, db, keyring, clock } = deps;
  const store = createEmailStore(db);
  const delivery =
    config.mail === undefined
      ? undefined
      : createDelivery({
          ...{ ...deps, store, mailer: createSmtpMailer(config.mail) },
          ...{ baseUrl: config.mail.baseUrl, defaultLocale: config.mail.defaultLocale },
        });
  return {
    outbox: createOutbox({ db, keyring: () => keyring, open: config.accounts.emails }),
    requestedOutbox: createOutbox({ db, keyring: () => keyring, open: config.mail !== undefined }),
    async deliverDue(stop) {
      await delivery?.deliverDue(stop);
    },
    async failedEmails(page) {
      const failures = await store.failed(failedPageSize, (page - 1) * failedPageSize);
      return failures.map((failure) => failedEmailOf(failure, keyring));
    },
    async retry(id, together) {
      const failure = await store.find(id);
      if (failure === undefined) return "unknown";
      const life = linkLifeOf(openEmail(keyring, id, failure.emailSealed)?.content.kind ?? "test");
      if (life !== undefined && clock.now() >= failure.createdAt + life) return "link_over";
      return (await store.retry(id, clock.now(), together)) ? "queued" : "unknown";
    },
    discard: (id, together) => store.discard(id, together),
    sizes: () => store.sizes(),
    removeOldFailures: () => store.removeFailedBefore(clock.now() - failuresKeptMs),
  };
}

function failedEmailOf(
  { id, emailSealed, createdAt, attempts, lastError }: StoredFailure,
  keyring: Keyring,
): FailedEmail {
  const letter = openEmail(keyring, id, emailSealed);
  const content = letter?.content;
  const kind = content === undefined ? null : content.kind === "notice" ? content.notice : content.kind;
  return { id, to: letter?.to ?? null, kind, createdAt, attempts, lastError };
}
