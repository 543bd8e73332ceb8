import { expect, test } from "vitest";
import { startTestApp } from "../support/app.ts";

test("deleting confirms once; the ended push is then answered like an unknown one", async () => {
  await using app = await startTestApp();
  const created = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "secret" } },
  });
  const press = (urlToken: string) => app.server.inject({ method: "POST", url: `/p/${urlToken}/expire` });
  const urlToken: string = created.json().url_token;
  expect((await press(urlToken)).statusCode).toBe(200);
  const again = await press(urlToken);
  const unknown = await press("never-was");
  expect(again.statusCode).toBe(404);
  expect(unknown.statusCode).toBe(404);
  expect(again.body).toBe(unknown.body);
});

test.each([
  ["robot", { "user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)" }, 200],
  ["robot", { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" }, 200],
  ["prefetch", { "sec-purpose": "prefetch;prerender" }, 503],
  ["prefetch", { purpose: "prefetch" }, 503],
  ["prefetch", { "x-moz": "prefetch" }, 503],
])("the delete form ignores a %s with the headers %j", async (_what, headers, status) => {
  await using app = await startTestApp();
  const { url_token: urlToken } = (
    await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload: { push: { payload: "secret" } } })
  ).json();
  const pressed = await app.server.inject({ method: "POST", url: `/p/${urlToken}/expire`, headers });
  expect(pressed.statusCode).toBe(status);
  expect((await app.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json().payload).toBe("secret");
});

test("every page that ends a push refuses robots and prefetches", async () => {
  await using app = await startTestApp();
  const ends = app.app.routes.filter(
    ({ pattern, method }) => method === "POST" && (pattern.endsWith("/expire") || pattern === "/pushes/delete"),
  );
  expect(ends.map(({ pattern }) => pattern)).toEqual(expect.arrayContaining(["/p/:token/expire", "/pushes/delete"]));
  for (const { pattern, retrieval } of ends) expect([pattern, retrieval]).toEqual([pattern, true]);
});
