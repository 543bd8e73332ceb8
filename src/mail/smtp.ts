import { secondMs } from "../base/clock.ts";
import type { MailSettings } from "../config/config.ts";

const sendMsMax = 60 * secondMs;
const stopGraceMs = 3 * secondMs;
const implicitTlsPort = 465;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/**
 * Mails by SMTP (RFC 5321), one connection each: they are few, and a connection that is kept is a connection that breaks
 * between two mails. Certificates are always verified.
 */
export function createSmtpMailer(settings: MailSettings): Mailer {
  let made: ReturnType<typeof makeTransport> | undefined;
  const transport = () => {
    made ??= makeTransport(settings);
    return made;
  };
  return {
    async send(message, stop) {
      if (!isMailAddress(message.to)) return noAddress;
      const limit = limitSending(stop);
      try {
        const sent = await (await transport()).sendMail({ ...mailOf(message, settings), signal: limit.signal });
        return { outcome: "accepted", reply: describeReply(sent.response) };
      } catch (error) {
        return limit.stopped() ? stopped : sendingOf(error);
      } finally {
        limit.end();
      }
    },
    async check() {
      try {
        await (await transport()).verify();
        return undefined;
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}

/** The library is loaded for the first mail: a server that sends none goes without its memory. */
async function makeTransport(settings: MailSettings) {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host: settings.host,
    port: settings.port,
    secure: settings.port === implicitTlsPort,
    ...(settings.greetingName !== undefined && { name: settings.greetingName }),
    requireTLS: mustEncrypt(settings),
    ignoreTLS: settings.startTls === "off",
    ...(settings.signIn !== undefined && {
      auth: { user: settings.signIn.userName, pass: settings.signIn.password },
      // A server that suddenly offers no sign-in gets no mail, rather than a mail from nobody.
      forceAuth: true,
    }),
    connectionTimeout: 10 * secondMs,
    greetingTimeout: 10 * secondMs,
    dnsTimeout: 5 * secondMs,
    socketTimeout: 20 * secondMs,
    maxResponseSize: 16 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  });
}

const stopped: Sending = { outcome: "stopped" };
const noAddress: Sending = {
  outcome: "refused",
  permanent: true,
  failure: { code: "address", sentence: "The recipient's address cannot stand in a mail." },
};

/** A password goes over no network in the clear, unless encryption was switched off on purpose. */
export function mustEncrypt({ startTls, signIn, host }: MailSettings): boolean {
  return startTls === "required" || (startTls === "auto" && signIn !== undefined && !loopback.test(host));
}

/** Addresses as objects, which are not parsed as lists are: no second recipient can stand in one. */
function mailOf({ to, subject, text, html, messageId, date }: Message, { sender }: MailSettings) {
  return {
    from: mailboxOf(sender),
    to: { name: "", address: to },
    subject,
    text,
    html,
    messageId: `<${messageId}>`,
    date: new Date(date),
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
  };
}

function mailboxOf(sender: string): { name: string; address: string } {
  const [, name, address] = /^(.*) <(.*)>$/.exec(sender) ?? [];
  return name === undefined || address === undefined ? { name: "", address: sender } : { name, address };
}

/** Ends a sending that takes too long, or that is still under way some seconds after `stop`. */
function limitSending(stop: AbortSignal) {
  const cut = new AbortController();
  let isStopped = false;
  const overall = setTimeout(() => cut.abort(), sendMsMax);
  let grace: NodeJS.Timeout | undefined;
  const onStop = () => {
    grace = setTimeout(() => {
      isStopped = true;
      cut.abort();
    }, stopGraceMs);
  };
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  return {
    signal: cut.signal,
    stopped: () => isStopped,
    end() {
      clearTimeout(overall);
      clearTimeout(grace);
      stop.removeEventListener("abort", onStop);
    },
  };
}

/** One mail, ready to be sent. */
export interface Message {
  /** One normalised address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets. The same for every attempt, so that a mail that arrives twice can be told to be one. */
  readonly messageId: string;
  /** ms since the epoch. */
  readonly date: number;
}

/** Why a mail did not leave: bounded, in ASCII, and without any address, link or token. */
export interface MailFailure {
  /** For logs: the server's status, such as "550", or the system's code, such as "ECONNREFUSED". */
  readonly code: string;
  /** For administrators. */
  readonly sentence: string;
}

export type Sending =
  /** From here on the server answers for it. `reply`: what it said, as bounded as a failure. */
  | { readonly outcome: "accepted"; readonly reply: string }
  /** The server does not want this mail or this recipient; permanently, or for now. */
  | { readonly outcome: "refused"; readonly permanent: boolean; readonly failure: MailFailure }
  /** The server could not be worked with (down, not to be trusted, no sign-in): it said nothing about this mail. */
  | { readonly outcome: "unavailable"; readonly failure: MailFailure }
  /** The process stops. The mail may have left or not. */
  | { readonly outcome: "stopped" };

export interface Mailer {
  /** Takes a minute at most. @param stop leaves the sending that runs a few seconds, then cuts it. */
  send(message: Message, stop: AbortSignal): Promise<Sending>;
  /** Connects, encrypts and signs in as a sending would. @returns undefined: all that worked. */
  check(): Promise<MailFailure | undefined>;
}

const replyReadMax = 600;
const replyCharactersMax = 160;
const codeCharactersMax = 40;

/** What nodemailer tells about a sending that failed. */
interface SmtpError {
  /** Its own: which part failed. */
  readonly code: string;
  /** The system's, where there is one. */
  readonly systemCode: string | undefined;
  /** The command that was answered, e.g. `RCPT TO`, or `CONN`. */
  readonly command: string;
  /** The server's status; undefined: it did not answer. */
  readonly status: number | undefined;
  readonly reply: string;
}

/** @throws `error` itself when it is not about mail: then it is a bug. */
export function sendingOf(error: unknown): Sending {
  const about = readError(error);
  const failure = describe(about);
  const { code, status, command } = about;
  // A recipient that this server has no way to write down (RFC 6531) is refused without having been asked about.
  if (code === "EENVELOPE" && status === undefined) return { outcome: "refused", permanent: true, failure };
  // 421 closes the session (RFC 5321, section 3.8), and who may send at all is no matter of this mail.
  const aboutThisMail = status !== undefined && status !== 421 && /^(?:RCPT|DATA|BDAT)/.test(command);
  if (!aboutThisMail) return { outcome: "unavailable", failure };
  return { outcome: "refused", permanent: status >= 500, failure };
}

/** @throws `error` itself when it is not about mail. */
export function failureOf(error: unknown): MailFailure {
  return describe(readError(error));
}

function readError(error: unknown): SmtpError {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") throw error;
  const { responseCode, response, command, originalCode, cause } = { ...error } as Readonly<Record<string, unknown>>;
  const inner = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const systemCode = [originalCode, inner].find((code) => typeof code === "string");
  return {
    code: error.code.slice(0, codeCharactersMax),
    systemCode: typeof systemCode === "string" ? systemCode.slice(0, codeCharactersMax) : undefined,
    command: typeof command === "string" ? command : "",
    status: typeof responseCode === "number" ? responseCode : undefined,
    reply: typeof response === "string" ? response : "",
  };
}

function describe({ code, systemCode, command, status, reply }: SmtpError): MailFailure {
  const said = status === undefined ? (systemCode ?? code) : describeReply(reply);
  const logged = status === undefined ? (systemCode ?? code) : String(status);
  return { code: logged, sentence: `${whatFailed(code, command, systemCode ?? "")} (${said}).` };
}

function whatFailed(code: string, command: string, systemCode: string): string {
  if (code === "EAUTH" || code === "ENOAUTH" || command.startsWith("AUTH"))
    return "The mail server refused the sign-in";
  if (code === "ETLS" || command === "STARTTLS" || /CERT|SSL|TLS/.test(systemCode))
    return "The connection to the mail server could not be encrypted";
  if (command.startsWith("RCPT") || code === "EENVELOPE") return "The mail server refused the recipient";
  if (command.startsWith("MAIL")) return "The mail server refused the sender";
  if (command.startsWith("DATA") || code === "EMESSAGE") return "The mail server refused the mail";
  if (code === "EDNS") return "The mail server was not found";
  if (code === "ETIMEDOUT" || code === "EABORT") return "The mail server took too long";
  return "The mail server cannot be reached";
}

/**
 * Status and text of a reply in one short line of ASCII. Servers like to repeat what they were told, so whatever looks
 * like an address, a link or a token is left out.
 */
export function describeReply(reply: string): string {
  const whole = reply.length <= replyReadMax;
  const line = reply
    .slice(0, replyReadMax)
    .replace(whole ? "" : /\S*$/, "")
    .replace(/\s+/g, " ")
    .replace(/[^\x20-\x7e]/g, "?")
    .replace(/\S*@\S*|\S+:\/\/\S*|[\w+/=-]{16,}/g, "...");
  return line.trim().slice(0, replyCharactersMax);
}

/**
 * A last look before an address stands in a header and in an SMTP command, whoever made it: one mailbox, nothing that
 * ends a line or a list, or that only quotes would allow.
 */
export function isMailAddress(text: string): boolean {
  return /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}@[\p{L}\p{M}\p{N}.-]{1,253}$/u.test(text);
}
