import type { Clock } from "../base/clock.ts";
import type { DomainCounters } from "./domain-counters.ts";
import { type Logger, rateLimitedLog } from "./logger.ts";

/**
 * Every event that the server logs, one function each. None takes a URL, token, query, payload, ticket or header, so none
 * can log a secret: routes are logged by their pattern, errors by `describeError`.
 */
export interface Events {
  serverStarted(where: { readonly host: string; readonly port: number; readonly version: string }): void;
  /** The second listener, which serves recipients alone. */
  gatewayStarted(where: { readonly address: string; readonly port: number }): void;
  serverStopping(signal: string): void;
  serverStopped(counts: WriteCounts): void;
  /** `path`: the path of the key file, never its content. */
  masterKeyMade(path: string): void;
  /** Only while there is no user. The only secret that is logged, on purpose: the operator reads it here or in the file. */
  bootCodeMade(code: string): void;
  /** A sentence of the settings table, which never quotes a secret. */
  settingWarning(sentence: string): void;
  /** The start imports the data of a Password Pusher. Until this is done, each address of the port answers 503 with the progress. */
  importStarted(port: number): void;
  /** About the source as a whole. */
  importWarning(sentence: string): void;
  /** Every few seconds, and at the end of each table. */
  importProgress(progress: { readonly table: string; readonly read: number; readonly total: number }): void;
  /** A row that was not imported completely. `id`: in the source. `reason`: without names. */
  importProblem(problem: ImportedRowProblem): void;
  importFinished(end: ImportEnd): void;
  /** The source has changed since it was imported in part. */
  importRefused(sentence: string): void;
  /** No mark beside the old database says that its data were moved. */
  moveNotMarked(sentence: string): void;
  /** The start waits for a database server that does not answer yet. */
  databaseAwaited(sentence: string): void;
  /** `code`: the database driver's, e.g. SQLITE_FULL. At most one line per second; `suppressedCount` counts the others. */
  storageFailed(code: string): void;
  /** A peer that is not in PWP__TRUSTED_PROXIES sends X-Forwarded-*. Once per address, for a few addresses. */
  untrustedForwarder(address: string): void;
  /** One client, or all together, have too many connections. At most one line per second; `suppressedCount` counts the others. */
  connectionRefused(): void;
  /**
   * A row that grants access was changed outside of this server: it counts as absent. At most one line per second;
   * `suppressedCount` counts the others.
   */
  forgedRowRefused(table: string): void;
  unexpectedError(where: RequestReference, error: unknown): void;
  /** A 503. At most one line per second; `suppressedCount` counts the others. */
  refusedUnavailable(where: RequestReference, error: unknown): void;
  /** The provider's answer to a single sign-on was invalid. At most one line per second; `suppressedCount` counts the others. */
  singleSignOnRefused(requestId: string, error: unknown): void;
  /** A file could not be decrypted or read while it was being sent. */
  downloadBroken(requestId: string, error: unknown): void;
  /** The store has lost a file, or has other bytes than were sealed. The ids are those of the database. */
  fileUnreadable(
    problem: "missing" | "damaged",
    file: { readonly requestId: string; readonly pushId: number; readonly fileId: number },
  ): void;
  /** A background job threw; it runs again at its next time. At most one line per second; `suppressedCount` counts the others. */
  jobFailed(job: string, error: unknown): void;
  jobDone(job: string, counts: Readonly<Record<string, number>>): void;
  /** The clock jumped, or has not run long enough: nothing is removed for now. */
  sweepPaused(reason: string): void;
  /** The mail server accepted it. `kind`: of the email; its recipient and content are not logged. */
  mailSent(mail: EmailAttempt): void;
  /** It could not be sent, and is retried. `code`: the server's status, or the system's code. */
  mailPutOff(mail: EmailAttempt & { readonly code: string }): void;
  mailGivenUp(mail: EmailAttempt & { readonly code: string }): void;
  /** Account emails are on, and the mail server takes no emails: sign-up is closed. `code`: as above. Once for all processes. */
  mailServerUnavailable(failure: { readonly code: string }): void;
  /** It takes emails again, so sign-up is open. Once for all processes. */
  mailServerAvailable(): void;
  /** The collector of traces rejected some. At most one line per second; `suppressedCount` counts the others. */
  tracesNotSent(error: unknown): void;
  /** The database did not answer a query of a limit: the process counts by itself. At most one line per second; `suppressedCount` counts the others. */
  limitsUnanswered(error: unknown): void;
  /** A write of `last_used_at`, `seen_at` or a remembered choice of a form failed; the request continued. */
  usageNotRecorded(what: string, error: unknown): void;
}

export interface ImportedRowProblem {
  readonly table: string;
  readonly id: number;
  readonly effect: string;
  readonly reason: string;
}

export interface ImportEnd {
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

/** Counts of the database since the start of the process. */
export interface WriteCounts {
  readonly commits: number;
  readonly units: number;
}

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
function eventLogs(deps: { readonly logger: Logger; readonly clock: Clock }) {
  const untrustedForwarders = new Set<string>();
  return { ...deps, untrustedForwarders };
}

type EventLogs = ReturnType<typeof eventLogs>;

function serverEvents({
  logger,
  clock,
}: EventLogs): Pick<
  Events,
  | "serverStarted"
  | "gatewayStarted"
  | "serverStopping"
  | "serverStopped"
  | "masterKeyMade"
  | "bootCodeMade"
  | "settingWarning"
  | "databaseAwaited"
  | "storageFailed"
> {
  return {
    serverStarted: (where) => logger.info({ event: "server_started", ...where }),
    gatewayStarted: ({ address, port }) => logger.info({ event: "gateway_started", address, port }),
    serverStopping: (signal) => logger.info({ event: "server_stopping", signal }),
    serverStopped: (counts) => logger.info({ event: "server_stopped", ...counts }),
    masterKeyMade: (path) =>
      logger.warn(
        { event: "master_key_made", path },
        "No master key was given, so one was created. Keep a copy of it.",
      ),
    bootCodeMade: (code) =>
      logger.warn(
        { event: "boot_code_made", code },
        "There is no user yet. Open /first_run and enter this boot code to become the administrator.",
      ),
    settingWarning: (sentence) => logger.warn({ event: "setting_warning" }, sentence),
    databaseAwaited: (sentence) =>
      logger.warn({ event: "database_awaited" }, `${sentence} The start waits for it for up to 30 seconds.`),
    storageFailed: rateLimitedLog(clock, (suppressedCount, code) =>
      logger.error({ event: "storage_failed", code, suppressedCount }, storageFailureSentences[code]),
    ),
  };
}

function importEvents({
  logger,
}: EventLogs): Pick<
  Events,
  | "importStarted"
  | "importWarning"
  | "importProgress"
  | "importProblem"
  | "importFinished"
  | "importRefused"
  | "moveNotMarked"
> {
  return {
    importStarted: (port) =>
      logger.info(
        { event: "import_started", port },
        `Importing the data of Password Pusher, which are only read. Until this is done, /up on port ${port} answers 503 with the progress.`,
      ),
    importWarning: (sentence) => logger.warn({ event: "import_warning" }, sentence),
    importProgress: (progress) => logger.info({ event: "import_progress", ...progress }),
    importProblem: ({ table, id, effect, reason }) =>
      logger.warn({ event: "import_problem", table, id, effect, reason }),
    importFinished: ({ outcome, suppressedCount, report, counts, sentence }) =>
      logger[outcome === "complete" ? "info" : "warn"](
        { event: "import_finished", outcome, suppressedCount, report, counts },
        sentence,
      ),
    importRefused: (sentence) => logger.error({ event: "import_refused" }, sentence),
    moveNotMarked: (sentence) => logger.warn({ event: "move_not_marked" }, sentence),
  };
}

function requestEvents({
  untrustedForwarders,
  logger,
  clock,
}: EventLogs): Pick<
  Events,
  | "untrustedForwarder"
  | "forgedRowRefused"
  | "connectionRefused"
  | "unexpectedError"
  | "refusedUnavailable"
  | "singleSignOnRefused"
  | "downloadBroken"
  | "fileUnreadable"
> {
  return {
    untrustedForwarder(address) {
      if (untrustedForwarders.size >= untrustedForwardersMax || untrustedForwarders.has(address)) return;
      untrustedForwarders.add(address);
      logger.warn(
        { event: "untrusted_forwarder", address },
        "A peer that is not a trusted proxy sends X-Forwarded headers. They are ignored: see PWP__TRUSTED_PROXIES.",
      );
    },
    forgedRowRefused: rateLimitedLog(clock, (suppressedCount, table) =>
      logger.error({ event: "forged_row_refused", table, suppressedCount }, "A row was not written by this server."),
    ),
    connectionRefused: rateLimitedLog(clock, (suppressedCount) =>
      logger.warn(
        { event: "connection_refused", suppressedCount },
        "A client has too many open connections: see PWP__CONNECTIONS__PER_CLIENT. A proxy must be in PWP__TRUSTED_PROXIES.",
      ),
    ),
    unexpectedError: (where, error) =>
      logger.error({ event: "unexpected_error", ...where, error: describeError(error) }),
    refusedUnavailable: rateLimitedLog(clock, (suppressedCount, where, error) =>
      logger.warn({ event: "refused_unavailable", ...where, suppressedCount, error: describeError(error) }),
    ),
    singleSignOnRefused: rateLimitedLog(clock, (suppressedCount, requestId, error) =>
      logger.warn({ event: "single_sign_on_refused", requestId, suppressedCount, error: describeError(error) }),
    ),
    downloadBroken: (requestId, error) =>
      logger.error({ event: "download_broken", requestId, error: describeError(error) }),
    fileUnreadable: (problem, file) => logger.error({ event: `file_${problem}`, ...file }),
  };
}

function jobEvents({
  logger,
  clock,
}: EventLogs): Pick<
  Events,
  | "jobFailed"
  | "jobDone"
  | "sweepPaused"
  | "mailSent"
  | "mailPutOff"
  | "mailGivenUp"
  | "mailServerUnavailable"
  | "mailServerAvailable"
  | "tracesNotSent"
  | "limitsUnanswered"
  | "usageNotRecorded"
> {
  return {
    jobFailed: limitedByJob((job) =>
      rateLimitedLog(clock, (suppressedCount, error: unknown) =>
        logger.error({ event: "job_failed", job, suppressedCount, error: describeError(error) }),
      ),
    ),
    jobDone: (job, counts) => logger.debug({ event: "job_done", job, ...counts }),
    sweepPaused: (reason) => logger.warn({ event: "sweep_paused", reason }),
    mailSent: (mail) => logger.info({ event: "mail_sent", ...mail }),
    mailPutOff: (mail) => logger.warn({ event: "mail_put_off", ...mail }),
    mailGivenUp: (mail) => logger.error({ event: "mail_given_up", ...mail }),
    mailServerUnavailable: ({ code }) =>
      logger.error(
        { event: "mail_server_unavailable", code },
        "The mail server takes no emails, so nobody can sign up until it does.",
      ),
    mailServerAvailable: () =>
      logger.info({ event: "mail_server_available" }, "Emails are sent and people can sign up."),
    tracesNotSent: rateLimitedLog(clock, (suppressedCount, error) =>
      logger.warn({ event: "traces_not_sent", suppressedCount, error: describeError(error) }),
    ),
    limitsUnanswered: rateLimitedLog(clock, (suppressedCount, error) =>
      logger.warn({ event: "limits_unanswered", suppressedCount, error: describeError(error) }),
    ),
    usageNotRecorded: (what, error) => logger.warn({ event: "usage_not_recorded", what, error: describeError(error) }),
  };
}

export function createEvents(deps: { readonly logger: Logger; readonly clock: Clock }): Events {
  const shared = eventLogs(deps);
  return { ...serverEvents(shared), ...importEvents(shared), ...requestEvents(shared), ...jobEvents(shared) };
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
    code: "code" in error && typeof error.code === "string" ? error.code.slice(0, 64) : undefined,
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
function limitedByJob(makeLog: (job: string) => (error: unknown) => void): Events["jobFailed"] {
  const logs = new Map<string, (error: unknown) => void>();
  return (job, error) => {
    const log = logs.get(job) ?? makeLog(job);
    logs.set(job, log);
    log(error);
  };
}
