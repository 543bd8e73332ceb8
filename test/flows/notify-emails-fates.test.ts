import { expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { startMailing } from "../support/mailing.ts";

/** The server processes its outbox every second. */

test("the status of deliveries follows the mail server: waiting, sending, partial, completed, failed", async () => {
  await using mailing = await startMailing();
  const { sink, fixture } = mailing;
  sink.refuseNext(1, { at: "recipient", code: 451, text: "later" });
  const urlToken = await mailing.push();
  const untouched = { recipients: "bob@example.com,eve@example.com", locale: null, successful_sends: null };
  const release = Promise.withResolvers<void>();
  sink.holdMessages(release.promise);
  await mailing.notify(urlToken, { notify_emails_to: untouched.recipients });
  await sink.held();
  // One email was deferred, the other is being sent.
  expect(await mailing.mailed(urlToken)).toMatchObject([
    { status: "processing", successful_sends: "", proceed_at: null },
  ]);
  release.resolve();
  await expect
    .poll(() => mailing.mailed(urlToken))
    .toMatchObject([{ status: "processing", successful_sends: expect.stringMatching(/^(bob|eve)@example.com$/) }]);
  const late = async () => {
    fixture.clock.advance(5 * minuteMs);
    return await mailing.mailed(urlToken);
  };
  await expect
    .poll(late)
    .toMatchObject([{ status: "completed", successful_sends: untouched.recipients, proceed_at: expect.any(String) }]);
});

test("a permanently refused email fails at once, and the owner can see that", async () => {
  await using mailing = await startMailing();
  mailing.sink.refuseNext(1, { at: "recipient", code: 550, text: "no such mailbox: bob@example.com" });
  const urlToken = await mailing.push({ notify_emails_to: "bob@example.com" });
  await expect
    .poll(async () => (await mailing.mailed(urlToken))[0])
    .toEqual({
      recipients: "bob@example.com",
      locale: null,
      status: "failed",
      successful_sends: "",
      proceed_at: expect.any(String),
      error_message: "None of the emails could be sent.",
    });
  expect(mailing.sink.attempts()).toBe(1);
});

test("permanently refused and accepted recipients make a partial failure; the trail lists who got the link", async () => {
  await using mailing = await startMailing();
  mailing.sink.refuseNext(1, { at: "recipient", code: 550, text: "no such mailbox" });
  const urlToken = await mailing.push({ notify_emails_to: "bob@example.com,eve@example.com" });
  await expect
    .poll(async () => (await mailing.mailed(urlToken))[0])
    .toEqual({
      recipients: "bob@example.com,eve@example.com",
      locale: null,
      status: "partially_failed",
      successful_sends: expect.stringMatching(/^(bob|eve)@example.com$/),
      proceed_at: expect.any(String),
      error_message: "Some of the emails could not be sent.",
    });
});

test("the link of an ended push is not sent and is not listed as failed", async () => {
  await using mailing = await startMailing();
  const { sink, fixture } = mailing;
  sink.refuseNext(2, { at: "recipient", code: 451, text: "later" });
  const urlToken = await mailing.push({ notify_emails_to: "bob@example.com,eve@example.com" });
  await expect.poll(() => sink.attempts()).toBe(2);
  await expect.poll(() => fixture.logLines.filter((line) => line.includes("mail_put_off")).length).toBe(2);
  const deleted = await fixture.server.inject({
    method: "DELETE",
    url: `/api/v2/pushes/${urlToken}`,
    headers: { authorization: `Bearer ${mailing.token}` },
  });
  expect(deleted.statusCode).toBe(200);
  fixture.clock.advance(hourMs);
  await expect.poll(() => mailing.mailed(urlToken)).toMatchObject([{ status: "failed", successful_sends: "" }]);
  await expect.poll(() => fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(sink.attempts()).toBe(2);
  const late = await mailing.notify(urlToken, { notify_emails_to: "bob@example.com" });
  expect([late.status, late.body]).toEqual([422, { notify_emails_to: [expect.stringContaining("ended")] }]);
});
