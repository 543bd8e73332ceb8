import { expect, onTestFinished, test } from "vitest";
import { nothingElse } from "../../src/database/database.ts";
import { startTestApp } from "../support/app.ts";

async function start(environment: Readonly<Record<string, string>>) {
  const fixture = await startTestApp({ environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return fixture;
}

test("PWP__BRAND__TITLE: pages and scripts use that name until an administrator sets another", async () => {
  const { server, app } = await start({ PWP__BRAND__TITLE: "Acme & Sons" });
  const title = async () => /<title>(.*)<\/title>/.exec((await server.inject({ url: "/" })).body)?.[1];
  expect(await title()).toMatch(/ · Acme &amp; Sons$/);
  await app.domain.branding.setName("Another", nothingElse);
  expect(await title()).toMatch(/ · Another$/);
  await app.domain.branding.reset("name", nothingElse);
  expect(await title()).toMatch(/ · Acme &amp; Sons$/);
});

test("PWP__DEFAULT_LOCALE: pages use it only if none of the requested languages is available", async () => {
  const { server } = await start({ PWP__DEFAULT_LOCALE: "fr" });
  const language = async (url: string, headers: Readonly<Record<string, string>> = {}) =>
    /<html lang="([^"]*)"/.exec((await server.inject({ url, headers })).body)?.[1];
  expect(await language("/")).toBe("fr");
  expect(await language("/nothing-here")).toBe("fr");
  expect(await language("/", { "accept-language": "sv" })).toBe("fr");
  expect(await language("/", { "accept-language": "de" })).toBe("de");
  expect(await language("/?locale=ja")).toBe("ja");
});

test("FORCE_SSL: pages and the API redirect plain HTTP and set no cookie on it", async () => {
  const { server } = await start({ FORCE_SSL: "true" });
  for (const [method, url] of [
    ["GET", "/"],
    ["POST", "/p.json"],
    ["GET", "/api/v2/version"],
  ] as const) {
    const answer = await server.inject({ method, url, headers: { host: "push.example" } });
    expect([url, answer.headers.location, answer.cookies]).toEqual([url, `https://push.example${url}`, []]);
  }
  expect((await server.inject({ url: "/up" })).statusCode).toBe(200);
  expect((await server.inject({ url: "/", headers: { "x-forwarded-proto": "https" } })).statusCode).toBe(200);
});
