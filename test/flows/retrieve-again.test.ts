import { afterAll, beforeAll, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

const key = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const otherKey = "5b1e0a6c-93d6-4f0b-9a0e-3f2b1d7c8e90";

async function create(push: object = {}): Promise<string> {
  const payload = { push: { payload: "secret", expire_after_views: 1, ...push } };
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const get = (url: string, idempotencyKey?: string) =>
  app.server.inject({ url, headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey } });

const endpoints = [
  ["v2", (urlToken: string) => `/api/v2/pushes/${urlToken}`],
  ["v1", (urlToken: string) => `/p/${urlToken}.json`],
] as const;

test.each(endpoints)(
  "in %s the same Idempotency-Key gets the same answer again, and another one does not",
  async (_, pathOf) => {
    const path = pathOf(await create());
    const first = await get(path, key);
    expect(first.json()).toMatchObject({ payload: "secret", views_remaining: 0 });
    const again = await get(path, key);
    expect(again.statusCode).toBe(200);
    expect(again.json()).toEqual(first.json());
    for (const other of [otherKey, undefined]) expect((await get(path, other)).json()).toMatchObject({ payload: null });
  },
);

test.each(endpoints)(
  "in %s a key whose answer cannot be repeated any more is refused, and no view is counted",
  async (_, pathOf) => {
    const path = pathOf(await create({ expire_after_views: 2 }));
    await get(path, key);
    app.clock.advance(minuteMs);
    const refused = await get(path, key);
    expect([refused.statusCode, refused.json()]).toEqual([
      422,
      { idempotency_key: [expect.stringContaining("was used for an earlier retrieval")] },
    ]);
    expect((await get(path, otherKey)).json()).toMatchObject({ payload: "secret", views_remaining: 0 });
  },
);

test.each([
  ["too short", "a".repeat(15)],
  ["too long", "a".repeat(256)],
  ["with a blank", `${"a".repeat(16)} b`],
  ["not ASCII", `${"a".repeat(16)}é`],
])("an Idempotency-Key that is %s is refused, and nothing is counted", async (_, bad) => {
  const path = `/api/v2/pushes/${await create()}`;
  const refused = await get(path, bad);
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain("Idempotency-Key must have 16 to 255 visible ASCII characters.");
  expect((await get(path)).json()).toMatchObject({ payload: "secret" });
  const { paths } = (await get("/api/v2/openapi.json")).json();
  expect(Object.keys(paths["/api/v2/pushes/{url_token}"].get.responses)).toContain("400");
});

test("reloading the opened page shows the secret again and says so; the form of another visit does not", async () => {
  const path = `/p/${await create({ retrieval_step: true })}`;
  const keyOf = async () => /name="idempotency_key" value="([^"]+)"/.exec((await get(path)).body)?.[1] ?? "";
  const [mine, other] = [await keyOf(), await keyOf()];
  expect(mine).toMatch(/^[\w-]{43}$/);
  expect(other).not.toBe(mine);
  const open = (idempotencyKey: string) =>
    app.server.inject({
      method: "POST",
      url: path,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({ idempotency_key: idempotencyKey }).toString(),
    });
  const opened = await open(mine);
  expect(opened.body).toContain("secret");
  expect(opened.body).toContain(en.secret.lastView);
  const reloaded = await open(mine);
  expect(reloaded.statusCode).toBe(200);
  expect(reloaded.body).toContain(">secret<");
  expect(reloaded.body).toContain(en.secret.lastViewAgain);
  expect((await open(other)).statusCode).toBe(404);
  expect((await open("x")).statusCode).toBe(404);
});

test("reloading the opened page after that time asks before another view is used, with a new key", async () => {
  const path = `/p/${await create({ retrieval_step: true, expire_after_views: 2 })}`;
  const open = (idempotencyKey: string) =>
    app.server.inject({
      method: "POST",
      url: path,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({ idempotency_key: idempotencyKey }).toString(),
    });
  expect((await open(key)).body).toContain(">secret<");
  app.clock.advance(minuteMs);
  const reloaded = await open(key);
  expect(reloaded.statusCode).toBe(422);
  expect(reloaded.body).toContain(en.step.used);
  expect(reloaded.body).not.toContain(">secret<");
  const next = /name="idempotency_key" value="([^"]+)"/.exec(reloaded.body)?.[1] ?? "";
  expect((await open(next)).body).toContain(">secret<");
});

test("browsers are asked not to translate an opened secret, which could send it to a translation service", async () => {
  const opened = await get(`/p/${await create({ retrieval_step: false })}`);
  expect(/<[^>]* translate="no"[^>]*>secret</.exec(opened.body)).not.toBe(null);
});
