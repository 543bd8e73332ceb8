import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openTestDomain, type TestDomain } from "../../test/support/domain.ts";
import { startMailSink } from "../../test/support/mail-sink.ts";
import { accountNotificationEmail, neverAborted } from "../../test/support/test-mail.ts";
import { dayMs, minuteMs } from "../base/clock.ts";

const put = ({ domain, clock }: TestDomain, to: string) =>
  domain.db.write((tx) =>
    domain.mail.outbox.put(tx, { to, language: null, content: accountNotificationEmail }, clock.now()),
  );
const run = ({ domain }: TestDomain) => domain.mail.deliverDue(neverAborted);
const failureOf = ({ domain }: TestDomain) => domain.mail.serverFailure();

test("a server that refuses the sender is unavailable until it accepts an email: a check does not show it", async () => {
  const sink = await startMailSink();
  await using fixture = await openTestDomain({ environment: sink.environment });
  sink.refuseNext(2, { at: "sender", code: 553, text: "5.7.1 not yours" });
  await put(fixture, "ada@example.com");
  await run(fixture);
  expect(failureOf(fixture)).toBe("The mail server refused the sender (553 5.7.1 not yours).");
  fixture.clock.advance(minuteMs + 20_000);
  await run(fixture);
  expect(sink.attempts()).toBe(2);
  expect(failureOf(fixture)).toBeDefined();
  fixture.clock.advance(minuteMs);
  await run(fixture);
  expect([sink.attempts(), failureOf(fixture)]).toEqual([2, expect.any(String)]);
  fixture.clock.advance(2 * minuteMs);
  await run(fixture);
  expect(sink.messages().length).toBe(1);
  expect(failureOf(fixture)).toBeUndefined();
});

test("once no email waits that could show it, a check makes a server available that refused the sender", async () => {
  const sink = await startMailSink();
  await using fixture = await openTestDomain({ environment: sink.environment });
  sink.refuseNext(1_000, { at: "sender", code: 553, text: "5.7.1 not yours" });
  await put(fixture, "ada@example.com");
  await run(fixture);
  fixture.clock.advance(3 * dayMs);
  await run(fixture);
  expect(await fixture.domain.mail.sizes()).toEqual({ waiting: 0, failed: 1 });
  expect(failureOf(fixture)).toBeDefined();
  fixture.clock.advance(minuteMs);
  await run(fixture);
  expect(failureOf(fixture)).toBeUndefined();
});

test("a server that closes the connection, refuses the sign-in or speaks no SMTP is unavailable", async () => {
  const signIn = { userName: "sealpush", password: "right" };
  const sink = await startMailSink({ signIn });
  const environment = { ...sink.environment, PWP__MAIL__SMTP_PASSWORD: "wrong" };
  await using locked = await openTestDomain({ environment });
  await run(locked);
  expect(failureOf(locked)).toContain("refused the sign-in");

  for (const greeting of ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "421 4.3.2 closing\r\n"]) {
    const closing = createServer((socket) => socket.on("error", () => undefined).end(greeting));
    closing.listen(0, "127.0.0.1");
    await once(closing, "listening");
    onTestFinished(() => void closing.close());
    const port = String((closing.address() as AddressInfo).port);
    await using fixture = await openTestDomain({ environment: { ...sink.environment, PWP__MAIL__SMTP_PORT: port } });
    await run(fixture);
    expect([greeting, failureOf(fixture)]).toEqual([greeting, expect.stringContaining("mail server")]);
  }
});

test("a stop does not wait for a server that does not answer, and changes nothing", async () => {
  const connected = Promise.withResolvers<void>();
  const silent = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    connected.resolve();
  });
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { environment } = await startMailSink();
  const port = String((silent.address() as AddressInfo).port);
  await using fixture = await openTestDomain({ environment: { ...environment, PWP__MAIL__SMTP_PORT: port } });
  const stop = new AbortController();
  const running = fixture.domain.mail.deliverDue(stop.signal);
  await connected.promise;
  stop.abort();
  await running;
  expect(failureOf(fixture)).toBeUndefined();
});

test("without account emails, nothing checks the mail server", async () => {
  const sink = await startMailSink();
  await sink.stop();
  const environment = { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" };
  await using fixture = await openTestDomain({ environment });
  await run(fixture);
  expect(failureOf(fixture)).toBeUndefined();
});
