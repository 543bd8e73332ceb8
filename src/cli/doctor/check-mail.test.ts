import { describe, expect, it } from "vitest";
import { testConfig } from "../../../test/support/domain.ts";
import { startMailSink } from "../../../test/support/mail-sink.ts";
import { createSmtpMailer } from "../../mail/smtp.ts";
import { checkFailedMails, checkMail } from "./check-mail.ts";

const check = (environment: Readonly<Record<string, string>>) =>
  checkMail(testConfig("/nowhere", environment).mail, createSmtpMailer);

describe("checkMail", () => {
  it("succeeds if no mail server is configured", async () => {
    expect(await check({})).toMatchObject([
      { level: "ok", sentence: expect.stringContaining("No mail server is set") },
    ]);
  });

  it("connects and signs in, and sends nothing", async () => {
    const sink = await startMailSink({ signIn: { userName: "push", password: "right" } });
    expect(await check(sink.environment)).toMatchObject([
      { level: "ok", sentence: expect.stringContaining("accepts the sign-in") },
    ]);
    const [wrong] = await check({ ...sink.environment, PWP__MAIL__SMTP_PASSWORD: "wrong" });
    expect(wrong).toMatchObject({ level: "fail", sentence: expect.stringContaining("refused the sign-in (535") });
    expect(sink.attempts()).toBe(0);
  });

  it("names the problem: no server, no encryption, an untrusted certificate", async () => {
    const gone = await startMailSink();
    await gone.stop();
    expect(await check(gone.environment)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("ECONNREFUSED") },
    ]);
    const plain = await startMailSink();
    expect(await check({ ...plain.environment, PWP__MAIL__SMTP_STARTTLS: "required" })).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("could not be encrypted") },
    ]);
    const unknown = await startMailSink({ encryption: "starttls" });
    expect(await check(unknown.environment)).toMatchObject([
      { level: "fail", sentence: expect.stringContaining("could not be encrypted (DEPTH_ZERO_SELF_SIGNED_CERT)") },
    ]);
  });
});

describe("checkFailedMails", () => {
  it("reports failed emails only if there are any", () => {
    expect(checkFailedMails(0)).toEqual([]);
    expect(checkFailedMails(2)).toMatchObject([{ level: "warn", sentence: expect.stringContaining("2 email(s)") }]);
  });
});
