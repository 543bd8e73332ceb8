import { describe, expect, test } from "vitest";
import { changeUsers } from "../support/access-rows.ts";
import { password } from "../support/app.ts";
import { beforeNextWrite } from "../support/before-next-write.ts";
import { nextAbout, startMailSink } from "../support/mail-sink.ts";
import { shapes } from "../support/provider.ts";
import { baseUrl, type CookieClient, type SignOnApp, startSignOnApp, urlOf } from "../support/sign-on.ts";

const only = { PWP__OIDC__ONLY: "true", PWP__OIDC__ADMIN_GROUP: "admins" };
const ada = "ada@example.com";
const bob = "bob@example.com";
const confirmPath = "/users/auth/oidc/confirm";

/** What people who are not signed in can still use. Every other route of theirs must be closed, also one that is added later. */
const openEntries = [
  "GET /users/auth/oidc/confirm",
  "GET /users/break_glass",
  "GET /users/confirmation",
  "GET /users/confirmation/new",
  "GET /users/confirmation/new_email",
  "GET /users/sign_in",
  "POST /users/auth/oidc",
  "POST /users/auth/oidc/confirm",
  "POST /users/auth/oidc/confirm/mail",
  "POST /users/break_glass",
  "POST /users/confirmation",
  "POST /users/confirmation/new",
  "POST /users/confirmation/new_email",
];

/** Pages of an account that manage what does not count here. */
const closedSettings = [
  "GET /users/factors",
  "GET /users/factors/authenticator_app",
  "POST /users/edit/password",
  "POST /users/factors/authenticator_app",
  "POST /users/factors/authenticator_app/remove",
  "POST /users/factors/backup_codes",
  "POST /users/factors/passkeys",
  "POST /users/factors/passkeys/1/remove",
  "POST /users/factors/passkeys/options",
  "POST /users/factors/proof/options",
  "POST /users/single_sign_on/unlink",
];

const typed = {
  email: ada,
  password,
  current_password: password,
  new_password: "marble-otter-lantern",
  boot_code: "x",
};

function routesOf(site: SignOnApp, has: (access: string) => boolean) {
  return site.app.app.routes
    .filter(({ method, access }) => method !== "HEAD" && has(access))
    .map(({ method, pattern }) => ({ method, url: pattern.replace(/:[a-z_]+/g, "1") }));
}

async function signedOn(site: SignOnApp, email = bob): Promise<CookieClient> {
  site.provider.people.set("b-1", { email, email_verified: true, groups: ["admins"] });
  const visitor = site.newVisitor();
  expect((await site.signOn(visitor, "b-1")).headers.location).toBe("/");
  return visitor;
}

async function closedOf(visitor: CookieClient, routes: readonly { method: string; url: string }[]) {
  const closed: string[] = [];
  for (const { method, url } of routes) {
    const answer = method === "GET" ? await visitor.get(url) : await visitor.post(url, typed);
    if (answer.statusCode === 403 && answer.body.includes("Single sign-on only")) closed.push(`${method} ${url}`);
  }
  return closed.toSorted();
}

describe("where single sign-on is the only way in", () => {
  test("every other way to enter is closed, and none signs in with the right password", async () => {
    const site = await startSignOnApp(only, shapes.authentik);
    const routes = routesOf(site, (access) => access === "page_entry");
    const visitor = site.newVisitor();
    const closed = await closedOf(visitor, routes);
    const all = routes.map(({ method, url }) => `${method} ${url}`);
    expect(all.filter((route) => !closed.includes(route)).toSorted()).toEqual(openEntries);
    expect([...visitor.cookies.keys()].filter((name) => name.includes("session"))).toEqual([]);
    expect(await visitor.signedInAs()).toBeUndefined();
  });

  test("no page of an account offers a password or a factor of this server", async () => {
    const site = await startSignOnApp(only, shapes.authentik);
    const visitor = await signedOn(site);
    const routes = routesOf(site, (access) => access === "page_session" || access === "page_admin");
    const factors = routes.filter(({ url }) => closedSettings.some((route) => route.endsWith(` ${url}`)));
    expect(await closedOf(visitor, factors)).toEqual(closedSettings);
    const offer = /name="(?:password|current_password|new_password|proof|proof_passkey|boot_code)"/;
    const open = [
      "/users/sign_in?done=signed_out",
      ...routes.filter(({ method }) => method === "GET").map(({ url }) => url),
    ];
    expect((await visitor.get("/users/edit")).body).not.toContain(">Password</a>");
    for (const url of open) expect([url, offer.exec((await visitor.get(url)).body)?.[0]]).toEqual([url, undefined]);
  });

  test("a password proves nothing under the pages either", async () => {
    const site = await startSignOnApp(only, shapes.authentik);
    const { accounts } = site.app.app.domain;
    const client = { throttleKey: "c", address: "192.0.2.1", userAgent: "test" };
    const user = await accounts.findUserByEmail(ada);
    expect(await accounts.signIn({ email: ada, password, client })).toBeUndefined();
    expect(await accounts.checkPassword(user?.id ?? 0, password, client)).toBe(false);
    const asked = accounts.inviteUser({ email: bob, admin: false, language: null }, () => async () => undefined);
    await expect(asked).rejects.toMatchObject({ code: "forbidden" });
    expect(await accounts.openFirstRun()).toBeUndefined();
  });

  test("the sign-in page goes on to the provider at once, without a redirect, until somebody signs out", async () => {
    const site = await startSignOnApp(only, shapes.authentik);
    site.provider.people.set("b-1", { email: bob, email_verified: true });
    const visitor = site.newVisitor();
    const leaving = await visitor.get("/users/sign_in?next=%2Fp");
    expect(leaving.statusCode).toBe(200);
    expect(urlOf(leaving.body)).toMatch(/#$/);
    site.provider.answer = { login: { accountId: "b-1" } };
    const returned = await visitor.get(await site.provider.followRedirects(urlOf(leaving.body)));
    expect(returned.headers.location).toBe("/p");
    const out = await visitor.post("/users/sign_out");
    expect(out.headers.location).toBe("/users/sign_in?done=signed_out");
    const asked = await visitor.get("/users/sign_in?done=signed_out");
    expect(asked.body).not.toContain('http-equiv="refresh"');
    expect(asked.body).toContain("You are signed out");
    expect((await site.signOn(visitor, "b-1")).headers.location).toBe("/");
  });

  test.each([
    ["an image", { "sec-fetch-dest": "image" }],
    ["a prefetch", { "sec-purpose": "prefetch" }],
    ["a robot", { "user-agent": "Slackbot-LinkExpanding 1.0" }],
  ])("%s begins no sign-on", async (_what, headers) => {
    const site = await startSignOnApp(only, shapes.authentik);
    const answer = await site.newVisitor().get("/users/sign_in", "GET", headers);
    expect(answer.body).not.toContain('http-equiv="refresh"');
    expect(answer.headers["set-cookie"]).not.toContain("sealpush_sign_on");
  });

  test("a used account is linked with its password, on the linking page only, whatever its factors", async () => {
    const site = await startSignOnApp({ ...only, PWP__REQUIRE_MFA: "true" });
    site.provider.people.set("a-1", { email: ada, email_verified: true });
    const visitor = site.newVisitor();
    expect((await site.signOn(visitor, "a-1")).headers.location).toBe(confirmPath);
    expect((await visitor.post(confirmPath, { password: "not the password" })).statusCode).toBe(401);
    expect((await visitor.post(confirmPath, { password })).statusCode).toBe(303);
    expect(await visitor.signedInAs()).toBe(ada);
    // Its second factor would be asked for at every page.
    expect((await visitor.get("/p")).statusCode).toBe(200);
  });

  test("a user whom an administrator creates gets no password, and is linked without a question", async () => {
    const site = await startSignOnApp(only, shapes.authentik);
    const admin = await signedOn(site);
    // An older sign-on may have been silent.
    await site.signOn(admin, "b-1", { path: "/users/single_sign_on/again" });
    const made = await admin.post("/admin/users", { email: "mia@example.com" });
    expect(made.body).toContain("Created mia@example.com, for single sign-on.");
    const user = await site.app.app.domain.accounts.findUserByEmail("mia@example.com");
    expect(user?.hasPassword).toBe(false);
    site.provider.people.set("m-1", { email: "mia@example.com", email_verified: true, groups: [] });
    const mia = site.newVisitor();
    expect((await site.signOn(mia, "m-1")).headers.location).toBe("/");
    expect(await mia.signedInAs()).toBe("mia@example.com");
  });
});

describe("a mailed link to the linking page", () => {
  async function begin() {
    const sink = await startMailSink({ baseUrl });
    const site = await startSignOnApp({ ...sink.environment, ...only });
    site.provider.people.set("a-1", { email: ada, email_verified: true });
    const visitor = site.newVisitor();
    expect((await site.signOn(visitor, "a-1")).headers.location).toBe(confirmPath);
    expect((await visitor.post(`${confirmPath}/mail`)).body).toContain("We have sent a link to");
    const text = await nextAbout(sink, ada, "Is this your account?");
    const token = /confirm\?token=([\w-]{43})/.exec(text)?.[1] ?? "";
    return { site, visitor, token };
  }

  test("links in the browser that began, once", async () => {
    const { visitor, token } = await begin();
    expect((await visitor.get(`${confirmPath}?token=${token}`)).body).toContain("You have opened the link");
    expect((await visitor.post(confirmPath, { token })).statusCode).toBe(303);
    expect(await visitor.signedInAs()).toBe(ada);
    expect((await visitor.post(confirmPath, { token })).statusCode).toBe(400);
  });

  test("links nothing in another browser, nor with another token", async () => {
    const { site, visitor, token } = await begin();
    const other = site.newVisitor();
    expect((await other.get(`${confirmPath}?token=${token}`)).statusCode).toBe(400);
    expect((await other.post(confirmPath, { token })).statusCode).toBe(400);
    expect((await visitor.post(confirmPath, { token: `${token.slice(1)}A` })).statusCode).toBe(401);
    expect(await visitor.signedInAs()).toBeUndefined();
    // A later link replaces it.
    await visitor.post(`${confirmPath}/mail`);
    expect((await visitor.post(confirmPath, { token })).statusCode).toBe(401);
  });

  test("is mailed ten times an hour to one account, in all browsers together", async () => {
    const { site, visitor } = await begin();
    const mail = async (from: CookieClient) => (await from.post(`${confirmPath}/mail`)).statusCode;
    for (let mails = 2; mails <= 10; mails += 1) expect(await mail(visitor)).toBe(200);
    expect(await mail(visitor)).toBe(429);
    const other = site.newVisitor();
    await site.signOn(other, "a-1");
    expect(await mail(other)).toBe(429);
  });

  test("links nothing once the account has another address than the one that it was mailed to", async () => {
    const { site, visitor, token } = await begin();
    await changeUsers(site.app.app.domain, { email: "ada@elsewhere.example" }, ada);
    expect((await visitor.post(confirmPath, { token })).statusCode).toBe(401);
    expect(await visitor.signedInAs()).toBeUndefined();
  });

  test("links nothing if the address changes after the link was read", async () => {
    const { site, visitor, token } = await begin();
    const { domain } = site.app.app;
    beforeNextWrite(domain.db, () => changeUsers(domain, { email: "ada@elsewhere.example" }, ada));
    expect((await visitor.post(confirmPath, { token })).statusCode).toBe(400);
    expect(await visitor.signedInAs()).toBeUndefined();
  });
});
