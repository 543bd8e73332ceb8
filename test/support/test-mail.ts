import { minuteMs } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createKeyring, type Keyring } from "../../src/crypto/keyring.ts";
import type { Database } from "../../src/database/database.ts";
import { createDelivery, type Delivery, type LinkEmails } from "../../src/mail/delivery.ts";
import type { EmailContent } from "../../src/mail/email.ts";
import { createOutbox, type Outbox } from "../../src/mail/outbox.ts";
import type { Mailer, OutgoingMessage, Sending } from "../../src/mail/smtp.ts";
import { createEmailStore, type EmailStore } from "../../src/mail/store/emails.ts";
import { createEvents } from "../../src/telemetry/events.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { TestClock } from "./domain.ts";
import { openEngineDatabase } from "./engine-database.ts";

export const accepted: Sending = { outcome: "accepted", reply: "250 OK" };
export const unavailable: Sending = {
  outcome: "unavailable",
  senderRefused: false,
  failure: { code: "ECONNREFUSED", sentence: "The mail server cannot be reached (ECONNREFUSED)." },
};
export const refused = (permanent: boolean): Sending => ({
  outcome: "refused",
  permanent,
  failure: { code: permanent ? "550" : "451", sentence: "The mail server refused the recipient." },
});

/** Never aborted. */
export const neverAborted = new AbortController().signal;

export interface TestMail {
  readonly db: Database;
  readonly store: EmailStore;
  readonly outbox: Outbox;
  readonly delivery: Delivery;
  readonly clock: TestClock;
  readonly logLines: readonly string[];
  /** The messages that the mailer was given, in order. */
  readonly sent: readonly OutgoingMessage[];
  /** Their recipients. */
  recipients(): readonly string[];
  put(to: string, content?: EmailContent): Promise<void>;
  /** Sends due emails now, like the job. */
  run(stop?: AbortSignal): Promise<void>;
}

export const resetEmail: EmailContent = { kind: "reset_password", token: "reset-token-0123456789" };
export const accountNotificationEmail: EmailContent = {
  kind: "account_notification",
  change: "token_made",
  subject: "deploy",
  at: Date.UTC(2026, 0, 15),
  address: "192.0.2.1",
  userAgent: "curl/8",
};
export const linkEmail: EmailContent = {
  ...{ kind: "push_link", pushId: 1, linkDeliveryId: 1, recipientIndex: 0, ownerId: 1, pathSealed: "" },
  ...{ passphraseRequired: false, viewsRemaining: 1, expiresAt: 1, from: null },
};
export const testKeyring = createKeyring([Buffer.alloc(32, 7)], systemRandom);

/** Every push can be retrieved, and results are ignored. */
const anyLink: LinkEmails = {
  openPath: async () => "/p/link",
  settle: async () => undefined,
  putOff: async () => undefined,
};

/** An outbox and its delivery, with a mailer whose results the test chooses. */
export function openTestMail(options: {
  readonly folder?: string;
  readonly answer: (message: OutgoingMessage, stop: AbortSignal) => Sending | Promise<Sending>;
  readonly clock?: TestClock;
  readonly keyring?: Keyring;
  readonly open?: boolean;
  readonly linkEmails?: LinkEmails;
  /** A minute by default. */
  readonly sendMsMax?: number;
}): TestMail & AsyncDisposable {
  const { clock = new TestClock(), keyring = testKeyring } = options;
  const db = openEngineDatabase(options.folder);
  const store = createEmailStore(db);
  const outbox = createOutbox({ db, keyring: () => keyring, open: options.open ?? true });
  const sent: OutgoingMessage[] = [];
  const mailer: Mailer = {
    sendMsMax: options.sendMsMax ?? minuteMs,
    async send(message, stop) {
      sent.push(message);
      return await options.answer(message, stop);
    },
    check: async () => undefined,
  };
  const logLines: string[] = [];
  const events = createEvents({
    logger: createLogger("debug", { write: (line: string) => logLines.push(line) }),
    clock,
  });
  const delivery = createDelivery({
    store,
    keyring,
    mailer,
    clock,
    events,
    linkEmails: options.linkEmails ?? anyLink,
    onAttempt: async () => undefined,
    baseUrl: "https://push.example.com",
    pushBaseUrl: "https://push.example.com",
    instanceName: () => "Sealpush",
    random: systemRandom,
  });
  return {
    db,
    store,
    outbox,
    delivery,
    clock,
    logLines,
    sent,
    recipients: () => sent.map(({ to }) => to),
    put: (to, content = accountNotificationEmail) =>
      db.write((tx) => outbox.put(tx, { to, language: null, content }, clock.now())),
    run: (stop = neverAborted) => delivery.deliverDue(stop),
    async [Symbol.asyncDispose]() {
      await db.close();
    },
  };
}
