import { expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { CookieClient } from "../support/cookie-client.ts";
import { visit } from "../support/form-requests.ts";

const forwarded = { "x-forwarded-for": "203.0.113.9" };

async function signedIn(app: TestApp, email: string, admin: boolean): Promise<CookieClient> {
  const user = await app.app.domain.accounts.createUser({ email, password, admin });
  expect(user.email).toBe(email);
  const browser = new CookieClient(app);
  await browser.signIn(email, password);
  return browser;
}

test("an administrator behind an untrusted proxy sees on every page which setting to add", async () => {
  await using app = await startTestApp({ environment: { PWP__TRUSTED_PROXIES: "none" } });
  const admin = await signedIn(app, "ada@example.com", true);
  const other = await signedIn(app, "eve@example.com", false);
  const line = "PWP__TRUSTED_PROXIES=127.0.0.1";
  for (const path of ["/", "/p", "/users/edit", "/admin", "/admin/users", "/help/api"]) {
    expect([path, (await admin.get(path, "GET", forwarded)).body.includes(line)]).toEqual([path, true]);
    expect((await admin.get(path, "GET", { forwarded: "for=203.0.113.9" })).body).toContain(line);
    expect((await admin.get(path)).body).not.toContain(line);
  }
  expect((await other.get("/p", "GET", forwarded)).body).not.toContain(line);
  expect((await visit(app, "/", undefined, { headers: forwarded })).body).not.toContain(line);
});

test("the setting to add keeps the proxies that are named already, and strangers cannot suggest one", async () => {
  await using app = await startTestApp({ environment: { PWP__TRUSTED_PROXIES: "10.0.0.1" } });
  const admin = await signedIn(app, "ada@example.com", true);
  await app.server.inject({ url: "/", remoteAddress: "198.51.100.66", headers: forwarded });
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const page = (remoteAddress: string) =>
    app.server.inject({ url: "/admin", remoteAddress, headers: { ...forwarded, cookie } });
  expect((await page("172.18.0.5")).body).toContain("PWP__TRUSTED_PROXIES=10.0.0.1,172.18.0.5");
  for (const trusted of ["127.0.0.1", "10.0.0.1"]) {
    expect((await page(trusted)).body).not.toContain("PWP__TRUSTED_PROXIES=");
  }
});

test("account emails that cannot be sent close sign-up and the sign-in of unproven addresses", async () => {
  const environment = { PWP__ENABLE_USER_ACCOUNT_EMAILS: "true", PWP__SIGNUP_EMAIL_REGEXP: "@example\\.com" };
  await using app = await startTestApp({ environment });
  const admin = await signedIn(app, "ada@example.com", true);
  const form = { email: "mallory@example.com", password };
  expect(await visit(app, "/users/sign_up", form)).toMatchObject({ status: 403, cookie: "" });
  expect(await visit(app, "/users/sign_up")).toMatchObject({ status: 403 });
  expect(await visit(app, "/users/sign_in", form)).toMatchObject({ status: 401, cookie: "" });
  for (const path of ["/", "/admin", "/users/edit"])
    expect((await admin.get(path)).body).toContain("nobody can sign up");
});

test("an unproven account of the time before account emails cannot sign in while none can be sent", async () => {
  const open = await startTestApp();
  await open.app.domain.accounts.createUser({ email: "ada@example.com", password, admin: true });
  const form = { email: "mallory@example.com", password };
  expect(await visit(open, "/users/sign_up", form)).toMatchObject({ status: 303 });
  const { dataDir } = open;
  await open.app.close();
  await using app = await startTestApp({ dataDir, environment: { PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" } });
  expect(await visit(app, "/users/sign_in", form)).toMatchObject({ status: 401, cookie: "" });
});

test("every page asks not to be indexed unless PWP__NOINDEX is false; secret pages always do", async () => {
  await using app = await startTestApp();
  await using indexed = await startTestApp({ environment: { PWP__NOINDEX: "false" } });
  const tag = async (fixture: TestApp, url: string) => (await fixture.server.inject({ url })).headers["x-robots-tag"];
  const noindex = "noindex, nofollow, noarchive";
  const secrets = ["/p/unknown", "/p/unknown/r", "/p/unknown/preview", "/users/password/edit?reset_password_token=a"];
  for (const url of ["/", "/help/api", "/users/sign_in", ...secrets]) expect(await tag(app, url)).toBe(noindex);
  for (const url of ["/", "/?locale=de", "/help/api"]) expect(await tag(indexed, url)).toBeUndefined();
  for (const url of [...secrets, "/files/x", "/p/x.json", "/api/v2/pushes/x"]) {
    expect(await tag(indexed, url)).toBe(noindex);
  }
  expect((await app.server.inject({ url: "/robots.txt" })).body).toBe("User-agent: *\nDisallow: /\n");
  expect((await indexed.server.inject({ url: "/robots.txt" })).body).toContain("Allow: /$\n");
});
