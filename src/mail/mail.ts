import { type Clock, dayMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, InTransaction } from "../database/database.ts";
import type { Events } from "../telemetry/events.ts";
import { createDelivery, type LinkEmails } from "./delivery.ts";
import { type AccountChange, type EmailKind, linkLifeOf, openEmail } from "./email.ts";
import { createMailServer } from "./mail-server.ts";
import { createOutbox } from "./outbox.ts";
import { createSmtpMailer } from "./smtp.ts";
import { createEmailStore, type FailedRow } from "./store/emails.ts";

/** An email that could not be delivered. Its content, which may include a link, is never shown. */
export interface FailedEmail {
  readonly id: number;
  /** null: it cannot be opened, because its master key is gone. */
  readonly to: string | null;
  readonly kind: Exclude<EmailKind, "account_notification"> | AccountChange | null;
  readonly createdAt: number;
  readonly attempts: number;
  /** One sentence, in English, without any address, link or token. */
  readonly lastError: string;
}

export type Mail = ReturnType<typeof createMail>;
/** The operations of administrators on failed emails. */
export type FailedEmails = Pick<Mail, "failedEmails" | "retry" | "retryAll" | "discard" | "sizes" | "errorCounts">;
/** Whether emails can be sent. */
export type MailServerState = Pick<Mail, "serverFailure">;

export const failedPageSize = 50;
const listedErrorsMax = 10;
const failuresKeptMs = 30 * dayMs;

export function createMail(deps: {
  readonly config: Pick<Config, "accounts" | "mail" | "languages">;
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: Pick<
    Events,
    "mailSent" | "mailPutOff" | "mailGivenUp" | "mailServerUnavailable" | "mailServerAvailable"
  >;
  readonly linkEmails: LinkEmails;
  readonly instanceName: () => string;
}) {
  const { config, db, keyring, clock } = deps;
  const store = createEmailStore(db);
  const mailer = config.mail && createSmtpMailer(config.mail);
  // Nothing depends on its state without account emails.
  const server = config.accounts.emails && mailer ? createMailServer({ ...deps, mailer }) : undefined;
  const delivery =
    config.mail === undefined || mailer === undefined
      ? undefined
      : createDelivery({
          ...deps,
          store,
          mailer,
          onAttempt: async (sending, stop) => await server?.learn(sending, stop),
          baseUrl: config.mail.baseUrl,
          instanceName: deps.instanceName,
          pushBaseUrl: config.mail.pushBaseUrl,
          defaultLocale: config.mail.defaultLocale,
          languages: config.languages,
        });

  return {
    /** For emails about accounts. */
    outbox: createOutbox({ db, keyring: () => keyring, open: config.accounts.emails }),
    /** For emails that a user requests. Open whenever a mail server is configured, also without account emails. */
    requestedOutbox: createOutbox({ db, keyring: () => keyring, open: config.mail !== undefined }),

    /** Why no account email can be sent for now: as `lastError` of a failed email. undefined: nothing is known to prevent it. */
    serverFailure: () => server?.failure(),

    /** Watches the mail server, and see `createDelivery`. Does nothing without a mail server. */
    async deliverDue(stop: AbortSignal): Promise<void> {
      await server?.watch(stop);
      await delivery?.deliverDue(stop);
    },

    /** Newest first, `failedPageSize` a page. @param page from 1. */
    async failedEmails(page: number): Promise<readonly FailedEmail[]> {
      const rows = await store.failed(failedPageSize, (page - 1) * failedPageSize);
      return rows.map((row) => toFailedEmail(row, keyring));
    },

    /**
     * @param together written in the same transaction.
     * @returns "queued": it is due at once. "link_over": its link has expired, so it can only be discarded. "unknown": no
     * such failed email.
     */
    async retry(id: number, together: InTransaction): Promise<"queued" | "link_over" | "unknown"> {
      const failure = await store.find(id);
      if (failure === undefined) return "unknown";
      const life = linkLifeOf(openEmail(keyring, id, failure.emailSealed)?.content.kind ?? "test");
      if (life !== undefined && clock.now() >= failure.createdAt + life) return "link_over";
      return (await store.retry(id, clock.now(), together)) ? "queued" : "unknown";
    },

    /**
     * Makes all failed emails due at once. One whose link has expired fails again without being sent.
     * @param together written in the same transaction. @returns how many; if 0, nothing was written.
     */
    retryAll: (together: InTransaction) => store.retryAll(clock.now(), together),

    /** @param together written in the same transaction. @returns false: no such failed email. */
    discard: (id: number, together: InTransaction) => store.discard(id, together),

    sizes: () => store.sizes(),

    /** The most frequent last errors of waiting and failed emails; the errors are as in `FailedEmail`. */
    errorCounts: () => store.errorCounts(listedErrorsMax),

    /** Removes failed emails 30 days after they were written. @returns how many. */
    removeOldFailures: () => store.removeFailedBefore(clock.now() - failuresKeptMs),
  };
}

function toFailedEmail({ id, emailSealed, createdAt, attempts, lastError }: FailedRow, keyring: Keyring): FailedEmail {
  const message = openEmail(keyring, id, emailSealed);
  const content = message?.content;
  const kind = content === undefined ? null : content.kind === "account_notification" ? content.change : content.kind;
  return { id, to: message?.to ?? null, kind, createdAt, attempts, lastError };
}
