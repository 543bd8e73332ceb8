import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

async function push(fields: object): Promise<string> {
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: fields } });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

test.each([
  ["https://example.com", "https://example.com"],
  ["HTTPS://Example.com/a?b=%20#c", "HTTPS://Example.com/a?b=%20#c"],
  ["https://example.com/two words", "https://example.com/two%20words"],
  ["https://example.com/naïve", "https://example.com/na%C3%AFve"],
])("%s without a retrieval step redirects to %s", async (payload, location) => {
  const token = await push({ kind: "url", payload, retrieval_step: false });
  const answer = await app.server.inject(`/p/${token}`);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, location]);
});

// A language in the path wins over `?locale=`, as in Password Pusher.
test.each([
  ["/p/T/passphrase", "ja"],
  ["/f/T/passphrase", "ja"],
  ["/r/T/passphrase", "ja"],
  ["/en/p/T/passphrase", "en"],
  ["/pt-BR/f/T/passphrase", "pt-BR"],
])(
  "%s?locale=ja, the passphrase page of earlier versions, redirects to the push in the language %s and counts no view",
  async (address, language) => {
    const token = await push({ payload: "x", passphrase: "open sesame", expire_after_views: 1, retrieval_step: false });
    let answer = await app.server.inject(`${address.replace("T", token)}?locale=ja`);
    for (let hops = 0; answer.statusCode === 301 && hops < 2; hops += 1) {
      answer = await app.server.inject(String(answer.headers.location));
    }
    expect(answer.statusCode).toBe(200);
    for (const shown of ['name="passphrase"', `<html lang="${language}"`]) expect(answer.body).toContain(shown);
    const opened = await app.server.inject(`/p/${token}.json?passphrase=open%20sesame`);
    expect(opened.json()).toMatchObject({ payload: "x", views_remaining: 0 });
  },
);

test.each(["/", "/users/sign_in", "/users/password/new", "/users/password/edit"])(
  "HEAD %s gets the status and the headers of GET",
  async (url) => {
    const [got, head] = [await app.server.inject(url), await app.server.inject({ method: "HEAD", url })];
    const shownBy = ({ statusCode, headers }: typeof got) => [statusCode, headers["cache-control"], headers.vary];
    expect([head.body, shownBy(head)]).toEqual(["", shownBy(got)]);
  },
);

test("ended, unknown, malformed and overlong tokens get the same answer", async () => {
  const ended = await push({ payload: "x" });
  await app.server.inject({ method: "DELETE", url: `/api/v2/pushes/${ended}` });
  const answers = await Promise.all(
    [ended, "unknown", "a%20b", "%F0%9F%98%80", "x".repeat(65), "x".repeat(10_000)].map((token) =>
      app.server.inject(`/p/${token}`),
    ),
  );
  expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 404));
  expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
});

test.each([
  ["/p/T.", "/p/T"],
  ["/p/T),", "/p/T"],
  ["/p/T%3E", "/p/T"],
  ["/p/T%E2%80%9D", "/p/T"],
  ["/p/T/r.", "/p/T/r"],
  ["/p/T?locale=de.", "/p/T?locale=de"],
  ["/r/T.", "/r/T"],
  ["/requests/T]", "/requests/T"],
  ["/requests/T/answers%23AGE-SECRET-KEY-1", "/requests/T/answers#AGE-SECRET-KEY-1"],
  ["/p/T%23AGE-SECRET-KEY-1.T", "/p/T#AGE-SECRET-KEY-1.T"],
  ["/p/T/r?locale=de%23AGE-SECRET-KEY-1", "/p/T/r?locale=de#AGE-SECRET-KEY-1"],
  [`/p/T%23${"A".repeat(200)}`, `/p/T#${"A".repeat(200)}`],
])("%s, a link as a chat has changed it, leads to %s whatever is behind it", async (address, link) => {
  for (const token of [await push({ payload: "x", retrieval_step: false, expire_after_views: 1 }), "unknown"]) {
    const answer = await app.server.inject(address.replaceAll("T", token));
    expect(answer.headers).toMatchObject({ location: link.replaceAll("T", token), "cache-control": "no-store" });
  }
  expect(app.logLines.join("")).not.toMatch(/AGE-SECRET-KEY|AAAAA/);
});

test("thirty clients behind one address can set passphrases at the same time", async () => {
  const made = await Promise.all(
    Array.from({ length: 30 }, () =>
      app.server.inject({
        method: "POST",
        url: "/api/v2/pushes",
        payload: { push: { payload: "x", passphrase: "open sesame" } },
      }),
    ),
  );
  expect(made.map((answer) => answer.statusCode)).toEqual(made.map(() => 201));
});

test("a form that the server cannot process now is shown again with everything that was typed", async () => {
  await using full = await startTestApp({ environment: { PWP__ANONYMOUS_BYTES_MAX: "5" } });
  const answer = await full.server.inject({
    method: "POST",
    url: "/p",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: "push[kind]=text&push[payload]=typed+with+care&push[expire_after_days]=3",
  });
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "60"]);
  expect(answer.body).toContain("typed with care");
  expect(full.logLines.join("")).toMatch(/unavailable/);
  expect(full.logLines.join("")).not.toContain("typed with care");
});
