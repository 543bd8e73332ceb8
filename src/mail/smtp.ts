import { secondMs } from "../base/clock.ts";
import { reasonOfCode } from "../base/system-error.ts";
import type { MailSettings } from "../config/config.ts";

const shortestSendMsMax = 60 * secondMs;
const stopGraceMs = 3 * secondMs;
const implicitTlsPort = 465;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** An email that is ready to be sent. */
export interface OutgoingMessage {
  /** One normalised address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets. The same for every attempt, so that a recipient's software can recognise duplicates. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
}

/** Why an email was not sent: bounded, in ASCII, and without any address, link or token. */
export interface MailFailure {
  /** For logs: the server's status, such as "550", or the system's error code, such as "ECONNREFUSED". */
  readonly code: string;
  /** For administrators. */
  readonly sentence: string;
}

export type Sending =
  /** The mail server has taken responsibility for the message. `reply`: its answer, bounded like a failure. */
  | { readonly outcome: "accepted"; readonly reply: string }
  /** The server rejects this message or this recipient, permanently or for now. */
  | { readonly outcome: "refused"; readonly permanent: boolean; readonly failure: MailFailure }
  /** The server is down, not trusted or refuses the sign-in. It has not judged this message. */
  | { readonly outcome: "unavailable"; readonly senderRefused: boolean; readonly failure: MailFailure }
  /** The process stops. The message may or may not have been sent. */
  | { readonly outcome: "stopped" };

export type Mailer = ReturnType<typeof createSmtpMailer>;

/**
 * Sends by SMTP (RFC 5321), with one connection for each message: messages are rare, and an idle connection would often
 * be closed by the time of the next one. Certificates are verified unless the operator switched that off.
 */
export function createSmtpMailer(settings: MailSettings) {
  let made: ReturnType<typeof makeTransport> | undefined;
  const transport = () => {
    made ??= makeTransport(settings);
    return made;
  };
  /** Milliseconds that an attempt may take: at least as long as the connection and one answer may take. */
  const sendMsMax = Math.max(shortestSendMsMax, settings.openTimeoutMs + settings.readTimeoutMs);
  return {
    sendMsMax,
    /** Takes at most `sendMsMax`. @param stop a running delivery gets a few more seconds, then it is aborted. */
    async send(message: OutgoingMessage, stop: AbortSignal): Promise<Sending> {
      if (!isMailAddress(message.to)) return invalidAddress;
      const limit = limitSending(stop, sendMsMax);
      try {
        const sent = await (await transport()).sendMail({ ...mailOf(message, settings), signal: limit.signal });
        return { outcome: "accepted", reply: describeReply(sent.response) };
      } catch (error) {
        return limit.stopped() ? stopped : sendingOf(error);
      } finally {
        limit.end();
      }
    },
    /** Connects, encrypts and signs in without sending anything. @returns undefined: all of it succeeded. */
    async check(): Promise<MailFailure | undefined> {
      try {
        await (await transport()).verify();
        return undefined;
      } catch (error) {
        return describe(readError(error));
      }
    },
  };
}

/** The library is loaded for the first message, so a server that sends none saves the memory. */
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
      auth: {
        user: settings.signIn.userName,
        pass: settings.signIn.password,
        ...(settings.authenticationMethod !== undefined && { method: settings.authenticationMethod }),
      },
      // Send nothing without signing in, even when the server suddenly stops offering it.
      forceAuth: true,
    }),
    ...(!settings.verifiesCertificate && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: settings.openTimeoutMs,
    greetingTimeout: settings.readTimeoutMs,
    dnsTimeout: 5 * secondMs,
    socketTimeout: settings.readTimeoutMs,
    maxResponseSize: 16 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  });
}

const stopped: Sending = { outcome: "stopped" };
const invalidAddress: Sending = {
  outcome: "refused",
  permanent: true,
  failure: { code: "address", sentence: "The recipient's address is not valid in an email." },
};

/** Never send a password unencrypted over a network, unless the operator has switched encryption off. */
export function mustEncrypt({ startTls, signIn, host }: MailSettings): boolean {
  return startTls === "required" || (startTls === "auto" && signIn !== undefined && !loopback.test(host));
}

/** Addresses are objects because nodemailer parses strings as lists: a second recipient could be injected. */
function mailOf({ to, subject, text, html, messageId, date }: OutgoingMessage, { sender, replyTo }: MailSettings) {
  return {
    from: mailboxOf(sender),
    ...(replyTo !== undefined && { replyTo: mailboxOf(replyTo) }),
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

/** Aborts a delivery that takes too long, or that is still running a few seconds after `stop`. */
function limitSending(stop: AbortSignal, sendMsMax: number) {
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

const replyReadMax = 600;
const replyCharactersMax = 160;
const codeCharactersMax = 40;

/** The fields of nodemailer's errors. */
interface SmtpError {
  /** Nodemailer's own code for the part that failed. */
  readonly code: string;
  /** The operating system's error code. */
  readonly systemCode: string | undefined;
  /** The SMTP command that failed, e.g. `RCPT TO`, or `CONN`. */
  readonly command: string;
  /** The server's status code; undefined: it did not answer. */
  readonly status: number | undefined;
  readonly reply: string;
}

/** @throws `error` itself when nodemailer did not raise it: then it is a bug. */
function sendingOf(error: unknown): Sending {
  const about = readError(error);
  const failure = describe(about);
  const { code, status, command } = about;
  // Nodemailer refuses a recipient that this server cannot encode (RFC 6531) without asking the server.
  if (code === "EENVELOPE" && status === undefined) return { outcome: "refused", permanent: true, failure };
  // 421 closes the session (RFC 5321, section 3.8), and a refused sender does not concern this message.
  const aboutThisMessage = status !== undefined && status !== 421 && /^(?:RCPT|DATA|BDAT)/.test(command);
  if (!aboutThisMessage) return { outcome: "unavailable", senderRefused: command.startsWith("MAIL"), failure };
  return { outcome: "refused", permanent: status >= 500, failure };
}

/** @throws `error` itself when nodemailer did not raise it. */
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
  const logged = status === undefined ? (systemCode ?? code) : String(status);
  // Nodemailer's own codes say no more than the sentence does.
  const reason = status === undefined ? reasonOfCode(logged) : describeReply(reply);
  const inBrackets = reason === undefined ? "" : ` (${reason})`;
  return { code: logged, sentence: `${whatFailed(code, command, systemCode ?? "")}${inBrackets}.` };
}

function whatFailed(code: string, command: string, systemCode: string): string {
  if (code === "EAUTH" || code === "ENOAUTH" || command.startsWith("AUTH"))
    return "The mail server refused the sign-in";
  if (code === "ETLS" || command === "STARTTLS" || /CERT|SSL|TLS/.test(systemCode))
    return "The connection to the mail server could not be encrypted";
  // Nodemailer gives both the same code.
  if (command.startsWith("MAIL")) return "The mail server refused the sender";
  if (command.startsWith("RCPT") || code === "EENVELOPE") return "The mail server refused the recipient";
  if (command.startsWith("DATA") || code === "EMESSAGE") return "The mail server refused the email";
  if (code === "EDNS") return "The mail server was not found";
  if (code === "ETIMEDOUT" || code === "EABORT") return "The mail server took too long";
  return "The mail server cannot be reached";
}

/**
 * Status and text of a reply in one short line of ASCII. Servers often repeat parts of the message, so everything that
 * looks like an address, a link or a token is left out.
 */
function describeReply(reply: string): string {
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
 * The last check before an address is written into a header and an SMTP command: exactly one mailbox, without characters
 * that end a line, separate a list or need quotes.
 */
function isMailAddress(text: string): boolean {
  return /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}@[\p{L}\p{M}\p{N}.-]{1,253}$/u.test(text);
}
