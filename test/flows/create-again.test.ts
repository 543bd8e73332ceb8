import { afterAll, beforeAll, expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { makeFolder } from "../support/folders.ts";
import { startMailing } from "../support/mailing.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

let keys = 0;
const newKey = () => `random-key-of-client-${keys++}`;

const create = (url: string, key: string, payload: object, bearer: string | null = token) =>
  app.server.inject({
    method: "POST",
    url,
    payload,
    headers: { "idempotency-key": key, ...(bearer !== null && { authorization: `Bearer ${bearer}` }) },
  });

const endpoints = [
  ["v2", "/api/v2/pushes", "push"],
  ["v1", "/p.json", "password"],
] as const;

test.each(endpoints)(
  "in %s the same request with the same Idempotency-Key gets the same push",
  async (_, url, name) => {
    const key = newKey();
    const body = { [name]: { payload: "secret", passphrase: "between us", name: "For Bob" } };
    const first = await create(url, key, body);
    expect(first.statusCode).toBe(201);
    const again = await create(url, key, body);
    expect(again.statusCode).toBe(201);
    expect(again.json()).toEqual(first.json());
    const other = await create(url, key, { [name]: { ...body[name], payload: "another" } });
    expect(other.statusCode).toBe(422);
    expect(other.json()).toEqual({
      idempotency_key: ["was used for a push with another content. Send a new random key for each push."],
    });
    expect((await create(url, newKey(), body)).json().url_token).not.toBe(first.json().url_token);
    app.clock.advance(hourMs);
    expect((await create(url, key, body)).json().url_token).toBe(first.json().url_token);
  },
);

test.each(endpoints)("in %s a key with another form is refused, and ignored without a token", async (_, url, name) => {
  const body = { [name]: { payload: "secret" } };
  for (const bad of ["a".repeat(15), "a".repeat(256), `${"a".repeat(16)} b`, `${"a".repeat(16)}é`]) {
    const refused = await create(url, bad, body);
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain("Idempotency-Key must have 16 to 255 visible ASCII characters.");
    expect((await create(url, bad, body, null)).statusCode).toBe(201);
  }
  const key = newKey();
  const tokens = [await create(url, key, body, null), await create(url, key, body, null)];
  expect(new Set(tokens.map((answer) => answer.json().url_token)).size).toBe(2);
});

test("a key of a push that has ended in between is refused, and creates nothing", async () => {
  const key = newKey();
  const body = { push: { payload: "secret", expire_after_views: 1 } };
  const { url_token: urlToken } = (await create("/api/v2/pushes", key, body)).json();
  expect((await app.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json().payload).toBe("secret");
  const again = await create("/api/v2/pushes", key, body);
  expect([again.statusCode, again.json()]).toEqual([
    422,
    {
      idempotency_key: ["was used for a push that cannot be opened any more. Send a new random key for each push."],
    },
  ]);
});

test("a repeat that names more or fewer settings than the first request is refused, also with the server's defaults", async () => {
  const [key, other] = [newKey(), newKey()];
  const body = { payload: "secret" };
  const { url_token: urlToken, ...defaults } = (await create("/api/v2/pushes", key, { push: body })).json();
  const { expire_after_days, expire_after_views, deletable_by_viewer, retrieval_step } = defaults;
  const named = { expire_after_days, expire_after_views, deletable_by_viewer, retrieval_step };
  expect((await create("/api/v2/pushes", other, { push: { ...body, ...named } })).statusCode).toBe(201);
  for (const [name, value] of Object.entries(named)) {
    expect((await create("/api/v2/pushes", key, { push: { ...body, [name]: value } })).statusCode, name).toBe(422);
    const without = { ...body, ...named, [name]: undefined };
    expect((await create("/api/v2/pushes", other, { push: without })).statusCode, name).toBe(422);
  }
  expect((await create("/api/v2/pushes", key, { push: body })).json().url_token).toBe(urlToken);
});

test("a repeat gets its push also after a restart with other defaults", async () => {
  const dataDir = makeFolder();
  const repeat = { url: "/api/v2/pushes", key: newKey(), body: { push: { payload: "secret" } } };
  const atStart = async (environment: Readonly<Record<string, string>>, bearer?: string) => {
    await using started = await startTestApp({ dataDir, environment });
    const token = bearer ?? (await started.makeToken("ada@example.com"));
    const headers = { "idempotency-key": repeat.key, authorization: `Bearer ${token}` };
    const answer = await started.server.inject({ method: "POST", url: repeat.url, payload: repeat.body, headers });
    return { token, status: answer.statusCode, push: answer.json() };
  };
  const first = await atStart({});
  const again = await atStart(
    {
      PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT: "2",
      PWP__PW__EXPIRE_AFTER_VIEWS_DEFAULT: "2",
      PWP__PW__DELETABLE_PUSHES_DEFAULT: "false",
    },
    first.token,
  );
  expect(again).toEqual(first);
});

test("another user's key is another key", async () => {
  const key = newKey();
  const body = { push: { payload: "secret" } };
  const bobs = await app.makeToken("bob@example.com");
  const [mine, his] = [await create("/api/v2/pushes", key, body), await create("/api/v2/pushes", key, body, bobs)];
  expect(his.statusCode).toBe(201);
  expect(his.json().url_token).not.toBe(mine.json().url_token);
});

test("emails with the link are sent once", async () => {
  await using mailing = await startMailing();
  const send = (push: object) =>
    mailing.fixture.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: { authorization: `Bearer ${mailing.token}`, "idempotency-key": "random-key-of-the-client" },
      payload: { push: { payload: "secret", ...push } },
    });
  const to = { notify_emails_to: "bob@example.com", notify_emails_to_locale: "de" };
  const first = await send(to);
  expect(first.statusCode).toBe(201);
  expect((await send(to)).json().url_token).toBe(first.json().url_token);
  expect((await send({ ...to, notify_emails_to: "eve@example.com" })).statusCode).toBe(422);
  await mailing.sink.next("bob@example.com");
  expect(await mailing.mailed(first.json().url_token)).toHaveLength(1);
});

test("the form of a signed-in user creates one push, however often it is sent; each form has its own key", async () => {
  const client = await signInClient(app, "carl@example.com", { join: true });
  const keyOf = (body: string) => /name="idempotency_key" value="([^"]+)"/.exec(body)?.[1] ?? "";
  const [mine, other] = [keyOf((await client.get("/")).body), keyOf((await client.get("/")).body)];
  expect(mine).toMatch(/^[\w-]{43}$/);
  expect(other).not.toBe(mine);
  const send = (key: string, payload = "secret") =>
    client.post("/p", { "push[payload]": payload, idempotency_key: key });
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(mine)));
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
  expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
  expect((await send(other)).location).not.toBe(answers[0]?.location);
  const changed = await send(mine, "another secret");
  expect(changed.status).toBe(422);
  expect(changed.body).toContain(en.problems.formUsed);
  expect(changed.body).toContain("another secret");
  expect((await send(keyOf(changed.body), "another secret")).status).toBe(303);
});

test("after five other passphrases in a form that was used, the page asks to wait and keeps what was typed", async () => {
  const client = await signInClient(app, "dora@example.com", { join: true });
  const fields = { "push[payload]": "secret", idempotency_key: newKey() };
  const send = (passphrase: string) => client.post("/p", { ...fields, "push[passphrase]": passphrase });
  expect((await send("between us")).status).toBe(303);
  for (const other of ["a", "b", "c", "d", "e"]) expect((await send(`guess ${other}`)).status).toBe(422);
  const refused = await send("guess f");
  expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
  expect(refused.body).toContain(en.problems.tooManyAttempts({ count: 60 }));
  expect(refused.body).toContain("secret</textarea>");
});

test("the form of a person who is not signed in has no key, and one that is sent anyway is ignored", async () => {
  expect((await app.server.inject({ url: "/" })).body).not.toContain("idempotency_key");
  const payload = new URLSearchParams({ "push[payload]": "secret", idempotency_key: newKey() }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  const send = () => app.server.inject({ method: "POST", url: "/p", headers, payload });
  const answers = [await send(), await send()];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  expect(answers[0]?.headers.location).not.toBe(answers[1]?.headers.location);
});
