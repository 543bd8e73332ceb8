import { expect, test } from "vitest";
import { minuteMs, secondMs } from "../../src/base/clock.ts";
import { en, findMessages } from "../../src/i18n/i18n.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";
import { visit } from "../support/form-requests.ts";
import { type MailSink, startMailSink } from "../support/mail-sink.ts";

const password = "a long enough password";
const ada = { email: "ada@example.com", password };
const bob = { email: "bob@example.com", password };
const root = { email: "root@example.com", password };

const makeAdministrator = ({ app }: TestApp) => app.domain.accounts.createUser({ ...root, admin: true });
const signUpStatus = async (fixture: TestApp) => (await visit(fixture, "/users/sign_up")).status;
/**
 * Waits for an email that was put off. The clock advances meanwhile, because the end of the failed attempt, which begins
 * the pause before the next one, cannot be observed.
 */
const awaitDelivery = async ({ clock }: TestApp, sink: MailSink, to: string) => {
  const recipients = () => {
    clock.advance(5 * secondMs);
    return sink.messages().flatMap((message) => message.recipients);
  };
  await expect.poll(recipients).toContain(to);
};
const changesOf = ({ logLines }: TestApp) =>
  logLines.flatMap((line) => /"event":"(mail_server_[a-z]+)"/.exec(line)?.slice(1) ?? []);
const noticeOf = async (client: CookieClient, path: string) =>
  (await client.get(path)).body.includes(en.faults.mailServer);

test("sign-up is closed from the start while the mail server is away, and opens by itself", async () => {
  const away = await startMailSink();
  await away.stop();
  await using fixture = await startTestApp({ environment: away.environment });
  await makeAdministrator(fixture);
  await expect.poll(() => signUpStatus(fixture)).toBe(403);
  const page = await visit(fixture, "/users/sign_up");
  expect(page.body).toContain(en.entry.signUp.mailUnavailable);
  expect(page.body).not.toContain('<form class="form"');
  expect(await visit(fixture, "/users/sign_up", ada)).toMatchObject({ status: 403, cookie: "" });
  expect(await fixture.app.domain.accounts.findUserByEmail(ada.email)).toBeUndefined();
  const push = { payload: "the secret" };
  const created = await fixture.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push } });
  expect(created.statusCode).toBe(201);

  const sink = await startMailSink({ port: away.port });
  fixture.clock.advance(59 * secondMs);
  await fixture.app.domain.mail.deliverDue(new AbortController().signal);
  expect(await signUpStatus(fixture)).toBe(403);
  fixture.clock.advance(secondMs);
  await expect.poll(() => signUpStatus(fixture)).toBe(200);
  expect(await visit(fixture, "/users/sign_up", ada)).toMatchObject({ status: 200 });
  await sink.next(ada.email);
  expect(changesOf(fixture)).toEqual(["mail_server_unavailable", "mail_server_available"]);
});

test("an email that cannot be sent closes sign-up, and administrators see why on every page", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  await makeAdministrator(fixture);
  const administrator = new CookieClient(fixture);
  await administrator.signIn(root.email, root.password);
  expect(await visit(fixture, "/users/sign_up", ada)).toMatchObject({ status: 200 });
  await sink.next(ada.email);
  expect(await noticeOf(administrator, "/")).toBe(false);

  // The connections of the check at the start and of the email.
  await expect.poll(sink.ended).toBe(2);
  await sink.stop();
  expect(await visit(fixture, "/users/sign_up", bob)).toMatchObject({ status: 200 });
  await expect.poll(() => signUpStatus(fixture)).toBe(403);
  for (const path of ["/", "/p", "/admin", "/users/edit"]) {
    expect([path, await noticeOf(administrator, path)]).toEqual([path, true]);
  }
  expect((await administrator.get("/admin")).body).toContain("The mail server cannot be reached (connection refused).");
  expect((await administrator.get("/?locale=de")).body).toContain(findMessages("de")?.faults.mailServer ?? "no German");
  expect((await visit(fixture, "/")).body).not.toContain("connection refused");

  const back = await startMailSink({ port: sink.port });
  fixture.clock.advance(2 * minuteMs);
  await awaitDelivery(fixture, back, bob.email);
  await expect.poll(() => signUpStatus(fixture)).toBe(200);
  expect(await noticeOf(administrator, "/")).toBe(false);
  expect(changesOf(fixture)).toEqual(["mail_server_unavailable", "mail_server_available"]);
});

test.each([450, 550, 421])(
  "a recipient refused with %i never closes sign-up: strangers could otherwise",
  async (code) => {
    const sink = await startMailSink();
    await using fixture = await startTestApp({ environment: sink.environment });
    await makeAdministrator(fixture);
    sink.refuseNext(1, { at: "recipient", code, text: "no such mailbox" });
    expect(await visit(fixture, "/users/sign_up", bob)).toMatchObject({ status: 200 });
    await expect.poll(() => fixture.logLines.join("")).toContain(`"code":"${code}"`);
    expect(await visit(fixture, "/users/sign_up", ada)).toMatchObject({ status: 200 });
    // After a 421, which is about the connection, the next email waits for a few seconds.
    await awaitDelivery(fixture, sink, ada.email);
    expect(changesOf(fixture)).toEqual([]);
  },
);

test("all servers of one database close and open sign-up together, with one log line for each change", async () => {
  const sink = await startMailSink();
  await using one = await startTestApp({ environment: sink.environment });
  await using two = await startTestApp({ environment: sink.environment, dataDir: one.dataDir, clock: one.clock });
  await makeAdministrator(one);
  const both = async () => [await signUpStatus(one), await signUpStatus(two)];
  // A check that is under way while the mail server stops would close sign-up before this account asks for it.
  await expect.poll(sink.ended).toBe(2);
  expect(await both()).toEqual([200, 200]);
  await sink.stop();
  expect(await visit(one, "/users/sign_up", ada)).toMatchObject({ status: 200 });
  await expect.poll(both).toEqual([403, 403]);
  const back = await startMailSink({ port: sink.port });
  one.clock.advance(2 * minuteMs);
  await awaitDelivery(one, back, ada.email);
  await expect.poll(both).toEqual([200, 200]);
  expect([...changesOf(one), ...changesOf(two)].sort()).toEqual(["mail_server_available", "mail_server_unavailable"]);
});
