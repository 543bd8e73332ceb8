import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { EndReason } from "../../../src/pushes/push.ts";
import { bearer, type TestApp } from "../app.ts";
import { CookieClient } from "../cookie-client.ts";
import type { TestClock } from "../domain.ts";
import { appFor } from "../factors.ts";
import { type ExpectedInstallation, type ExpectedPush, type ExpectedUser, expected } from "./expected.ts";
import type { ImportTarget } from "./import-run.ts";

const reference = Date.parse(expected.reference_time);

interface Fixture {
  readonly app: TestApp;
  readonly clock: TestClock;
  /** API tokens by email address. */
  readonly tokens: ReadonlyMap<string, string>;
}

async function serve(target: ImportTarget, users: readonly ExpectedUser[]): Promise<Fixture> {
  const app = await target.serve();
  const tokens = new Map<string, string>();
  for (const { email, api_token: apiToken } of users) {
    const user = await app.app.domain.accounts.findUserByEmail(email);
    const made = apiToken ?? (user && (await app.app.domain.accounts.createToken(user.id, "test")).token);
    if (made !== undefined) tokens.set(email, made);
  }
  return { app, clock: target.clock, tokens };
}

async function getJson({ app }: Fixture, url: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await app.server.inject({ url, headers });
  return { status: answer.statusCode, body: answer.json() };
}

const tombstoneMs = 30 * 86_400_000;
/** Pushes whose payload cannot be decrypted are not imported, and the report has the reason. */
const isLost = (push: ExpectedPush) => push.unreadable.includes("payload");
const isForgotten = (push: ExpectedPush) =>
  push.owner === null &&
  push.at_reference.expired &&
  Math.min(Date.parse(push.expires_at), Date.parse(push.expired_on ?? push.expires_at)) + tombstoneMs <= reference;

/**
 * Checks every row of `expected.json` on a server with the imported data. Uses up views.
 * @param userTimesMs the precision of users' times at the source, in ms.
 */
export async function expectEverything(
  target: ImportTarget,
  expected: ExpectedInstallation,
  userTimesMs = 1,
): Promise<void> {
  const fixture = await serve(target, expected.users);
  await expectAccounts(fixture, expected, userTimesMs);
  await expectLists(fixture, expected);
  await expectTrails(fixture, expected);
  for (const push of expected.pushes) await expectPush(fixture, push);
}

async function expectAccounts(fixture: Fixture, expected: ExpectedInstallation, userTimesMs: number): Promise<void> {
  for (const user of expected.users) {
    if (user.api_token !== null) {
      const both = { "x-user-token": user.api_token, "x-user-email": user.email };
      expect((await getJson(fixture, "/p/active.json", both)).status, user.email).toBe(200);
    }
    const createdAt = Date.parse(user.created_at);
    const found = await fixture.app.app.domain.accounts.findUserByEmail(user.email);
    expect(found).toMatchObject({ admin: user.admin, createdAt: createdAt - (createdAt % userTimesMs) });
    await expectSignIn(fixture, user);
  }
}

async function expectSignIn({ app, clock }: Fixture, user: ExpectedUser): Promise<void> {
  const visitor = new CookieClient(app);
  await visitor.signIn(user.email, user.password);
  if (user.otp?.enabled !== true) {
    expect(await isSignedIn(visitor, user)).toBe(true);
    return;
  }
  expect(await isSignedIn(visitor, user)).toBe(false);
  const give = (code: string, by = visitor) => by.post("/users/second_factor", { code });
  const appCode = appFor(user.otp.secret, () => clock.now()).code();
  expect(appCode).toBe(user.otp.totp_at_reference);
  // Backup codes are not imported.
  const [backupCode = ""] = user.otp.backup_codes;
  expect((await give(backupCode)).statusCode).not.toBe(303);
  const withApp = new CookieClient(app);
  await withApp.signIn(user.email, user.password);
  await give(appCode, withApp);
  expect(await isSignedIn(withApp, user)).toBe(true);
}

/** Every page shows a signed-in user's own address, in any language. */
const isSignedIn = async (visitor: CookieClient, { email }: ExpectedUser) =>
  (await visitor.get("/help/api")).body.includes(email);

/** The end of each deleted push: the audit trail tells who deleted it. */
const deleters: Readonly<Record<string, EndReason>> = { "expired-by-owner": "owner", "expired-by-viewer": "viewer" };

async function expectLists(fixture: Fixture, expected: ExpectedInstallation): Promise<void> {
  const { accounts, pushes } = fixture.app.app.domain;
  for (const { email } of expected.users) {
    const owned = expected.pushes.filter((push) => push.owner === email && !isLost(push));
    const owner = await accounts.findUserByEmail(email);
    for await (const { push } of pushes.exportOwned(owner?.id ?? 0)) {
      const deleter = deleters[owned.find(({ url_token: token }) => token === push.urlToken)?.tag ?? ""];
      if (deleter !== undefined) expect(push.endReason, push.name ?? "").toBe(deleter);
    }
    for (const [list, expired] of [
      ["active", false],
      ["expired", true],
    ] as const) {
      const { body } = await getJson(fixture, `/api/v2/pushes/${list}`, bearer(fixture.tokens.get(email) ?? ""));
      const wanted = owned.filter((push) => push.at_reference.expired === expired);
      const listed: { url_token: string }[] = body;
      expect(listed.map((push) => push.url_token).sort(), email).toEqual(wanted.map((push) => push.url_token).sort());
      for (const push of wanted) {
        const shown = listed.find(({ url_token: token }) => token === push.url_token);
        expect(shown, push.tag).toMatchObject(ownersView(push));
      }
    }
  }
}

function ownersView(push: ExpectedPush): object {
  return {
    kind: push.kind,
    name: push.name ?? "",
    note: push.note ?? "",
    ...limitsView(push),
    created_at: milliseconds(push.created_at),
    expired: push.at_reference.expired,
    deleted: push.deleted,
  };
}

function limitsView(push: ExpectedPush): object {
  return {
    expire_after_days: push.expire_after_days,
    expire_after_views: push.expire_after_views,
    days_remaining: push.at_reference.expired ? expect.any(Number) : push.at_reference.days_remaining,
    views_remaining: push.at_reference.views_remaining,
    retrieval_step: push.retrieval_step ?? false,
    deletable_by_viewer: push.deletable_by_viewer ?? false,
    expires_at: milliseconds(push.expires_at),
  };
}

const milliseconds = (time: string) => new Date(Math.floor(Date.parse(time))).toISOString();

async function expectTrails(fixture: Fixture, expected: ExpectedInstallation): Promise<void> {
  for (const push of expected.pushes.filter((each) => each.owner !== null && !isLost(each))) {
    const counts: Record<string, number> = {};
    for (let page = 1; ; page += 1) {
      const path = `/api/v2/pushes/${push.url_token}/audit?page=${page}`;
      const { body } = await getJson(fixture, path, bearer(fixture.tokens.get(push.owner ?? "") ?? ""));
      for (const { kind } of body.logs) counts[kind] = (counts[kind] ?? 0) + 1;
      expectLinkDeliveries(push, body.logs, expected);
      if (page === 1) expect(body.logs[0], push.tag).toMatchObject(entryView(push.audit_oldest));
      if (body.logs.length < 50) break;
    }
    const wanted = Object.entries(push.audit_counts).filter(([, count]) => count > 0);
    expect(counts, push.tag).toEqual(Object.fromEntries(wanted));
  }
}

/** Lists the emails that the source sent, oldest first. */
function expectLinkDeliveries(
  push: ExpectedPush,
  logs: readonly { kind: string; notify_by_email?: object }[],
  expected: ExpectedInstallation,
): void {
  const wanted = expected.notify_by_emails.filter(({ push_id: pushId }) => pushId === push.id);
  const told = logs.filter(({ kind }) => kind === "creation_email_send").map((entry) => entry.notify_by_email);
  expect(told).toMatchObject(
    wanted.map(({ recipients, locale, status, successful_sends: sends, error_message: error }) => ({
      recipients,
      locale,
      status,
      successful_sends: sends,
      ...(error !== undefined && { error_message: error }),
    })),
  );
}

function entryView({ kind, ip, created_at: createdAt }: ExpectedPush["audit_oldest"]): object {
  return { kind, ip: ip ?? "", created_at: milliseconds(createdAt) };
}

async function expectPush(fixture: Fixture, push: ExpectedPush): Promise<void> {
  const path = `/api/v2/pushes/${push.url_token}`;
  if (isLost(push) || isForgotten(push)) {
    expect((await getJson(fixture, path)).status, push.tag).toBe(404);
    return;
  }
  if (push.at_reference.expired) {
    const { status, body } = await getJson(fixture, path);
    expect(status, push.tag).toBe(200);
    expect(body, push.tag).toMatchObject({ expired: true, payload: null, files: [], deleted: push.deleted });
    return;
  }
  const passphrase = push.passphrase ?? "";
  if (/\S/.test(passphrase)) {
    expect((await getJson(fixture, path)).status, push.tag).toBe(401);
    expect((await getJson(fixture, `${path}?passphrase=wrong`)).status, push.tag).toBe(401);
  }
  const { status, body } = await getJson(fixture, `${path}?passphrase=${encodeURIComponent(passphrase)}`);
  expect(status, push.tag).toBe(200);
  const wanted = push.payload_sha256 ?? sha256("");
  expect(body.payload === null ? sha256("") : sha256(body.payload), push.tag).toBe(wanted);
  const left = push.at_reference.views_remaining - 1;
  expect(body, push.tag).toMatchObject({ ...limitsView(push), views_remaining: left, expired: false });
  await expectFiles(fixture, push, body.files);
}

async function expectFiles(
  { app }: Fixture,
  push: ExpectedPush,
  files: readonly { filename: string; content_type: string; url: string }[],
): Promise<void> {
  expect(files.map((file) => [file.filename, file.content_type])).toEqual(
    push.files.map((file) => [file.shown_filename, file.content_type]),
  );
  for (const [at, file] of push.files.entries()) {
    const { pathname } = new URL(files[at]?.url ?? "");
    const { rawPayload } = await app.server.inject({ url: pathname });
    expect(createHash("sha256").update(rawPayload).digest("hex"), push.tag).toBe(file.sha256);
  }
}

const sha256 = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
