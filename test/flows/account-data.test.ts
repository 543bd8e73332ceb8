import { makeLinkKey } from "@sealpush/age/link-key";
import { sealUnderPassphrase } from "@sealpush/age/seal";
import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { changeUsers } from "../support/access-rows.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countEveryone, signedIn, stranger } from "../support/domain.ts";
import { readRows, tablesOf } from "../support/engine-database.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";
const secret = "quartz lantern willow 93";

async function idOf({ app }: TestApp, email: string): Promise<number> {
  return (await app.domain.accounts.findUserByEmail(email))?.id ?? 0;
}

async function makePush(fixture: TestApp, owner: string, fields: Readonly<Record<string, unknown>> = {}) {
  const actor = signedIn(await idOf(fixture, owner));
  return await fixture.app.domain.pushes.create(
    { payload: secret, name: "Wi-Fi", note: "for the guests", ...fields },
    actor,
  );
}

async function dataOf(person: SignedInClient) {
  const answer = await person.get("/users/edit/data");
  return { answer, data: JSON.parse(answer.body) };
}

test("the download contains the account's data, as a file that is not cached", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  await person.post("/users/edit/language", { language: "de" });
  await person.post("/users/edit/defaults", { "text[days]": "3" });
  await fixture.app.domain.accounts.createToken(await idOf(fixture, ada), "backup script");
  const push = await makePush(fixture, ada, { expireAfterViews: 1, retrievalStep: false });
  await fixture.app.domain.pushes.claimView(push.urlToken, countEveryone, stranger);
  await makePush(fixture, ada, { name: "second" });
  const { answer, data } = await dataOf(person);
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    "cache-control": "no-store",
    "content-disposition": 'attachment; filename="sealpush-data.json"',
    "content-type": "application/json; charset=utf-8",
  });
  expect(data).toMatchObject({
    account: { email: ada, administrator: false, language: "de", has_password: true },
    new_push_defaults: { kind: null, kinds: { text: { expire_after_days: 3 } } },
    sessions: [{ address: "192.0.2.7" }],
    api_tokens: [{ name: "backup script" }],
    pushes: [
      { name: "second", ended_at: null, audit_trail: [{ kind: "creation", by: "owner" }] },
      { name: "Wi-Fi", note: "for the guests", kind: "text", views: 1, end_reason: "views" },
    ],
  });
  expect(data.pushes[1].audit_trail.map((entry: { kind: string }) => entry.kind)).toEqual([
    "creation",
    "view",
    "limit",
  ]);
});

test("the download contains no payload, link, token or digest", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const { token } = await fixture.app.domain.accounts.createToken(await idOf(fixture, ada), "script");
  const push = await makePush(fixture, ada, { passphrase: "open sesame" });
  const session = person.cookie().split("=")[1] ?? "";
  const { body } = await person.get("/users/edit/data");
  const hidden = [secret, "open sesame", push.urlToken, token, session, password, "plain:", "argon2id:"];
  const { access } = fixture.app.domain.vault;
  const digests = [access.digest("api_token", token), access.digest("session", session)].flatMap((digest) =>
    (["hex", "base64", "base64url"] as const).map((form) => digest.toString(form)),
  );
  for (const text of [...hidden, ...digests]) expect(body).not.toContain(text);
});

test("the download contains the account's requests, without their links and keys", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const { requests } = fixture.app.domain;
  const key = await makeLinkKey();
  const identitySealed = await sealUnderPassphrase(key.identity, "a passphrase");
  const asked = {
    title: "Root password",
    note: "for the server",
    wantsText: true,
    wantsFiles: true,
    answersMax: 2,
    expireAfterDays: 7,
    recipient: key.recipient,
    encryptionCheck: key.check,
    identitySealed,
    ownerProof: "",
  };
  const actor = signedIn(await idOf(fixture, ada));
  const { urlToken } = await requests.create(asked, actor);
  await requests.create({ ...asked, title: "second", wantsFiles: false, identitySealed: "" }, actor);
  await requests.answer(urlToken, { payload: secret, isSealed: false, files: undefined }, stranger);
  const { answer, data } = await dataOf(person);
  expect(data.requests).toMatchObject([
    { title: "second", wants_files: false, state: "open", answers: 0, key_under_passphrase: false },
    { title: "Root password", note: "for the server", answers: 1, answers_max: 2, key_under_passphrase: true },
  ]);
  expect(data.pushes).toMatchObject([{ name: "Root password", end_to_end: true }]);
  for (const text of [urlToken, key.recipient, key.check, "AGE ENCRYPTED"]) expect(answer.body).not.toContain(text);
});

test("the download contains nothing of other users", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  await signInClient(fixture, eve, { join: true });
  await makePush(fixture, eve, { name: "eve's own" });
  const { answer, data } = await dataOf(person);
  expect(data.pushes).toEqual([]);
  expect(answer.body).not.toContain("eve");
  const anonymous = await fixture.server.inject({ url: "/users/edit/data" });
  expect(anonymous.statusCode).toBe(303);
});

test("the download contains more pushes than a page of the list, and can be repeated", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  for (let at = 0; at < 120; at += 1) await makePush(fixture, ada, { name: `push ${at}` });
  const { data } = await dataOf(person);
  expect(data.pushes.map((push: { name: string }) => push.name)).toEqual(
    Array.from({ length: 120 }, (_, at) => `push ${119 - at}`),
  );
  expect((await dataOf(person)).data.pushes).toHaveLength(120);
});

test("a deleted account leaves no row, name or audit trail; its links and cookies stop working at once", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const elsewhere = await signInClient(fixture, ada);
  await signInClient(fixture, eve, { join: true });
  const { token } = await fixture.app.domain.accounts.createToken(await idOf(fixture, ada), "script");
  const pushes = [];
  for (let at = 0; at < 105; at += 1) pushes.push(await makePush(fixture, ada));
  const others = await makePush(fixture, eve);
  const userId = await idOf(fixture, ada);

  const wrong = await person.post("/users/edit/delete", { password: "not the password" });
  expect([wrong.status, wrong.body.includes("The password is not correct.")]).toEqual([422, true]);
  expect(await person.post("/users/edit/delete", { password })).toMatchObject({
    status: 303,
    location: "/users/deleted",
  });
  expect(person.cookie()).toBe("");
  expect((await person.get("/users/deleted")).body).toContain("Your account is deleted");
  expect((await elsewhere.get("/users/edit")).status).toBe(303);

  for (const push of [pushes[0], pushes[104]]) {
    const answer = await fixture.server.inject({ url: `/api/v2/pushes/${push?.urlToken}` });
    expect(answer.json()).toMatchObject({ expired: true, deleted: true, payload: null });
  }
  const byToken = await fixture.server.inject({
    url: "/api/v2/pushes/active",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(byToken.statusCode).toBe(401);
  expect((await fixture.server.inject({ url: `/api/v2/pushes/${others.urlToken}` })).json()).toMatchObject({
    payload: secret,
  });

  const { db } = fixture.app.domain;
  for (const table of await tablesOf(db)) {
    const rows = await readRows(db, `SELECT * FROM ${table}`);
    const left = rows.filter((row) => row.user_id === userId || row.owner_id === userId);
    expect([table, left.length]).toEqual([table, table === "deleted_users" ? 1 : 0]);
  }
  expect(await readRows(db, "SELECT id FROM users WHERE email = ?", ada)).toEqual([]);
  const labelled = `SELECT id FROM pushes WHERE owner_id IS NULL
    AND (name_sealed IS NOT NULL OR note_sealed IS NOT NULL OR token_sealed IS NOT NULL)`;
  expect(await readRows(db, labelled)).toEqual([]);
  expect(await readRows(db, "SELECT push_id FROM payloads")).toHaveLength(1);
});

test("the last administrator cannot delete their account, and nothing is changed", async () => {
  await using fixture = await startTestApp();
  const admin = await signInClient(fixture, ada, { join: true, admin: true });
  const push = await makePush(fixture, ada);
  const answer = await admin.post("/users/edit/delete", { password });
  expect(answer.status).toBe(422);
  expect(answer.body).toContain("You are the only administrator of this server.");
  expect((await admin.get("/users/edit")).status).toBe(200);
  const standing = await fixture.server.inject({ url: `/api/v2/pushes/${push.urlToken}` });
  expect(standing.json()).toMatchObject({ expired: false, payload: secret });
  await signInClient(fixture, eve, { join: true, admin: true });
  expect((await admin.post("/users/edit/delete", { password })).status).toBe(303);
});

test("an aborted download does not block the next one", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const note = "n".repeat(60_000);
  for (let at = 0; at < 60; at += 1) await makePush(fixture, ada, { note });
  const origin = await fixture.listen();
  const headers = { cookie: person.cookie() };
  for (let at = 0; at < 3; at += 1) {
    const abort = new AbortController();
    const broken = await fetch(`${origin}/users/edit/data`, { headers, signal: abort.signal });
    expect(broken.status).toBe(200);
    const busy = await person.get("/users/edit/data");
    expect([busy.status, busy.headers["retry-after"]]).toEqual([429, "5"]);
    abort.abort();
    await expect.poll(async () => (await person.get("/users/edit/data")).status).toBe(200);
  }
});

test("a user without a password needs a fresh session to change the email address or delete the account", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  // Like an account created by single sign-on.
  await changeUsers(fixture.app.domain, { passwordSealed: null, hasPassword: false });
  const move = () => person.post("/users/edit/email", { email: "countess@example.com", password: "" });
  fixture.clock.advance(10 * minuteMs + 1);
  const late = await move();
  expect(late.status).toBe(422);
  expect(late.body).toContain("requires that you signed in within the last ten minutes");
  expect((await person.post("/users/edit/delete")).status).toBe(422);
  expect((await person.post("/users/edit/password", { password: "marble-otter-lantern" })).status).toBe(422);
  fixture.clock.advance(-minuteMs);
  expect((await move()).status).toBe(303);
  expect((await person.post("/users/edit/delete")).status).toBe(303);
});
