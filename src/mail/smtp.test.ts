import tls, { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { testConfig } from "../../test/support/domain.ts";
import { type MailSink, startMailSink } from "../../test/support/mail-sink.ts";
import { mistakesOf } from "../../test/support/settings.ts";
import { neverAborted } from "../../test/support/test-mail.ts";
import type { MailSettings } from "../config/config.ts";
import { createSmtpMailer, type Mailer, mustEncrypt, type OutgoingMessage } from "./smtp.ts";

const message: OutgoingMessage = {
  to: "ada@example.com",
  subject: "Grüße",
  text: "Text\n",
  html: "<p>Text</p>",
  messageId: "0123@push.example.com",
  date: Date.UTC(2030, 0, 1, 12),
};

function settingsOf(environment: Readonly<Record<string, string>>): MailSettings {
  const { mail } = testConfig("/nowhere", environment);
  if (mail === undefined) throw new Error("Mail is off.");
  return mail;
}

function mailerOf(sink: MailSink, more: Readonly<Record<string, string>> = {}): Mailer {
  return createSmtpMailer(settingsOf({ ...sink.environment, ...more }));
}

/** Makes this process trust the sink's certificate until the test ends. */
function trust(sink: MailSink): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, sink.certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
}

it("may take a minute, or as long as its timeouts together", async () => {
  const sink = await startMailSink();
  const timeouts = (seconds: string) => ({
    PWP__MAIL__SMTP_OPEN_TIMEOUT: seconds,
    PWP__MAIL__SMTP_READ_TIMEOUT: seconds,
  });
  expect(mailerOf(sink, timeouts("10")).sendMsMax).toBe(60_000);
  expect(mailerOf(sink, timeouts("600")).sendMsMax).toBe(1_200_000);
  expect(mistakesOf(timeouts("601"))).toEqual(
    ["OPEN", "READ"].map(
      (name) => `PWP__MAIL__SMTP_${name}_TIMEOUT is "601", but it must be a whole number from 1 to 600.`,
    ),
  );
});

describe("a message", () => {
  it("has the headers of an automatic email, and one recipient", async () => {
    const sink = await startMailSink();
    expect(await mailerOf(sink).send(message, neverAborted)).toMatchObject({ outcome: "accepted" });
    const mail = await sink.next("ada@example.com");
    expect(mail).toMatchObject({
      subject: "Grüße",
      messageId: "<0123@push.example.com>",
      date: "2030-01-01T12:00:00.000Z",
      recipients: ["ada@example.com"],
      sender: "sealpush@push.example.com",
      to: [{ name: "", address: "ada@example.com" }],
    });
    const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
    expect(header("auto-submitted")).toBe("auto-generated");
    expect(mail.attachments).toEqual([]);
    expect(mail.text?.trim()).toBe("Text");
    expect(mail.html).toContain("<p>Text</p>");
  });

  it("has the configured sender, including its name", async () => {
    const sink = await startMailSink();
    const mailer = mailerOf(sink, { PWP__MAIL__MAILER_SENDER: "Ada, Bob & Öre <push@example.org>" });
    await mailer.send(message, neverAborted);
    const mail = await sink.next("ada@example.com");
    expect(mail).toMatchObject({
      sender: "push@example.org",
      from: { name: "Ada, Bob & Öre", address: "push@example.org" },
    });
  });

  it("does not allow header or command injection by line breaks in any field", async () => {
    const sink = await startMailSink();
    const evil = "x\r\nBcc: eve@example.com\r\nRCPT TO:<eve@example.com>\r\n\r\n<script>";
    const sending = await mailerOf(sink).send(
      { ...message, subject: evil, text: evil, html: evil, messageId: evil },
      neverAborted,
    );
    expect(sending.outcome).toBe("accepted");
    const mail = await sink.next("ada@example.com");
    expect(mail.recipients).toEqual(["ada@example.com"]);
    expect(mail.headers.map(({ key }) => key)).not.toContain("bcc");
    expect(mail.headers.map(({ key }) => key)).not.toContain("rcpt to");
  });

  it.each([
    "a@example.com\r\nBcc: eve@example.com",
    "a@example.com>\r\nRCPT TO:<eve@example.com",
    "a@example.com, eve@example.com",
    "<a@example.com>",
    "Ada <a@example.com>",
    '"a b"@example.com',
    "a@example.com\u0000",
    "a",
    "",
  ])("is sent only to exactly one address: %j", async (to) => {
    const sink = await startMailSink();
    expect(await mailerOf(sink).send({ ...message, to }, neverAborted)).toMatchObject({
      outcome: "refused",
      permanent: true,
    });
    expect(sink.attempts()).toBe(0);
  });

  it("never embeds a file or URL that its content refers to", async () => {
    const sink = await startMailSink();
    const html = `<img src="file:///etc/hostname"><img src="data:text/plain,x">`;
    await mailerOf(sink).send({ ...message, html }, neverAborted);
    expect((await sink.next("ada@example.com")).attachments).toEqual([]);
  });
});

describe("encryption", () => {
  it("is used when offered, and the certificate must be valid", async () => {
    const sink = await startMailSink({ encryption: "starttls" });
    const mailer = mailerOf(sink);
    expect(await mailer.send(message, neverAborted)).toMatchObject({
      outcome: "unavailable",
      failure: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    });
    expect(sink.messages()).toEqual([]);
    trust(sink);
    expect(await mailer.send(message, neverAborted)).toMatchObject({ outcome: "accepted" });
    expect(sink.messages()).toMatchObject([{ encrypted: true }]);
  });

  it("begins with the connection on port 465", async () => {
    const connecting = vi.spyOn(tls, "connect").mockImplementation(() => {
      throw new Error("There is no network.");
    });
    onTestFinished(() => connecting.mockRestore());
    const { environment } = await startMailSink();
    const settings = settingsOf({ ...environment, PWP__MAIL__SMTP_PORT: "465" });
    expect(await createSmtpMailer(settings).check()).toBeDefined();
    expect(connecting).toHaveBeenCalledWith(expect.objectContaining({ port: 465 }), expect.anything());
  });

  it("accepts any certificate if the operator chose so", async () => {
    const sink = await startMailSink({ encryption: "starttls" });
    const sending = await mailerOf(sink, { PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE: "none" }).send(message, neverAborted);
    expect(sending).toMatchObject({ outcome: "accepted" });
    expect(sink.messages()).toMatchObject([{ encrypted: true }]);
  });

  it("of the password is that of CRAM-MD5 if the operator chose so, and no other way is used", async () => {
    const signIn = { userName: "push", password: "quartz" };
    const cram = { PWP__MAIL__SMTP_AUTHENTICATION: "cram_md5" };
    const offering = await startMailSink({ signIn, authMethods: ["PLAIN", "CRAM-MD5"] });
    expect(await mailerOf(offering, cram).send(message, neverAborted)).toMatchObject({ outcome: "accepted" });
    expect(offering.messages()).toMatchObject([{ signedInAs: "push" }]);
    const plainOnly = await startMailSink({ signIn });
    expect(await mailerOf(plainOnly, cram).send(message, neverAborted)).toMatchObject({ outcome: "unavailable" });
  });

  it("of a password is not left out where the server suddenly asks for none", async () => {
    const sink = await startMailSink();
    const signIn = { PWP__MAIL__SMTP_USER_NAME: "push", PWP__MAIL__SMTP_PASSWORD: "quartz" };
    expect(await mailerOf(sink, signIn).send(message, neverAborted)).toMatchObject({ outcome: "unavailable" });
    expect(sink.messages()).toEqual([]);
  });

  it("is mandatory when required, and not tried when off", async () => {
    const plain = await startMailSink();
    const required = { PWP__MAIL__SMTP_STARTTLS: "required" };
    expect(await mailerOf(plain, required).send(message, neverAborted)).toMatchObject({ outcome: "unavailable" });
    expect(plain.messages()).toEqual([]);
    const offering = await startMailSink({ encryption: "starttls" });
    await mailerOf(offering, { PWP__MAIL__SMTP_STARTTLS: "off" }).send(message, neverAborted);
    expect(offering.messages()).toMatchObject([{ encrypted: false }]);
  });

  it("is mandatory with a password on any network", async () => {
    const settings = (more: Readonly<Record<string, string>>) =>
      settingsOf({ PWP__MAIL__SMTP_ADDRESS: "mail.example.com", PWP__OVERRIDE_BASE_URL: "https://a.example", ...more });
    const signIn = { PWP__MAIL__SMTP_USER_NAME: "a", PWP__MAIL__SMTP_PASSWORD: "b" };
    expect(mustEncrypt(settings({}))).toBe(false);
    expect(mustEncrypt(settings(signIn))).toBe(true);
    expect(mustEncrypt(settings({ ...signIn, PWP__MAIL__SMTP_ADDRESS: "127.0.0.1" }))).toBe(false);
    expect(mustEncrypt(settings({ ...signIn, PWP__MAIL__SMTP_STARTTLS: "off" }))).toBe(false);
    const plain = await startMailSink({ signIn: { userName: "push", password: "quartz" } });
    expect(await mailerOf(plain).send(message, neverAborted)).toMatchObject({ outcome: "accepted" });
    // Reaches this machine, but is not a loopback address.
    const elsewhere = mailerOf(plain, { PWP__MAIL__SMTP_ADDRESS: "0.0.0.0" });
    expect(await elsewhere.send({ ...message, to: "bob@example.com" }, neverAborted)).toMatchObject({
      outcome: "unavailable",
      failure: { sentence: expect.stringContaining("could not be encrypted") },
    });
    expect(plain.messages()).toHaveLength(1);
  });
});

describe("a refusal", () => {
  it.each([
    ["refused", true, { at: "recipient", code: 550, text: "5.1.1 no such user" }],
    ["refused", false, { at: "recipient", code: 451, text: "4.7.1 greylisted" }],
    ["refused", true, { at: "message", code: 554, text: "5.7.1 spam" }],
    ["refused", false, { at: "message", code: 452, text: "4.3.1 full" }],
  ] as const)(
    "is reported as %s, permanent: %s, when it concerns this message: %j",
    async (outcome, permanent, refusal) => {
      const sink = await startMailSink();
      sink.refuseNext(1, refusal);
      const sending = await mailerOf(sink).send(message, neverAborted);
      expect(sending).toMatchObject({ outcome, permanent, failure: { code: String(refusal.code) } });
      expect(await mailerOf(sink).send(message, neverAborted)).toMatchObject({ outcome: "accepted" });
    },
  );

  it.each([
    [{ at: "sender", code: 553, text: "5.7.1 not your address" }],
    [{ at: "recipient", code: 421, text: "4.3.2 shutting down" }],
  ] as const)("means that the server is unavailable when it does not concern this message: %j", async (refusal) => {
    const sink = await startMailSink();
    sink.refuseNext(1, refusal);
    expect(await mailerOf(sink).send(message, neverAborted)).toMatchObject({
      outcome: "unavailable",
      failure: { code: String(refusal.code) },
    });
  });

  it("is described without parts of the message that the server repeats", async () => {
    const sink = await startMailSink();
    const text = "5.7.1 <ada@example.com> https://push.example.com/x?token=abcdef0123456789 Grüße\tabcdef0123456789";
    sink.refuseNext(1, { at: "message", code: 554, text });
    const sending = await mailerOf(sink).send(message, neverAborted);
    if (sending.outcome !== "refused") throw new Error(sending.outcome);
    expect(sending.failure.sentence).toMatch(/^The mail server refused the email \(554 5\.7\.1 /);
    expect(sending.failure.sentence).toMatch(/^[\x20-\x7e]{1,220}$/);
    for (const secret of ["ada", "example", "abcdef"]) expect(sending.failure.sentence).not.toContain(secret);
  });
});

it("does not wait for a mail server that hangs when the process stops", async () => {
  const sink = await startMailSink();
  const over = Promise.withResolvers<void>();
  onTestFinished(() => over.resolve());
  sink.holdMessages(over.promise);
  const stop = new AbortController();
  const sending = mailerOf(sink).send(message, stop.signal);
  await sink.held();
  stop.abort();
  expect(await sending).toEqual({ outcome: "stopped" });
});
