import { expect, it } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { countRows } from "../support/engine-database.ts";
import { signInClient } from "../support/signed-in-client.ts";

const share = (
  app: TestApp,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) =>
  app.server.inject({
    method: "POST",
    url: "/share",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    payload: new URLSearchParams(fields).toString(),
  });

it("has a manifest with the instance's name, in the language of the browser", async () => {
  await using app = await startTestApp({ environment: { PWP__BRAND__TITLE: "Acme Vault" } });
  const answer = await app.server.inject({ url: "/manifest.webmanifest", headers: { "accept-language": "ar" } });
  expect(answer.headers["content-type"]).toBe("application/manifest+json; charset=utf-8");
  const manifest = answer.json();
  expect(manifest).toMatchObject({ name: "Acme Vault", start_url: "/", lang: "ar", dir: "rtl" });
  for (const { src } of manifest.icons) expect((await app.server.inject(src)).statusCode, src).toBe(200);
  const form = await app.server.inject("/");
  expect(form.body).toContain('<link rel="manifest" href="/manifest.webmanifest"/>');
  expect(form.headers["content-security-policy"]).toContain("manifest-src 'self'");
});

it.each(["/apple-touch-icon.png", "/apple-touch-icon-precomposed.png"])(
  "has the icon that systems ask for at %s",
  async (url) => {
    await using app = await startTestApp();
    expect((await app.server.inject(url)).headers.location).toBe("/assets/icon-180.png");
  },
);

it("takes what another app shares by POST, so that no address contains it", async () => {
  await using app = await startTestApp();
  const { share_target: target } = (await app.server.inject("/manifest.webmanifest")).json();
  expect(target).toEqual({
    action: "/share",
    method: "POST",
    enctype: "application/x-www-form-urlencoded",
    params: { title: "title", text: "text", url: "url" },
  });
  expect((await app.server.inject("/share?text=secret")).statusCode).toBe(405);
});

it("shows a shared text in the form, and creates nothing", async () => {
  await using app = await startTestApp();
  const answer = await share(
    app,
    { title: "Router", text: "<wifi> & key", url: "" },
    { "accept-encoding": "br, gzip" },
  );
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toMatch(/<textarea[^>]*>Router\n&lt;wifi> &amp; key<\/textarea>/);
  expect(answer.headers).toMatchObject({ "cache-control": "no-store" });
  // Another site can send this form: the length of the answer must not depend on what it repeats.
  expect(answer.headers["content-encoding"]).toBeUndefined();
  expect(await countRows(app.app.domain.db, "pushes")).toBe(0);
  expect(app.logLines.join("")).not.toContain("wifi");
});

it("needs no form token for somebody signed in, because nothing is stored", async () => {
  await using app = await startTestApp();
  const ada = await signInClient(app, "ada@example.com", { join: true });
  const { body } = await share(app, { text: "a shared text" }, { cookie: ada.cookie() });
  expect(body).toContain(">a shared text</textarea>");
  expect(body).toContain("ada@example.com");
});

it("is refused with the reason if it is too long", async () => {
  await using app = await startTestApp();
  expect((await share(app, { text: "a".repeat(513 * 1024) })).statusCode).toBe(413);
});

it("leads to the sign-in where pushes need an account", async () => {
  await using app = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
  expect((await share(app, { text: "a shared text" })).headers.location).toBe("/users/sign_in");
});
