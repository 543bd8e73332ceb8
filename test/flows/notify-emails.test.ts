import { describe, expect, test } from "vitest";
import { dayMs, minuteMs, secondMs } from "../../src/base/clock.ts";
import { nothingElse } from "../../src/database/database.ts";
import { noRules } from "../../src/policies/policies.ts";
import { shellActor } from "../../src/pushes/pushes.ts";
import { bearer, startTestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";
import { countRows, readRows, tablesOf } from "../support/engine-database.ts";
import { linkIn } from "../support/mail-sink.ts";
import { owner, startMailing } from "../support/mailing.ts";
import { filesIn } from "../support/raw-files.ts";

/** The server processes its outbox every second. */

test("the link of a new push is emailed to each address and recorded in the trail", async () => {
  await using mailing = await startMailing();
  const { sink, fixture } = mailing;
  const recipients = "bob@example.com, Eve@Example.org";
  const push = { passphrase: "between us", notify_emails_to: recipients, notify_emails_to_locale: "de" };
  const urlToken = await mailing.push(push);
  const mails = [await sink.next("bob@example.com"), await sink.next("eve@example.org")];
  for (const mail of mails) {
    expect(mail.subject).toBe("Sealpush: Ein Geheimnis für Sie (push.example.com)");
    expect(mail.text).toContain(owner);
    expect(mail.text).toContain("Passphrase");
    expect(mail.raw).not.toMatch(/the secret|between us/);
    expect(linkIn(mail, "/p/").href).toBe(`https://push.example.com/p/${urlToken}/r?locale=de`);
    expect(mail.to?.length).toBe(1);
  }
  await expect
    .poll(() => mailing.mailed(urlToken))
    .toEqual([
      {
        recipients,
        locale: "de",
        status: "completed",
        successful_sends: "bob@example.com,Eve@Example.org",
        proceed_at: new Date(fixture.clock.now()).toISOString(),
      },
    ]);
});

test("forms and the query string accept the addresses in the same way, and API v1 ignores them", async () => {
  await using mailing = await startMailing();
  const { sink, fixture, token } = mailing;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-www-form-urlencoded" };
  const payload = "password[payload]=x&password[notify_emails_to]=bob%40example.com";
  const made = await fixture.server.inject({ method: "POST", url: "/p.json", headers, payload });
  expect(made.statusCode).toBe(201);
  expect(Object.keys(made.json())).not.toContain("notify_emails_to");
  const again = await fixture.server.inject({
    method: "POST",
    url: `/api/v2/pushes/${made.json().url_token}/notify_emails.json`,
    headers,
    payload: "notify_emails_to=eve%40example.com&notify_emails_to_locale=",
  });
  expect([again.statusCode, Object.keys(again.json())]).toEqual([201, ["message"]]);
  await sink.next("eve@example.com");
  const inQuery = await fixture.server.inject({
    method: "POST",
    url: `/api/v2/pushes/${made.json().url_token}/notify_emails?notify_emails_to=dan%40example.com`,
    headers: { authorization: headers.authorization },
  });
  expect(inQuery.statusCode).toBe(201);
  await sink.next("dan@example.com");
  const trail = await fixture.server.inject({ url: `/p/${made.json().url_token}/audit.json`, headers });
  expect(trail.json().views).toMatchObject([
    { kind: "creation" },
    { kind: "creation_email_send" },
    { kind: "creation_email_send" },
  ]);
});

describe("emailing a link is allowed for", () => {
  test("the owner only, with a token, on every endpoint", async () => {
    await using mailing = await startMailing();
    const to = { notify_emails_to: "bob@example.com" };
    expect(await mailing.create(to, null)).toMatchObject({
      status: 422,
      body: { notify_emails_to: [expect.any(String)] },
    });
    const urlToken = await mailing.push();
    const other = await mailing.fixture.makeToken("other@example.com", true);
    expect(await mailing.notify(urlToken, to, null)).toMatchObject({
      status: 401,
      body: { error: expect.any(String) },
    });
    expect(await mailing.notify(urlToken, to, other)).toMatchObject({
      status: 403,
      body: { error: expect.any(String) },
    });
    expect(await mailing.notify("unknown0unknown0", to)).toMatchObject({ status: 404, body: { error: "not-found" } });
    const anonymous = String((await mailing.create({}, null)).body.url_token);
    expect((await mailing.notify(anonymous, to)).status).toBe(403);
    expect(await mailing.mailed(urlToken)).toEqual([]);
    expect(await mailing.fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  });

  test.each([{ PWP__NOTIFY_BY_EMAIL__ENABLED: "false" }, { PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT: "0" }])(
    "nobody if it is switched off, and the version reports that: %j",
    async (off) => {
      await using mailing = await startMailing(off);
      await using without = await startTestApp();
      const truth = async ({ server }: Pick<typeof without, "server">) =>
        (await server.inject("/api/v2/version")).json().features.pushes.email_auto_dispatch;
      expect(await truth(mailing.fixture)).toBe(false);
      expect(await truth(without)).toBe(false);
      await using on = await startMailing({ PWP__POLICY__MAIL_DOMAINS: "example.com" });
      expect(await truth(on.fixture)).toBe(true);
      // Both rules hold, and no domain is in both.
      const policy = { ...noRules, mailDomains: ["example.org"] };
      await on.fixture.app.domain.policies.save("instance", { policy, revision: 0 }, nothingElse);
      expect(await truth(on.fixture)).toBe(false);

      const urlToken = await mailing.push();
      const to = { notify_emails_to: "bob@example.com" };
      for (const token of [null, "nonsense"]) {
        expect(await mailing.notify(urlToken, to, token)).toMatchObject({ status: 401 });
      }
      const other = await mailing.fixture.makeToken("other@example.com");
      for (const unchecked of [to, { notify_emails_to: [] }]) {
        expect(await mailing.notify(urlToken, unchecked, other)).toMatchObject({ status: 403 });
      }
      const wrong = await mailing.notify(urlToken, { ...to, notify_emails_to_locale: "xx" });
      expect(wrong).toMatchObject({ status: 422, body: { notify_emails_to_locale: [expect.any(String)] } });
      const explained = { error: "not-found", message: "Email is not configured on this server." };
      expect(await mailing.notify(urlToken, to)).toMatchObject({ status: 404, body: explained });
      const unknown = await mailing.notify("unknown0unknown0", to);
      expect([unknown.status, unknown.body]).toEqual([404, { error: "not-found" }]);
      expect((await mailing.create(to)).body).toEqual({ notify_emails_to: [expect.any(String)] });
      expect((await mailing.create({ notify_emails_to: "" })).status).toBe(201);
      for (const locale of ["de", "xx"]) {
        const alone = await mailing.create({ notify_emails_to: " ", notify_emails_to_locale: locale });
        expect([alone.status, Object.keys(alone.body)]).toEqual([422, ["notify_emails_to"]]);
      }
      expect((await mailing.create({ notify_emails_to_locale: "" })).status).toBe(201);
    },
  );

  test("at most five requests a minute, on all endpoints together", async () => {
    await using mailing = await startMailing();
    const urlToken = await mailing.push();
    for (let n = 0; n < 7; n += 1) {
      expect((await mailing.notify(urlToken, { notify_emails_to: "no address" })).status).toBe(422);
    }
    for (let n = 0; n < 5; n += 1) {
      expect((await mailing.notify(urlToken, { notify_emails_to: `${n}@example.com` })).status).toBe(201);
      mailing.fixture.clock.advance(secondMs);
    }
    const refused = await mailing.notify(urlToken, { notify_emails_to: "5@example.com" });
    expect([refused.status, refused.retryAfter]).toEqual([429, "55"]);
    const elsewhere = await mailing.fixture.server.inject({
      method: "POST",
      url: `/api/v2/pushes/${urlToken}/notify_emails`,
      headers: { ...bearer(mailing.token), "x-forwarded-for": "192.0.2.1" },
      payload: { notify_emails_to: "5@example.com" },
    });
    expect(elsewhere.statusCode).toBe(429);
    mailing.fixture.clock.advance(minuteMs);
    const used = await mailing.notify(urlToken, { notify_emails_to: "5@example.com" });
    expect([used.status, Object.keys(used.body)]).toEqual([422, ["notify_emails_to"]]);
  });

  test("a push is emailed to at most five addresses, also with concurrent requests", async () => {
    await using mailing = await startMailing();
    const urlToken = await mailing.push({ notify_emails_to: "1@example.com,2@example.com,3@example.com" });
    const asked = ["4@example.com,5@example.com", "6@example.com,7@example.com", "8@example.com,9@example.com"];
    const answers = await Promise.all(asked.map((to) => mailing.notify(urlToken, { notify_emails_to: to })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect((await mailing.mailed(urlToken)).length).toBe(2);
    await expect.poll(() => mailing.sink.messages().length).toBe(5);
  });

  test("the daily limit of an account covers all its pushes and resets after a day", async () => {
    await using mailing = await startMailing({ PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT: "3" });
    const two = { notify_emails_to: "1@example.com,2@example.com" };
    const answers = await Promise.all([mailing.create(two), mailing.create(two), mailing.create(two)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body).toEqual({ notify_emails_to: [expect.stringContaining("3 addresses a day")] });
    expect((await mailing.ask("GET", "/api/v2/pushes/active")).body).toHaveLength(1);
    expect((await mailing.create({ notify_emails_to: "3@example.com" })).status).toBe(201);
    expect((await mailing.create({ notify_emails_to: "4@example.com" })).status).toBe(422);
    const other = await mailing.fixture.makeToken("other@example.com");
    expect((await mailing.create(two, other)).status).toBe(201);
    mailing.fixture.clock.advance(dayMs);
    expect((await mailing.create(two)).status).toBe(201);
    expect((await mailing.create({ notify_emails_to: "1@a.example,2@a.example,3@a.example,4@a.example" })).status).toBe(
      422,
    );
  });
});

describe("invalid input is reported beside its field and creates nothing", () => {
  test.each([
    ["an empty list", { notify_emails_to: " " }],
    ["none at all", {}],
    ["no text", { notify_emails_to: ["bob@example.com"] }],
    ["no address", { notify_emails_to: "bob" }],
    ["six addresses", { notify_emails_to: "1@a.example,2@a.example,3@a.example,4@a.example,5@a.example,6@a.example" }],
    ["one twice, in different case", { notify_emails_to: "bob@example.com, BOB@example.com" }],
    ["a trailing comma", { notify_emails_to: "bob@example.com," }],
    ["a line end and a header", { notify_emails_to: "bob@example.com\r\nBcc: eve@example.com" }],
    ["a second address in one", { notify_emails_to: "bob@example.com;eve@example.com" }],
    ["a name", { notify_emails_to: "Bob <bob@example.com>" }],
    ["a quoted part", { notify_emails_to: '"bob,eve"@example.com' }],
    ["a very long one", { notify_emails_to: `${"b".repeat(3_000)}@example.com` }],
  ])("%s", async (_, body) => {
    await using mailing = await startMailing();
    const urlToken = await mailing.push();
    const refused = await mailing.notify(urlToken, body);
    expect([refused.status, Object.keys(refused.body)]).toEqual([422, ["notify_emails_to"]]);
    expect(await mailing.mailed(urlToken)).toEqual([]);
    if (!("notify_emails_to" in body) || body.notify_emails_to === " ") return;
    const unmade = await mailing.create(body);
    expect([unmade.status, Object.keys(unmade.body)]).toEqual([422, ["notify_emails_to"]]);
    expect((await mailing.ask("GET", "/api/v2/pushes/active")).body).toHaveLength(1);
    expect(mailing.sink.messages()).toEqual([]);
  });

  test("an invalid language is refused; a valid but unavailable one becomes English", async () => {
    await using mailing = await startMailing();
    const to = { notify_emails_to: "bob@example.com" };
    for (const locale of ["xx", "a/b", "\r\n", "de\r\nX: y", "a".repeat(100)]) {
      const body = { ...to, notify_emails_to_locale: locale };
      const refused = await mailing.create(body);
      expect(locale.trim() === "" ? "none" : Object.keys(refused.body)).toEqual(
        locale.trim() === "" ? "none" : ["notify_emails_to_locale"],
      );
    }
    const urlToken = await mailing.push({ ...to, notify_emails_to_locale: "nl" });
    await expect
      .poll(async () => (await mailing.mailed(urlToken))[0])
      .toMatchObject({ locale: "nl", status: "completed" });
    const mail = mailing.sink.messages().at(-1);
    expect(mail?.subject).toBe("Sealpush: A secret for you (push.example.com)");
  });
});

test("an internationalized address gets its email", async () => {
  await using mailing = await startMailing();
  await mailing.push({ notify_emails_to: "bob@bücher.example" });
  await expect.poll(() => mailing.sink.messages().length).toBe(1);
  expect(mailing.sink.messages()[0]?.recipients).toEqual(["bob@bücher.example"]);
});

test("neither log nor database reveals recipients or the link while an email waits, is refused or was sent", async () => {
  await using mailing = await startMailing({ PWP__LOG_LEVEL: "debug" });
  const { sink, fixture } = mailing;
  const canaries = new Canaries();
  const to = `${canaries.makeCore("recipient").slice(0, 40)}@example.com`;
  const name = canaries.makeCore("name");
  sink.refuseNext(1, { at: "recipient", code: 451, text: `4.7.1 <${to}> come back later` });
  const urlToken = await mailing.push({ notify_emails_to: to, notify_on_view: true, name });
  canaries.add("token", urlToken);
  const expectNothing = async () => {
    expect(canaries.namesIn(Buffer.from(fixture.logLines.join("")))).toEqual([]);
    for (const [path, bytes] of filesIn(fixture.dataDir)) expect(canaries.namesIn(bytes), path).toEqual([]);
    const { db } = fixture.app.domain;
    for (const table of await tablesOf(db)) {
      const cells = (await readRows(db, `SELECT * FROM ${table}`)).flatMap((row) => Object.values(row));
      const texts = cells.map((cell) => (Buffer.isBuffer(cell) ? cell.toString("latin1") : String(cell)));
      expect(canaries.namesIn(Buffer.from(texts.join("\n"), "latin1")), table).toEqual([]);
    }
  };
  await expect.poll(() => fixture.logLines.join("")).toContain("mail_put_off");
  await expectNothing();
  await fixture.server.inject(`/api/v2/pushes/${urlToken}`);
  await expect.poll(() => sink.messages().length).toBe(1);
  fixture.clock.advance(2 * minuteMs);
  await expect.poll(() => sink.messages().length).toBe(2);
  await expectNothing();
});

test("deleting a push or an account deletes its link deliveries", async () => {
  await using mailing = await startMailing();
  const { fixture } = mailing;
  const { pushes, db, vault } = fixture.app.domain;
  const removed = vault.urlTokens.addressOf(await mailing.push({ notify_emails_to: "eve@example.com" })).pushId;
  expect(await countRows(db, "link_deliveries", `push_id = ${removed}`)).toBe(1);
  await pushes.removeAsAdministrator(removed, shellActor, nothingElse);
  expect(await countRows(db, "link_deliveries", `push_id = ${removed}`)).toBe(0);
  await mailing.push({ notify_emails_to: "bob@example.com", notify_on_view: true });
  await mailing.sink.next("bob@example.com");
  const user = await fixture.app.domain.accounts.findUserByEmail(owner);
  await fixture.app.domain.accounts.createUser({
    email: "root@example.com",
    password: "a long enough password",
    admin: true,
  });
  expect((await fixture.app.domain.deleteAccount(user?.id ?? 0, null)).outcome).toBe("done");
  for (const table of ["link_deliveries", "link_delivery_days", "view_notifications"]) {
    expect(await readRows(fixture.app.domain.db, `SELECT * FROM ${table}`), table).toEqual([]);
  }
});
