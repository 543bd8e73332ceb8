import { expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { EmailContent } from "../../src/mail/email.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { storedIn } from "../support/stored.ts";
import { accountNotificationEmail, resetEmail } from "../support/test-mail.ts";

const ada = "ada@example.com";
/** The server processes its outbox every second. */

const put = (
  { app, clock }: TestApp,
  to: string,
  content: EmailContent = accountNotificationEmail,
  language: string | null = null,
) => app.domain.db.write((tx) => app.domain.mail.outbox.put(tx, { to, language, content }, clock.now()));

const sizes = ({ app }: TestApp) => app.domain.mail.sizes();

test("the server sends waiting emails by itself, in the recipient's language, with links to its base URL", async () => {
  const sink = await startMailSink({ baseUrl: "https://push.example.org" });
  await using fixture = await startTestApp({ environment: sink.environment });
  await put(fixture, ada, { kind: "reset_password", token: "t0" }, "de");
  const mail = await sink.next(ada);
  expect(mail.subject).toBe("Sealpush: Wählen Sie ein neues Passwort (push.example.org)");
  expect(linkIn(mail, "/users/password").href).toBe(
    "https://push.example.org/users/password/edit?reset_password_token=t0",
  );
  await expect.poll(() => sizes(fixture)).toEqual({ waiting: 0, failed: 0 });
});

test("emails ask for answers to the configured sender, and without one for none", async () => {
  const sink = await startMailSink();
  const sender = { PWP__MAIL__MAILER_SENDER: "Push team <push@example.com>" };
  await using fixture = await startTestApp({ environment: { ...sink.environment, ...sender } });
  await put(fixture, ada, resetEmail);
  const replyTo = [{ name: "Push team", address: "push@example.com" }];
  expect(await sink.next(ada)).toMatchObject({ replyTo, from: replyTo[0] });
  await using unnamed = await startTestApp({ environment: sink.environment });
  await put(unnamed, ada, resetEmail);
  expect((await sink.next(ada)).replyTo).toBeUndefined();
});

test("an email is sent later after a temporary refusal", async () => {
  const sink = await startMailSink();
  sink.refuseNext(2, { at: "recipient", code: 451, text: "4.7.1 come back later" });
  await using fixture = await startTestApp({ environment: sink.environment });
  await put(fixture, ada);
  await expect.poll(() => sink.attempts()).toBe(1);
  for (const attempt of [2, 3]) {
    await expect.poll(() => fixture.logLines.filter((line) => line.includes("mail_put_off")).length).toBe(attempt - 1);
    fixture.clock.advance(5 * minuteMs);
    await expect.poll(() => sink.attempts()).toBe(attempt);
  }
  expect(await sink.next(ada)).toMatchObject({ recipients: [ada] });
  expect(sink.messages().length).toBe(1);
});

test("an email whose mail server dies before it answers is sent again with the same Message-ID", async () => {
  const sink = await startMailSink();
  sink.cutNext();
  await using fixture = await startTestApp({ environment: sink.environment });
  await put(fixture, ada);
  const first = await sink.next(ada);
  await expect.poll(() => fixture.logLines.join("")).toContain("mail_put_off");
  expect(await sizes(fixture)).toEqual({ waiting: 1, failed: 0 });
  // A pause may begin after the line was logged.
  await expect
    .poll(() => {
      fixture.clock.advance(minuteMs);
      return sink.attempts();
    })
    .toBe(2);
  expect((await sink.next(ada)).messageId).toBe(first.messageId);
  await expect.poll(() => sizes(fixture)).toEqual({ waiting: 0, failed: 0 });
  expect(sink.messages().length).toBe(2);
});

test("emails wait while the mail server is down, and across a restart", async () => {
  const down = await startMailSink();
  await down.stop();
  const fixture = await startTestApp({ environment: down.environment });
  await put(fixture, ada, resetEmail);
  await expect.poll(() => fixture.logLines.join("")).toContain('"code":"ECONNREFUSED"');
  await fixture.app.close();

  await using again = await startTestApp({
    environment: down.environment,
    dataDir: fixture.dataDir,
    clock: fixture.clock,
  });
  expect(await sizes(again)).toEqual({ waiting: 1, failed: 0 });
  const sink = await startMailSink({ port: down.port });
  again.clock.advance(2 * minuteMs);
  expect((await sink.next(ada)).text).toContain("reset-token-0123456789");
});

test("two servers on one data folder send each email once", async () => {
  const sink = await startMailSink();
  await using one = await startTestApp({ environment: sink.environment });
  await using two = await startTestApp({ environment: sink.environment, dataDir: one.dataDir, clock: one.clock });
  const recipients = Array.from({ length: 12 }, (_, n) => `${n}@example.com`);
  await one.app.domain.db.write(async (tx) => {
    for (const to of recipients)
      await one.app.domain.mail.outbox.put(
        tx,
        { to, language: null, content: accountNotificationEmail },
        one.clock.now(),
      );
  });
  await expect.poll(() => sizes(two)).toEqual({ waiting: 0, failed: 0 });
  expect(
    sink
      .messages()
      .flatMap((mail) => mail.recipients)
      .sort(),
  ).toEqual([...recipients].sort());
});

test("without a base URL no email is sent, and the server warns at its start", async () => {
  const sink = await startMailSink();
  const { PWP__OVERRIDE_BASE_URL: _, ...environment } = sink.environment;
  await using fixture = await startTestApp({ environment });
  expect(fixture.app.domain.mail.outbox.open).toBe(false);
  await put(fixture, ada);
  expect(await sizes(fixture)).toEqual({ waiting: 0, failed: 0 });
  expect(loadConfig(environment, () => "").warnings.join("\n")).toContain("No email is sent");
});

test("neither log nor database contains the content of emails or the mail password", async () => {
  const canaries = new Canaries();
  const signIn = { userName: "push", password: canaries.makeCore("mail password") };
  const sink = await startMailSink({ signIn });
  await using fixture = await startTestApp({ environment: { ...sink.environment, PWP__LOG_LEVEL: "debug" } });
  const token = canaries.makeCore("reset token");
  const to = `${canaries.makeCore("recipient").slice(0, 40)}@example.com`;
  const subject = canaries.makeCore("name of a token");
  const text = `5.1.1 <${to}> ${token} ${signIn.password}`;
  sink.refuseNext(1, { at: "recipient", code: 451, text });
  await put(fixture, to, { kind: "reset_password", token });
  await put(fixture, to, {
    kind: "account_notification",
    change: "token_made",
    subject,
    at: 0,
    address: "",
    userAgent: "",
  });
  await sink.next(to);
  await expect.poll(() => fixture.logLines.join("")).toContain("mail_put_off");
  fixture.clock.advance(2 * minuteMs);
  await sink.next(to);
  await expect.poll(() => sizes(fixture)).toEqual({ waiting: 0, failed: 0 });

  sink.refuseNext(3, { at: "message", code: 554, text });
  await put(fixture, to, { kind: "confirm_account", token });
  // Between two attempts, not during one: an attempt that outlasts its lease is another one's to record.
  const putOff = () => fixture.logLines.filter((line) => line.includes("mail_put_off")).length;
  for (const attempts of [2, 3]) {
    await expect.poll(putOff).toBe(attempts);
    fixture.clock.advance(5 * minuteMs);
  }
  await expect.poll(() => sizes(fixture)).toEqual({ waiting: 0, failed: 1 });
  expect(canaries.namesIn(Buffer.from(fixture.logLines.join("")))).toEqual([]);
  for (const [path, bytes] of await storedIn(fixture.dataDir)) expect(canaries.namesIn(bytes), path).toEqual([]);
});

test("a hanging mail server delays neither answers nor, for long, the shutdown", async () => {
  const sink = await startMailSink();
  const over = Promise.withResolvers<void>();
  sink.holdMessages(over.promise);
  const fixture = await startTestApp({ environment: sink.environment });
  await put(fixture, ada);
  await sink.held();
  expect((await fixture.server.inject("/up")).statusCode).toBe(200);
  await fixture.app.close();
  over.resolve();

  await using again = await startTestApp({
    environment: sink.environment,
    dataDir: fixture.dataDir,
    clock: fixture.clock,
  });
  again.clock.advance(hourMs);
  await expect.poll(() => sizes(again)).toEqual({ waiting: 0, failed: 0 });
});
