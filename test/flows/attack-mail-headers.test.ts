import { expect, onTestFinished, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { TestAuthenticator } from "../support/authenticator.ts";
import { type MailSink, type SunkMail, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@evil.example";

/** Text that would begin another header, recipient, part or email if it were inserted without encoding. */
const injected: readonly string[] = [
  `x\r\nBcc: ${eve}`,
  `x\nBcc: ${eve}`,
  `x\rBcc: ${eve}`,
  `x\r\n\r\nA body of the sender's own`,
  `x\r\n.\r\nMAIL FROM:<${eve}>`,
  `x\u2028Bcc: ${eve}`,
  `x\u0085Bcc: ${eve}`,
  `x\0\r\nReply-To: ${eve}`,
  `=?utf-8?Q?x=0D=0ABcc:_${eve}?=`,
  `x%0d%0aBcc:${eve}`,
  `x\u560d\u560aBcc: ${eve}`,
];

const headersOfOurs = [
  "from",
  "to",
  "subject",
  "message-id",
  "date",
  "auto-submitted",
  "x-auto-response-suppress",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
];

/** Expects an email to one person with our headers, each once, and our two parts. */
function expectPlain(mail: SunkMail, to: string): void {
  expect(mail.recipients).toEqual([to]);
  expect(mail.to).toEqual([{ name: "", address: to }]);
  expect([mail.cc ?? [], mail.bcc ?? [], mail.replyTo ?? []]).toEqual([[], [], []]);
  const names = mail.headers.map(({ key }) => key);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !headersOfOurs.includes(name))).toEqual([]);
  expect(mail.subject).not.toMatch(/[\r\n]/);
  expect(mail.attachments).toEqual([]);
  // A name is on its own line, after its label.
  const lines = (mail.text ?? "").split(/\r?\n/);
  expect(lines.filter((line) => /^(bcc|reply-to|mail from|A body of)/i.test(line))).toEqual([]);
}

interface Fixture {
  readonly fixture: TestApp;
  readonly sink: MailSink;
  readonly person: SignedInClient;
}

async function open(): Promise<Fixture> {
  const sink = await startMailSink();
  const fixture = await startTestApp({ environment: sink.environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return { fixture, sink, person: await signInClient(fixture, ada, { join: true }) };
}

/** Checks every email that was sent: at least `count`, and a password reset. */
async function expectAllPlain({ sink, fixture, person }: Fixture, count: number): Promise<void> {
  await person.post("/users/password/new", { email: ada });
  const sizes = () => fixture.app.domain.mail.sizes();
  await expect.poll(sizes).toEqual({ waiting: 0, failed: 0 });
  expect(sink.messages().length).toBeGreaterThan(count);
  for (const mail of sink.messages()) expectPlain(mail, mail.recipients[0] ?? "");
  expect(sink.messages().filter(({ recipients }) => recipients.includes(eve))).toEqual([]);
}

test("email header injection through the name of an API token", async () => {
  const opened = await open();
  let made = 0;
  for (const name of injected) {
    const { status } = await opened.person.post("/users/token", { name });
    expect([name, [201, 422].includes(status)]).toEqual([name, true]);
    if (status === 201) made += 1;
  }
  expect(made).toBeGreaterThan(1);
  await expectAllPlain(opened, made);
});

test("email header injection through the name of a passkey", async () => {
  const opened = await open();
  const origin = opened.sink.environment.PWP__OVERRIDE_BASE_URL;
  let made = 0;
  for (const name of injected) {
    const { body } = await opened.person.post("/users/factors/passkeys/options");
    const passkey = new TestAuthenticator(origin).create(JSON.parse(body));
    const { status } = await opened.person.post("/users/factors/passkeys", { name, passkey, proof: password });
    expect([name, status < 500]).toEqual([name, true]);
    if (status < 400) made += 1;
  }
  expect(made).toBeGreaterThan(1);
  await expectAllPlain(opened, made);
});

test("email header injection through the address of a change, a sign-up or a confirmation", async () => {
  const opened = await open();
  const { person } = opened;
  for (const typed of injected) {
    for (const email of [`${typed}@example.com`, `eve@example.com${typed.slice(1)}`, `"${typed}"@example.com`]) {
      expect([email, (await person.post("/users/edit/email", { email, password })).status]).toEqual([email, 422]);
      for (const url of ["/users/sign_up", "/users/confirmation/new"]) {
        expect([email, (await person.post(url, { email, password })).status < 500]).toEqual([email, true]);
      }
    }
  }
  await expectAllPlain(opened, 0);
});

test("email header injection through the request's headers", async () => {
  const opened = await open();
  for (const [at, text] of injected.entries()) {
    // Characters that cannot be sent in a request header are left out.
    const said = text.replace(/[\r\n\0]/g, "").replace(/[^\x20-\xff]/g, "");
    const answer = await opened.fixture.server.inject({
      method: "POST",
      url: "/users/sign_in",
      remoteAddress: `203.0.113.${at}`,
      headers: {
        "user-agent": `Mozilla/5.0 Firefox/140.0 ${said}`,
        "accept-language": said,
        "x-forwarded-for": said,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
        referer: said,
      },
      payload: new URLSearchParams({ email: ada, password, locale: text, language: text }).toString(),
    });
    expect(answer.statusCode).toBe(303);
  }
  await expectAllPlain(opened, injected.length);
});

test.each(["evil.example", "push.example.com.evil.example", "push.example.com@evil.example", "evil.example/x?"])(
  "links in emails begin with the configured base URL, whatever host the request's headers name: %s",
  async (host) => {
    const { sink, fixture } = await open();
    const answer = await fixture.server.inject({
      method: "POST",
      url: `/users/password/new?host=${encodeURIComponent(host)}`,
      headers: {
        host,
        "x-forwarded-host": host,
        "x-forwarded-proto": "http",
        forwarded: `host="${host}"`,
        "x-host": host,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
      },
      payload: new URLSearchParams({ email: ada, base_url: `https://${host}`, host }).toString(),
    });
    expect(answer.statusCode).toBeLessThan(500);
    // An invalid host may be refused before the handler; a request with the right host still gets its email.
    if (answer.statusCode !== 200) await (await signInClient(fixture, ada)).post("/users/password/new", { email: ada });
    const mail = await sink.next(ada);
    expectPlain(mail, ada);
    expect(`${mail.text}${mail.html}`).not.toContain("evil.example");
    expect(mail.text).toContain(sink.environment.PWP__OVERRIDE_BASE_URL);
  },
);
