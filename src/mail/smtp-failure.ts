import type { MailFailure, Sending } from "./mailer.ts";

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
