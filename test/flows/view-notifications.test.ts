import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { sql } from "../../src/database/statement.ts";
import { changeUsers } from "../support/access-rows.ts";
import { startTestApp } from "../support/app.ts";
import { countEveryone, makeDataDir, openTestDomain, signedIn, stranger } from "../support/domain.ts";
import { changeRows, countRows } from "../support/engine-database.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { type Mailing, owner, startMailing } from "../support/mailing.ts";

/** The server processes view notifications and its outbox every second. */
const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";

function open(mailing: Mailing, urlToken: string, headers: Readonly<Record<string, string>> = {}) {
  const url = `/api/v2/pushes/${urlToken}`;
  return mailing.fixture.server.inject({
    url,
    headers: { "user-agent": firefox, ...headers },
    remoteAddress: "192.0.2.44",
  });
}

async function untilAllNotified({ fixture }: Mailing): Promise<void> {
  const waiting = async () =>
    (await countRows(fixture.app.domain.db, "view_notifications")) + (await fixture.app.domain.mail.sizes()).waiting;
  await expect.poll(waiting).toBe(0);
}

test("an owner gets one email per view if enabled, with its origin and without a link to the secret", async () => {
  await using mailing = await startMailing();
  const urlToken = await mailing.push({
    payload: "the payload",
    notify_on_view: true,
    name: "the VPN",
    note: "the note",
    expire_after_views: 2,
  });
  await open(mailing, urlToken);
  await open(mailing, urlToken);
  await untilAllNotified(mailing);
  const mails = mailing.sink.messages();
  expect(mails.map(({ recipients }) => recipients)).toEqual([[owner], [owner]]);
  for (const mail of mails) {
    expect(mail.subject).toBe("Sealpush: Your push was opened (push.example.com)");
    for (const part of ["the VPN", "192.0.2.44", "Firefox", "January 15, 2026"]) expect(mail.text).toContain(part);
    expect(mail.raw).not.toMatch(new RegExp(`${urlToken}|the payload|the note`));
  }
  expect(mails[1]?.text).toContain("the secret is destroyed");
});

test("only counted views by others are notified, and only of pushes with notifications enabled", async () => {
  await using mailing = await startMailing();
  const silent = await mailing.push();
  const urlToken = await mailing.push({ notify_on_view: "on", passphrase: "phrase" });
  await open(mailing, silent);
  await open(mailing, urlToken);
  await open(mailing, urlToken, { "x-push-passphrase": "wrong" });
  await mailing.fixture.server.inject({ method: "HEAD", url: `/api/v2/pushes/${urlToken}` });
  await open(mailing, urlToken, { "x-push-passphrase": "phrase", "sec-purpose": "prefetch" });
  const own = { authorization: `Bearer ${mailing.token}`, "x-push-passphrase": "phrase" };
  expect((await open(mailing, urlToken, own)).json().payload).toBe("the secret");
  await mailing.fixture.server.inject({ url: `/p/${urlToken}.json`, headers: own });
  expect(await countRows(mailing.fixture.app.domain.db, "view_notifications")).toBe(0);
  await open(mailing, urlToken, { "x-push-passphrase": "phrase" });
  await mailing.fixture.server.inject({
    method: "DELETE",
    url: `/api/v2/pushes/${urlToken}`,
    headers: { authorization: `Bearer ${mailing.token}` },
  });
  await open(mailing, urlToken, { "x-push-passphrase": "phrase" });
  await untilAllNotified(mailing);
  expect(mailing.sink.messages().length).toBe(1);
});

test("a label that cannot be decrypted delays no view notification, not even of its own push", async () => {
  await using mailing = await startMailing();
  const damage = sql<[]>("UPDATE pushes SET name_sealed = token_sealed WHERE name_sealed IS NOT NULL");
  const damaged = await mailing.push({ notify_on_view: true, name: "the VPN" });
  await mailing.fixture.app.domain.db.write((tx) => tx.run(damage));
  const whole = await mailing.push({ notify_on_view: true, name: "the printer" });
  await open(mailing, damaged);
  await open(mailing, whole);
  await untilAllNotified(mailing);
  const texts = mailing.sink.messages().map(({ text }) => text);
  expect(texts.map((text) => text?.includes("the printer")).sort()).toEqual([false, true]);
});

test("concurrent views are notified once each", async () => {
  await using mailing = await startMailing();
  const urlToken = await mailing.push({ notify_on_view: true, expire_after_views: 7 });
  const answers = await Promise.all(Array.from({ length: 12 }, () => open(mailing, urlToken)));
  const opened = answers.filter((answer) => answer.json().payload === "the secret").length;
  await untilAllNotified(mailing);
  expect([opened, mailing.sink.messages().length]).toEqual([7, 7]);
});

test("a view whose email was not queued before a crash is notified after the restart", async () => {
  const sink = await startMailSink();
  const dataDir = makeDataDir();
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  {
    // Without the timetable, no job processes view notifications.
    await using fixture = await openTestDomain({ environment: sink.environment, dataDir });
    const { accounts, pushes, db } = fixture.domain;
    const { id } = await accounts.createUser({ email: owner, password: "a long enough password", admin: false });
    const { urlToken } = await pushes.create({ payload: "x", notifyOnView: true }, signedIn(id));
    await pushes.claimView(urlToken, countEveryone, stranger);
    expect(await countRows(db, "view_notifications")).toBe(1);
  }
  await using again = await startTestApp({ environment: sink.environment, dataDir });
  expect((await sink.next(owner)).subject).toContain("Your push was opened");
  expect(await countRows(again.app.domain.db, "view_notifications")).toBe(0);
});

test("view notifications wait while too many emails do, and are queued afterwards", async () => {
  const sink = await startMailSink();
  // Without the timetable, no email leaves the queue.
  await using fixture = await openTestDomain({ environment: sink.environment });
  const { accounts, pushes, db, notifyOfViews, mail } = fixture.domain;
  const { id } = await accounts.createUser({ email: owner, password: "a long enough password", admin: false });
  const { urlToken } = await pushes.create({ payload: "x", notifyOnView: true }, signedIn(id));
  const view = async () => {
    await pushes.claimView(urlToken, countEveryone, stranger);
    await notifyOfViews(new AbortController().signal);
    return [await countRows(db, "view_notifications"), (await mail.sizes()).waiting];
  };
  expect(await view()).toEqual([0, 1]);
  await changeRows(
    db,
    `INSERT INTO outbox (id, email_sealed, created_at, due_at, attempts)
     WITH RECURSIVE others(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM others WHERE number < 9999)
     SELECT 1000 + number, email_sealed, created_at, due_at, attempts FROM outbox, others`,
  );
  expect(await view()).toEqual([1, 10_000]);
  await changeRows(db, "DELETE FROM outbox WHERE id > 1000");
  expect(await view()).toEqual([0, 3]);
});

test("no view of a push without notifications waits for an email, the last one neither", async () => {
  const sink = await startMailSink();
  await using fixture = await openTestDomain({ environment: sink.environment });
  const { accounts, pushes, db } = fixture.domain;
  const { id } = await accounts.createUser({ email: owner, password: "a long enough password", admin: false });
  const { urlToken } = await pushes.create({ payload: "x", expireAfterViews: 2 }, signedIn(id));
  for (const outcome of ["revealed", "revealed", "gone"]) {
    expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ outcome });
  }
  expect(await countRows(db, "view_notifications")).toBe(0);
});

test("anonymous users, unconfirmed addresses and servers without mail get no notifications", async () => {
  await using mailing = await startMailing();
  const refused = async (answer: ReturnType<Mailing["create"]>) => [
    (await answer).status,
    Object.keys((await answer).body),
  ];
  const asked = { notify_on_view: true };
  expect(await refused(mailing.create(asked, null))).toEqual([422, ["notify_on_view"]]);
  expect((await mailing.create({ notify_on_view: false }, null)).status).toBe(201);
  await changeUsers(mailing.fixture.app.domain, { confirmedAt: null });
  expect(await refused(mailing.create(asked))).toEqual([422, ["notify_on_view"]]);

  await using without = await startTestApp();
  const token = await without.makeToken(owner);
  const answer = await without.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: { authorization: `Bearer ${token}` },
    payload: { push: { payload: "x", ...asked } },
  });
  expect([answer.statusCode, Object.keys(answer.json())]).toEqual([422, ["notify_on_view"]]);
});
