import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("ada@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

const browser = { "user-agent": "Mozilla/5.0 Firefox/133.0", accept: "text/html,*/*;q=0.8" };

async function create(push: object = {}): Promise<string> {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: bearer(token),
    payload: { push: { payload: "hunter2", retrieval_step: false, expire_after_views: 1, ...push } },
  });
  return answer.json().url_token;
}

async function auditKinds(urlToken: string): Promise<readonly string[]> {
  const answer = await app.server.inject({ url: `/api/v2/pushes/${urlToken}/audit`, headers: bearer(token) });
  return answer.json().logs.map(({ kind }: { kind: string }) => kind);
}

// A style sheet that reads a link and loads it, or its guesses, would see in its own audit trail which one was right.
test.each(["image", "style", "font", "script", "iframe", "object", "empty", "", "manifest"])(
  "a link that a page loads as %j is no retrieval and records nothing, also after its end",
  async (destination) => {
    const urlToken = await create();
    const load = async () => {
      for (const url of [`/p/${urlToken}`, `/p/${urlToken}/r`]) {
        const answer = await app.server.inject({ url, headers: { ...browser, "sec-fetch-dest": destination } });
        expect([url, answer.statusCode]).toEqual([url, 403]);
        expect(answer.body).not.toContain("hunter2");
      }
    };
    await load();
    expect(await auditKinds(urlToken)).toEqual(["creation"]);
    const opened = await app.server.inject({
      url: `/p/${urlToken}`,
      headers: { ...browser, "sec-fetch-dest": "document" },
    });
    expect(opened.body).toContain("hunter2");
    const kinds = await auditKinds(urlToken);
    await load();
    expect(await auditKinds(urlToken)).toEqual(kinds);
  },
);

test.each(["image", "style", "font", "script", "iframe", "object", ""])(
  "the JSON of a link that a page loads as %j is no retrieval and records nothing",
  async (destination) => {
    const urlToken = await create();
    for (const url of [`/p/${urlToken}.json`, `/p/${urlToken}/r.json`, `/api/v2/pushes/${urlToken}`]) {
      const { statusCode, body } = await app.server.inject({
        url,
        headers: { ...browser, "sec-fetch-dest": destination },
      });
      expect([url, statusCode]).not.toEqual([url, 200]);
      expect(body).not.toContain("hunter2");
    }
    expect(await auditKinds(urlToken)).toEqual(["creation"]);
  },
);

test("the answer is the same for a link that was never one", async () => {
  const asked = async (urlToken: string) => {
    const headers = { ...browser, "sec-fetch-dest": "image" };
    const { statusCode, headers: answered, body } = await app.server.inject({ url: `/p/${urlToken}`, headers });
    return [statusCode, answered["content-type"], body.replaceAll(String(answered["x-request-id"]), "")];
  };
  expect(await asked(await create())).toEqual(await asked("nothingwaseverbehindthislink"));
});

test("what a script retrieves as JSON, and the form that it sends, count as ever", async () => {
  const fetched = { "sec-fetch-dest": "empty", "sec-fetch-site": "same-origin", "user-agent": browser["user-agent"] };
  const asJson = await app.server.inject({
    url: `/p/${await create()}`,
    headers: { ...fetched, accept: "application/json" },
  });
  expect(asJson.json().payload).toBe("hunter2");
  const byApi = await app.server.inject({ url: `/api/v2/pushes/${await create()}`, headers: fetched });
  expect(byApi.json().payload).toBe("hunter2");
  const step = await create({ retrieval_step: true });
  const sent = await app.server.inject({ method: "POST", url: `/p/${step}`, headers: fetched });
  expect(sent.body).toContain("hunter2");
});

test("addresses from which pages load images never redirect", async () => {
  const names = ["x.png", "", "..%2Fp%2Ftoken", "%2e%2e%2fp", "a/b", "p/token", "x.png?locale=de", "/x.png", "%00"];
  for (const url of names.flatMap((name) => [`/assets/${name}`, `/branding/${name}`])) {
    const { statusCode, headers } = await app.server.inject({ url, headers: browser });
    expect([url, statusCode < 300 || statusCode >= 400, headers.location]).toEqual([url, true, undefined]);
  }
});
