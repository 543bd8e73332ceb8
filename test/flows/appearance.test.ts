import { expect, onTestFinished, test } from "vitest";
import { nothingElse } from "../../src/database/database.ts";
import { startTestApp } from "../support/app.ts";

async function start(environment: Readonly<Record<string, string>>) {
  const fixture = await startTestApp({ environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const get = async (url: string) => {
    const { body, headers } = await fixture.server.inject({ url });
    return { body, imagePolicy: /img-src ([^;]*)/.exec(String(headers["content-security-policy"]))?.[1] };
  };
  return { ...fixture, get };
}

const ownFolders = "localhost:80/assets/ localhost/assets/ localhost:80/branding/ localhost/branding/";
const pages = ["/", "/p/unknown-link", "/nothing-here"];

test("PWP__BRAND__TAGLINE and PWP__BRAND__DISCLAIMER: every page shows both as text", async () => {
  const { get } = await start({
    PWP__BRAND__TAGLINE: "Handed over <once>",
    PWP__BRAND__DISCLAIMER: "No warranty & no liability",
  });
  for (const url of pages) {
    const { body } = await get(url);
    expect(body).toMatch(/<span class="wordmark-tagline"[^>]*>Handed over &lt;once><\/span>/);
    expect(body).toMatch(/<p class="site-disclaimer"[^>]*>No warranty &amp; no liability<\/p>/);
  }
});

test("logo addresses: pages show each in its colours, and may load images from exactly those addresses", async () => {
  const { get } = await start({
    PWP__BRAND__LIGHT_LOGO: "https://static.example.com/a/light.png?v=1",
    PWP__BRAND__DARK_LOGO: "https://static.example.com/a/dark.png",
  });
  for (const url of pages) {
    const { body, imagePolicy } = await get(url);
    expect(body).toContain('<img class="brand-logo" src="https://static.example.com/a/light.png?v=1" alt="Sealpush"/>');
    expect(body).toContain('<source srcset="https://static.example.com/a/dark.png" media="screen and (prefers-color');
    expect(imagePolicy).toBe(
      `${ownFolders} data: https://static.example.com/a/light.png https://static.example.com/a/dark.png`,
    );
  }
});

test("one logo address is used for both modes, and a path adds that path", async () => {
  const { get } = await start({ PWP__BRAND__DARK_LOGO: "/static/logo.png" });
  const { body, imagePolicy } = await get("/");
  expect(body).toContain('<img class="brand-logo" src="/static/logo.png" alt="Sealpush"/>');
  expect(body).not.toContain("<picture>");
  expect(imagePolicy).toBe(`${ownFolders} data: localhost:80/static/logo.png localhost/static/logo.png`);
});

test("an uploaded logo replaces the addresses", async () => {
  const { get, app } = await start({ PWP__BRAND__LIGHT_LOGO: "https://static.example.com/light.png" });
  await app.domain.branding.setLogo(Buffer.from("GIF89a"), nothingElse);
  const { body } = await get("/");
  expect(body).toMatch(/<img class="brand-logo" src="\/branding\/logo-\w+\.gif"/);
  expect(body).not.toContain("static.example.com");
});

test("PWP__THEME_MODE: the colours follow the browser, or are those of the setting", async () => {
  const colours = async (mode: string) => {
    const { get } = await start({ PWP__THEME_MODE: mode, PWP__BRAND__LIGHT_LOGO: "/l", PWP__BRAND__DARK_LOGO: "/d" });
    const { body } = await get("/");
    return [
      /<meta name="color-scheme" content="([^"]*)"/.exec(body)?.[1],
      /<link rel="stylesheet" href="[^"]*dark[^"]*" media="([^"]*)"/.exec(body)?.[1],
      /<img class="brand-logo" src="([^"]*)"/.exec(body)?.[1],
      body.includes("<picture>"),
    ];
  };
  expect(await colours("auto")).toEqual(["light dark", "screen and (prefers-color-scheme: dark)", "/l", true]);
  expect(await colours("light")).toEqual(["light", undefined, "/l", false]);
  expect(await colours("dark")).toEqual(["dark", "screen", "/d", false]);
});

test("PWP__BRAND__SHOW_FOOTER_MENU: the end of pages has no links, but what it states", async () => {
  const footer = async (value: string) => {
    const { get } = await start({ PWP__BRAND__SHOW_FOOTER_MENU: value });
    return /<footer.*<\/footer>/s.exec((await get("/")).body)?.[0] ?? "";
  };
  expect(await footer("true")).toContain("<a ");
  expect(await footer("false")).toContain("site-promise");
  expect(await footer("false")).not.toContain("<a ");
});

test("PWP__SHOW_VERSION: pages show the version only on request", async () => {
  const isShown = async (environment: Readonly<Record<string, string>>) =>
    (await (await start(environment)).get("/")).body.includes("0.0.0-test");
  expect(await isShown({})).toBe(false);
  expect(await isShown({ PWP__SHOW_VERSION: "false" })).toBe(false);
  expect(await isShown({ PWP__SHOW_VERSION: "true" })).toBe(true);
});

test("PWP__ENABLED_LANGUAGE_CODES: pages offer and select only those languages", async () => {
  const { server } = await start({ PWP__ENABLED_LANGUAGE_CODES: "de,fr,sv", PWP__DEFAULT_LOCALE: "fr" });
  const get = async (url: string, acceptLanguage = "", cookie = "") =>
    (await server.inject({ url, headers: { "accept-language": acceptLanguage, cookie } })).body;
  const language = async (...request: Parameters<typeof get>) =>
    /<html lang="([^"]*)"/.exec(await get(...request))?.[1];
  expect([...(await get("/")).matchAll(/hreflang="([^"]*)"/g)].map(([, tag]) => tag)).toEqual(["de", "fr"]);
  expect(await language("/", "ja, de;q=0.5")).toBe("de");
  expect(await language("/", "en")).toBe("fr");
  expect(await language("/?locale=ja")).toBe("fr");
  expect(await get("/?locale=ja")).not.toContain('href="/users/sign_in?locale=');
  expect(await language("/?locale=de")).toBe("de");
  expect(await language("/", "de", "sealpush_language=ja")).toBe("de");
  const { headers } = await server.inject("/?locale=ja&keep_locale");
  expect(headers["set-cookie"]).toBeUndefined();
});
