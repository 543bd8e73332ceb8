import { expect, onTestFinished, test } from "vitest";
import { password, startTestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";

async function open() {
  const fixture = await startTestApp();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const browser = new CookieClient(fixture);
  const languageOf = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    /<html lang="([^"]*)"/.exec((await browser.get(path, "GET", headers)).body)?.[1];
  return { fixture, browser, languageOf };
}

test("the language that is chosen at the end of a page is kept for a year, wherever the browser comes back", async () => {
  const { browser, languageOf } = await open();
  const { body } = await browser.get("/about");
  const [, path = ""] = /href="([^"]*)" lang="pt-BR"/.exec(body) ?? [];
  const answer = await browser.get(path.replace("&amp;", "&"), "GET", { "sec-fetch-site": "same-origin" });
  expect(answer.headers["set-cookie"]).toBe(
    "sealpush_language=pt-BR; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax",
  );
  expect(await languageOf("/users/sign_in", { "accept-language": "ja" })).toBe("pt-BR");
  expect(await languageOf("/users/sign_in?locale=fr")).toBe("fr");
  expect(await languageOf("/users/sign_in")).toBe("pt-BR");
});

// Browsers name the site of a request over https only.
test("a browser that does not say where it comes from keeps the language too", async () => {
  const { languageOf } = await open();
  await languageOf("/about?locale=de&keep_locale");
  expect(await languageOf("/")).toBe("de");
});

test.each([
  ["a link with the recipient's language", "/about?locale=de", "same-origin"],
  ["another site's link", "/about?locale=de&keep_locale", "cross-site"],
  ["a link from an email", "/about?locale=de&keep_locale", "none"],
  ["a language that is not there", "/about?locale=xx&keep_locale", "same-origin"],
])("%s changes no language for good", async (_, path, site) => {
  const { languageOf } = await open();
  await languageOf(path, { "sec-fetch-site": site });
  expect(await languageOf("/", { "accept-language": "ja" })).toBe("ja");
});

test("an unknown language in the cookie is ignored", async () => {
  const { browser, languageOf } = await open();
  browser.cookies.set("sealpush_language", "xx");
  expect(await languageOf("/", { "accept-language": "ja" })).toBe("ja");
});

test("the language of the account replaces the choice of the browser where it is saved", async () => {
  const { fixture, browser, languageOf } = await open();
  await fixture.app.domain.accounts.createUser({ email: "ada@example.com", password, admin: false });
  await browser.signIn("ada@example.com", password);
  await languageOf("/about?locale=fr&keep_locale");
  await browser.post("/users/edit/language", { language: "de" });
  expect(browser.cookies.has("sealpush_language")).toBe(false);
  expect(await languageOf("/about")).toBe("de");
  await languageOf("/about?locale=fr&keep_locale");
  expect(await languageOf("/about")).toBe("fr");
});
