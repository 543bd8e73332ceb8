import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import { afterAll, onTestFinished } from "vitest";
import { makeCertificate } from "./certificate.ts";
import { freePort } from "./free-port.ts";

export interface MailSinkOptions {
  /** "none": it does not offer to encrypt. "implicit": the connection is encrypted from the start, as on port 465. */
  readonly encryption?: "none" | "starttls" | "implicit";
  /** If given, sending requires these credentials. */
  readonly signIn?: { readonly userName: string; readonly password: string };
  /** The ways to sign in that it offers. */
  readonly authMethods?: readonly string[];
  /** The base URL of links in emails. */
  readonly baseUrl?: string;
  /** Default: one that stays free when the sink has stopped. */
  readonly port?: number;
}

export interface SunkMail extends Omit<Email, "sender"> {
  /** From RCPT TO, not from the message. */
  readonly recipients: readonly string[];
  /** From MAIL FROM. */
  readonly sender: string;
  readonly encrypted: boolean;
  readonly signedInAs: string | undefined;
  /** The received message with headers. */
  readonly raw: string;
}

/** An error that replaces the usual reply. */
export interface Refusal {
  readonly code: number;
  readonly text: string;
  /** The command that gets it; "message": the end of DATA. */
  readonly at: "sender" | "recipient" | "message";
}

/** An SMTP server on the loopback interface that keeps all messages. */
export interface MailSink {
  readonly port: number;
  /** Settings for a server that sends to it, including account emails. */
  readonly environment: Readonly<Record<string, string>>;
  /** PEM of the certificate, which signs itself; "" without encryption. */
  readonly certificate: string;
  /** Everything accepted so far, in order. */
  messages(): readonly SunkMail[];
  /** Waits for the next message to this address. */
  next(to: string): Promise<SunkMail>;
  /** How often a message was offered, refused ones included. */
  attempts(): number;
  /** Refuses the given number of times, then accepts again. */
  refuseNext(times: number, refusal: Refusal): void;
  /** Keeps the next message and cuts the connection instead of answering, as a mail server that is killed then. */
  cutNext(): void;
  /** Accepts nothing until the promise settles: a message hangs at its end. */
  holdMessages(until: Promise<unknown>): void;
  /** Settles when a message hangs. */
  held(): Promise<void>;
  /** How many connections have ended. Each server makes one at its start, to check the mail server. */
  ended(): number;
  stop(): Promise<void>;
}

/** Waits for the next message to this address with this in its subject, and skips others. @returns its text. */
export async function nextAbout(sink: Pick<MailSink, "next">, to: string, subject: string): Promise<string> {
  for (;;) {
    const mail = await sink.next(to);
    if (mail.subject?.includes(subject)) return mail.text ?? "";
  }
}

type AtTheEnd = (end: () => Promise<void>) => void;

/** A sink that is closed after the test. */
export function startMailSink(options: MailSinkOptions = {}): Promise<MailSink> {
  return launchMailSink(options, onTestFinished);
}

/** `const sink = await openMailSink()` at the top of a test file: it is closed after all its tests. */
export function openMailSink(options: MailSinkOptions = {}): Promise<MailSink> {
  return launchMailSink(options, afterAll);
}

async function launchMailSink(options: MailSinkOptions, atTheEnd: AtTheEnd): Promise<MailSink> {
  const {
    encryption = "none",
    signIn,
    authMethods = ["PLAIN", "LOGIN"],
    baseUrl = "https://push.example.com",
  } = options;
  const tls = encryption === "none" ? undefined : makeCertificate();
  const kept = new KeptMails();
  let ended = 0;
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = new SMTPServer({
    ...(tls !== undefined && { key: tls.key, cert: tls.certificate }),
    secure: encryption === "implicit",
    disabledCommands: [...(encryption === "starttls" ? [] : ["STARTTLS"]), ...(signIn === undefined ? ["AUTH"] : [])],
    allowInsecureAuth: true,
    authMethods: [...authMethods],
    authOptional: signIn === undefined,
    disableReverseLookup: true,
    logger: false,
    onAuth({ username, password, validatePassword }, _session, done) {
      const isRight = password === undefined ? validatePassword(signIn?.password ?? "") : password === signIn?.password;
      if (username === signIn?.userName && isRight) return done(null, { user: username ?? "" });
      done(Object.assign(new Error("Authentication failed"), { responseCode: 535 }));
    },
    onClose: () => {
      ended += 1;
    },
    onMailFrom: (_address, _session, done) => done(kept.refusalAt("sender")),
    onRcptTo: (_address, _session, done) => done(kept.refusalAt("recipient")),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        kept.take(Buffer.concat(chunks), session).then((refusal) => {
          if (!isCut) return done(refusal);
          isCut = false;
          for (const socket of sockets) socket.destroy();
        }, done);
      });
    },
  });
  server.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  // Many tests have clients that disconnect or reject the certificate.
  server.on("error", () => undefined);
  server.listen(options.port ?? (await freePort()), "127.0.0.1");
  await once(server.server, "listening");
  const stop = async () => {
    if (!server.server.listening) return;
    await new Promise<void>((done) => server.close(done));
  };
  atTheEnd(stop);
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    stop,
    certificate: tls?.certificate ?? "",
    environment: {
      PWP__MAIL__SMTP_ADDRESS: "127.0.0.1",
      PWP__MAIL__SMTP_PORT: String(port),
      ...(signIn !== undefined && {
        PWP__MAIL__SMTP_USER_NAME: signIn.userName,
        PWP__MAIL__SMTP_PASSWORD: signIn.password,
      }),
      PWP__ENABLE_USER_ACCOUNT_EMAILS: "true",
      PWP__OVERRIDE_BASE_URL: baseUrl,
    },
    messages: () => kept.mails,
    next: (to) => kept.next(to),
    attempts: () => kept.attempts,
    refuseNext: (times, refusal) => kept.refuse(times, refusal),
    cutNext: () => {
      isCut = true;
    },
    holdMessages: (until) => kept.hold(until),
    held: () => kept.held,
    ended: () => ended,
  };
}

class KeptMails {
  readonly mails: SunkMail[] = [];
  attempts = 0;
  readonly #given = new Set<SunkMail>();
  readonly #waiting: { to: string; give: (mail: SunkMail) => void }[] = [];
  #refusal: Refusal | undefined;
  #refusals = 0;
  #until: Promise<unknown> = Promise.resolve();
  readonly #hung = Promise.withResolvers<void>();

  get held(): Promise<void> {
    return this.#hung.promise;
  }

  refuse(times: number, refusal: Refusal): void {
    this.#refusals = times;
    this.#refusal = refusal;
  }

  hold(until: Promise<unknown>): void {
    this.#until = until;
  }

  refusalAt(command: Refusal["at"]): Error | null {
    if (command === "sender") this.attempts += 1;
    if (this.#refusals === 0 || this.#refusal?.at !== command) return null;
    this.#refusals -= 1;
    return Object.assign(new Error(this.#refusal.text), { responseCode: this.#refusal.code });
  }

  async take(bytes: Buffer, session: SMTPServerSession): Promise<Error | null> {
    this.#hung.resolve();
    await this.#until;
    const refusal = this.refusalAt("message");
    if (refusal !== null) return refusal;
    const { mailFrom, rcptTo } = session.envelope;
    const mail: SunkMail = {
      ...(await PostalMime.parse(bytes)),
      recipients: rcptTo.map(({ address }) => address),
      sender: mailFrom === false ? "" : mailFrom.address,
      encrypted: session.secure,
      signedInAs: session.user === undefined ? undefined : String(session.user),
      raw: bytes.toString("utf8"),
    };
    this.mails.push(mail);
    const at = this.#waiting.findIndex(({ to }) => mail.recipients.includes(to));
    const [waiting] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (waiting !== undefined) {
      this.#given.add(mail);
      waiting.give(mail);
    }
    return null;
  }

  next(to: string): Promise<SunkMail> {
    const there = this.mails.find((mail) => mail.recipients.includes(to) && !this.#given.has(mail));
    if (there === undefined) return new Promise((give) => this.#waiting.push({ to, give }));
    this.#given.add(there);
    return Promise.resolve(there);
  }
}

/** The only link of an email whose path begins with this. @throws when there is none or more than one. */
export function linkIn(mail: Pick<SunkMail, "text">, path: string): URL {
  const links = [...(mail.text ?? "").matchAll(/https?:\/\/[^\s<>"]+/g)].map(([link]) => new URL(link));
  const [found, ...more] = links.filter((link) => link.pathname.startsWith(path));
  if (found === undefined || more.length > 0) throw new Error(`The email does not have exactly one link to ${path}.`);
  return found;
}
