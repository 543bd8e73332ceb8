import type { Clock } from "../base/clock.ts";
import { errorCode } from "../base/errors.ts";
import type { DomainCounters } from "./domain-counters.ts";
import { type Logger, rateLimitedLog } from "./logger.ts";

/** Every event that the server logs, one function each. */
export type Events = ReturnType<typeof createEvents>;

export interface EmailAttempt {
  /** Its number in the outbox, as administrators see it. */
  readonly id: number;
  readonly kind: string;
  readonly attempts: number;
}

export interface RequestReference {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, e.g. `/api/v2/pushes/:url_token`. */
  readonly route: string;
}

const untrustedForwardersMax = 16;
/** What to do about a failure whose code does not say it. Keys are SQLSTATEs. */
const storageFailureSentences: Readonly<Record<string, string>> = {
  "26000":
    "A prepared statement is missing. Behind a pooler in transaction mode, set PWP__DATABASE__POOLER=transaction.",
  "53300":
    "The server grants no more connections. The server keeps working with those that it has: see PWP__DATABASE__POOL_SIZE.",
};

interface ImportedRowProblem {
  readonly table: string;
  readonly id: number;
  readonly effect: string;
  readonly reason: string;
}

interface ImportEnd {
  readonly outcome: "complete" | "with_problems" | "interrupted";
  /** Problems beyond those that were logged. */
  readonly suppressedCount: number;
  /** Path of the report. */
  readonly report: string | undefined;
  /** Counts of both sides, as the report has them. */
  readonly counts: Readonly<Record<string, unknown>>;
  /** What the outcome means, and what to do next. */
  readonly sentence: string;
}

interface EventDeps {
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * No event takes a URL, token, query, payload, ticket or header, so none can log a secret: routes are logged by their pattern,
 * errors by `describeError`. Of those in `rateLimitedLog` there is at most one line per second; `suppressedCount` counts the others.
 */
export function createEvents(deps: EventDeps) {
  return { ...serverEvents(deps), ...importEvents(deps), ...requestEvents(deps), ...jobEvents(deps) };
}

function serverEvents({ logger, clock }: EventDeps) {
  return {
    serverStarted: (where: { readonly host: string; readonly port: number; readonly version: string }) =>
      logger.info({ event: "server_started", ...where }),
    /** The second listener, which serves recipients alone. */
    gatewayStarted: ({ address, port }: { readonly address: string; readonly port: number }) =>
      logger.info({ event: "gateway_started", address, port }),
    serverStopping: (signal: string) => logger.info({ event: "server_stopping", signal }),
    /** The commits and units of the database since the start of the process. */
    serverStopped: (counts: { readonly commits: number; readonly units: number }) =>
      logger.info({ event: "server_stopped", ...counts }),
    /** `path`: the path of the key file, never its content. */
    masterKeyMade: (path: string) =>
      logger.warn(
        { event: "master_key_made", path },
        "No master key was given, so one was created. Keep a copy of it.",
      ),
    /** Only while there is no user. The only secret that is logged, on purpose: the operator reads it here or in the file. */
    bootCodeMade: (code: string) =>
      logger.warn(
        { event: "boot_code_made", code },
        "There is no user yet. Open /first_run and enter this boot code to become the administrator.",
      ),
    /** A sentence of the settings table, which never quotes a secret. */
    settingWarning: (sentence: string) => logger.warn({ event: "setting_warning" }, sentence),
    /** The start waits for a database server that does not answer yet. */
    databaseAwaited: (sentence: string) =>
      logger.warn({ event: "database_awaited" }, `${sentence} The start waits for it for up to 30 seconds.`),
    /** `code`: the database driver's, e.g. SQLITE_FULL. */
    storageFailed: rateLimitedLog(clock, (suppressedCount, code: string) =>
      logger.error({ event: "storage_failed", code, suppressedCount }, storageFailureSentences[code]),
    ),
  };
}

function importEvents({ logger }: EventDeps) {
  return {
    /** The start imports the data of a Password Pusher. Until this is done, each address of the port answers 503 with the progress. */
    importStarted: (port: number) =>
      logger.info(
        { event: "import_started", port },
        `Importing the data of Password Pusher, which are only read. Until this is done, /up on port ${port} answers 503 with the progress.`,
      ),
    /** About the source as a whole. */
    importWarning: (sentence: string) => logger.warn({ event: "import_warning" }, sentence),
    /** Every few seconds, and at the end of each table. */
    importProgress: (progress: { readonly table: string; readonly read: number; readonly total: number }) =>
      logger.info({ event: "import_progress", ...progress }),
    /** A row that was not imported completely. `id`: in the source. `reason`: without names. */
    importProblem: ({ table, id, effect, reason }: ImportedRowProblem) =>
      logger.warn({ event: "import_problem", table, id, effect, reason }),
    importFinished: ({ outcome, suppressedCount, report, counts, sentence }: ImportEnd) =>
      logger[outcome === "complete" ? "info" : "warn"](
        { event: "import_finished", outcome, suppressedCount, report, counts },
        sentence,
      ),
    /** The source has changed since it was imported in part. */
    importRefused: (sentence: string) => logger.error({ event: "import_refused" }, sentence),
    /** No mark beside the old database says that its data were moved. */
    moveNotMarked: (sentence: string) => logger.warn({ event: "move_not_marked" }, sentence),
  };
}

function requestEvents({ logger, clock }: EventDeps) {
  const untrustedForwarders = new Set<string>();
  return {
    /** A peer that is not in PWP__TRUSTED_PROXIES sends X-Forwarded-*. Once per address, for a few addresses. */
    untrustedForwarder(address: string) {
      if (untrustedForwarders.size >= untrustedForwardersMax || untrustedForwarders.has(address)) return;
      untrustedForwarders.add(address);
      logger.warn(
        { event: "untrusted_forwarder", address },
        "A peer that is not a trusted proxy sends X-Forwarded headers. They are ignored: see PWP__TRUSTED_PROXIES.",
      );
    },
    /** A row that grants access was changed outside of this server: it counts as absent. */
    forgedRowRefused: rateLimitedLog(clock, (suppressedCount, table: string) =>
      logger.error({ event: "forged_row_refused", table, suppressedCount }, "A row was not written by this server."),
    ),
    /** One client, or all together, have too many connections. */
    connectionRefused: rateLimitedLog(clock, (suppressedCount) =>
      logger.warn(
        { event: "connection_refused", suppressedCount },
        "A client has too many open connections: see PWP__CONNECTIONS__PER_CLIENT. A proxy must be in PWP__TRUSTED_PROXIES.",
      ),
    ),
    unexpectedError: (where: RequestReference, error: unknown) =>
      logger.error({ event: "unexpected_error", ...where, error: describeError(error) }),
    /** A 503. */
    refusedUnavailable: rateLimitedLog(clock, (suppressedCount, where: RequestReference, error: unknown) =>
      logger.warn({ event: "refused_unavailable", ...where, suppressedCount, error: describeError(error) }),
    ),
    /** The provider's answer to a single sign-on was invalid. */
    singleSignOnRefused: rateLimitedLog(clock, (suppressedCount, requestId: string, error: unknown) =>
      logger.warn({ event: "single_sign_on_refused", requestId, suppressedCount, error: describeError(error) }),
    ),
    /** A file could not be decrypted or read while it was being sent. */
    downloadBroken: (requestId: string, error: unknown) =>
      logger.error({ event: "download_broken", requestId, error: describeError(error) }),
    /** The store has lost a file, or has other bytes than were sealed. The ids are those of the database. */
    fileUnreadable: (
      problem: "missing" | "damaged",
      file: { readonly requestId: string; readonly pushId: number; readonly fileId: number },
    ) => logger.error({ event: `file_${problem}`, ...file }),
  };
}

function jobEvents({ logger, clock }: EventDeps) {
  return {
    /** A background job threw; it runs again at its next time. */
    jobFailed: limitedByJob((job) =>
      rateLimitedLog(clock, (suppressedCount, error: unknown) =>
        logger.error({ event: "job_failed", job, suppressedCount, error: describeError(error) }),
      ),
    ),
    jobDone: (job: string, counts: Readonly<Record<string, number>>) =>
      logger.debug({ event: "job_done", job, ...counts }),
    /** The clock jumped, or has not run long enough: nothing is removed for now. */
    sweepPaused: (reason: string) => logger.warn({ event: "sweep_paused", reason }),
    /** The mail server accepted it. `kind`: of the email; its recipient and content are not logged. */
    mailSent: (mail: EmailAttempt) => logger.info({ event: "mail_sent", ...mail }),
    /** It could not be sent, and is retried. `code`: the server's status, or the system's code. */
    mailPutOff: (mail: EmailAttempt & { readonly code: string }) => logger.warn({ event: "mail_put_off", ...mail }),
    mailGivenUp: (mail: EmailAttempt & { readonly code: string }) => logger.error({ event: "mail_given_up", ...mail }),
    /** Account emails are on, and the mail server takes no emails: sign-up is closed. `code`: as above. Once for all processes. */
    mailServerUnavailable: ({ code }: { readonly code: string }) =>
      logger.error(
        { event: "mail_server_unavailable", code },
        "The mail server takes no emails, so nobody can sign up until it does.",
      ),
    /** It takes emails again, so sign-up is open. Once for all processes. */
    mailServerAvailable: () =>
      logger.info({ event: "mail_server_available" }, "Emails are sent and people can sign up."),
    /** The collector of traces rejected some. */
    tracesNotSent: rateLimitedLog(clock, (suppressedCount, error: unknown) =>
      logger.warn({ event: "traces_not_sent", suppressedCount, error: describeError(error) }),
    ),
    /** The database did not answer a query of a limit: the process counts by itself. */
    limitsUnanswered: rateLimitedLog(clock, (suppressedCount, error: unknown) =>
      logger.warn({ event: "limits_unanswered", suppressedCount, error: describeError(error) }),
    ),
    /** A write of `last_used_at`, `seen_at` or a remembered choice of a form failed; the request continued. */
    usageNotRecorded: (what: string, error: unknown) =>
      logger.warn({ event: "usage_not_recorded", what, error: describeError(error) }),
  };
}

/** The same events, which are also counted: even those that the log omits because of its rate limit. */
export function countEvents(events: Events, counters: DomainCounters): Events {
  return {
    ...events,
    storageFailed(code) {
      counters.storageFailed();
      events.storageFailed(code);
    },
    unexpectedError(where, error) {
      counters.unexpectedError();
      events.unexpectedError(where, error);
    },
    jobFailed(job, error) {
      counters.jobFailed(job);
      events.jobFailed(job, error);
    },
    jobDone(job, counts) {
      counters.jobDone(job, counts);
      events.jobDone(job, counts);
    },
    mailSent(mail) {
      counters.mail("sent");
      events.mailSent(mail);
    },
    mailPutOff(mail) {
      counters.mail("put_off");
      events.mailPutOff(mail);
    },
    mailGivenUp(mail) {
      counters.mail("given_up");
      events.mailGivenUp(mail);
    },
  };
}

interface DescribedError {
  readonly name: string;
  readonly code: string | undefined;
  readonly frames: readonly string[];
  readonly cause: DescribedError | undefined;
}

const framesMax = 20;
const causesMax = 3;
const frame = /^\s+at /;

/**
 * The parts of an error that may be logged: its class, its code and its stack frames. Never its message, which may quote
 * the data that caused it (a parser's does), nor any other property.
 */
export function describeError(error: unknown, causesLeft = causesMax): DescribedError {
  if (!(error instanceof Error))
    return { name: `thrown ${typeof error}`, code: undefined, frames: [], cause: undefined };
  return {
    name: error.constructor.name,
    code: errorCode(error)?.slice(0, 64),
    frames: stackFrames(error),
    cause: error.cause === undefined || causesLeft === 0 ? undefined : describeError(error.cause, causesLeft - 1),
  };
}

/** The class and the code of an error, for people: `S3Error (ECONNREFUSED)`. Never its message; see `describeError`. */
export function summarizeError(error: unknown): string {
  const { name, code, cause } = describeError(error);
  const own = code === undefined ? name : `${name} (${code})`;
  return (cause === undefined ? own : `${own}, caused by ${cause.name}${cause.code ? ` (${cause.code})` : ""}`).slice(
    0,
    200,
  );
}

/** The stack's first lines repeat the message, which may have several lines and may itself look like a frame. */
function stackFrames(error: Error): string[] {
  const stack = error.stack ?? "";
  const start = stack.indexOf(error.message);
  const afterMessage = start === -1 ? stack : stack.slice(start + error.message.length);
  return afterMessage
    .split("\n")
    .filter((line) => frame.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}

/** A failing job must not suppress what others report. The program has few jobs, with fixed names. */
function limitedByJob(makeLog: (job: string) => (error: unknown) => void) {
  const logs = new Map<string, (error: unknown) => void>();
  return (job: string, error: unknown) => {
    const log = logs.get(job) ?? makeLog(job);
    logs.set(job, log);
    log(error);
  };
}
