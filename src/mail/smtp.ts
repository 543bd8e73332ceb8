import { secondMs } from "../base/clock.ts";
import type { MailSettings } from "../config/config.ts";
import { isMailAddress } from "./mail-address.ts";
import type { Mailer, Message, Sending } from "./mailer.ts";
import { describeReply, failureOf, sendingOf } from "./smtp-failure.ts";

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
