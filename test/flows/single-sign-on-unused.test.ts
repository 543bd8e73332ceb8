import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { bearer, password } from "../support/app.ts";
import { makeGroup, makeServiceToken } from "../support/groups.ts";
import { type SignOnApp, startSignOnApp } from "../support/sign-on.ts";

const email = "bob@example.com";
const confirmPath = "/users/auth/oidc/confirm";

async function make(site: SignOnApp) {
  site.provider.people.set("b-1", { email, email_verified: true });
  return await site.app.app.domain.accounts.createUser({ email, password, admin: false });
}

test("an account that nobody has used is linked without a question, and its password is gone", async () => {
  const site = await startSignOnApp();
  const { id } = await make(site);
  const visitor = site.newVisitor();
  expect((await site.signOn(visitor, "b-1")).headers.location).toBe("/");
  expect(await visitor.signedInAs()).toBe(email);
  const { accounts } = site.app.app.domain;
  expect(await accounts.findUser(id)).toMatchObject({ hasPassword: false });
  const other = site.newVisitor();
  expect((await other.post("/users/sign_in", { email, password })).statusCode).not.toBe(303);
  // From now on it is somebody's.
  site.provider.people.set("m-1", { email, email_verified: true });
  expect((await site.signOn(site.newVisitor(), "m-1")).headers.location).toBe(confirmPath);
});

test.each<[string, (site: SignOnApp, userId: number) => Promise<unknown>]>([
  ["signed in to", (site) => site.newVisitor().signIn(email, password)],
  ["given an API token", (site, id) => site.app.app.domain.accounts.createToken(id, "a token")],
  ["given another password", (site, id) => site.app.app.domain.accounts.setPassword(id, "marble-otter-lantern")],
])("an account that was %s asks its owner", async (_what, use) => {
  const site = await startSignOnApp();
  const { id } = await make(site);
  await use(site, id);
  const visitor = site.newVisitor();
  expect((await site.signOn(visitor, "b-1")).headers.location).toBe(confirmPath);
  expect(await visitor.signedInAs()).toBeUndefined();
});

test("an unused account that is disabled is not linked", async () => {
  const site = await startSignOnApp();
  const { id } = await make(site);
  await site.app.app.domain.accounts.setDisabled(id, true, { userId: null, email: "shell", address: "" });
  const visitor = site.newVisitor();
  expect((await site.signOn(visitor, "b-1")).statusCode).toBe(403);
  expect(await visitor.signedInAs()).toBeUndefined();
});

test("API tokens rest once the last sign-on is too old, and work again after the next one", async () => {
  const site = await startSignOnApp({ PWP__OIDC__TOKENS_REST_AFTER_DAYS: "30" });
  site.provider.people.set("b-1", { email, email_verified: true });
  await site.signOn(site.newVisitor(), "b-1");
  const { accounts } = site.app.app.domain;
  const user = await accounts.findUserByEmail(email);
  const { token } = await accounts.createToken(user?.id ?? 0, "a token");
  const status = async () =>
    (await site.app.server.inject({ url: "/p/active.json", headers: bearer(token) })).statusCode;
  site.app.clock.advance(30 * dayMs);
  expect(await status()).toBe(200);
  site.app.clock.advance(1);
  expect(await status()).toBe(401);
  await site.signOn(site.newVisitor(), "b-1");
  expect(await status()).toBe(200);
});

test("service tokens do not rest: nobody signs on to their account", async () => {
  const { app } = await startSignOnApp({ PWP__OIDC__TOKENS_REST_AFTER_DAYS: "30" });
  const group = await makeGroup(app, "Deploy", []);
  const headers = bearer(await makeServiceToken(app, group.id, "root@example.com"));
  app.clock.advance(30 * dayMs + 1);
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers,
    payload: { push: { payload: "x" } },
  });
  expect(answer.statusCode).toBe(201);
});

test("API tokens of an account that never signs on rest too, and none without single sign-on", async () => {
  const days = { PWP__OIDC__TOKENS_REST_AFTER_DAYS: "30" };
  for (const [environment, expected] of [
    [days, 401],
    [{ ...days, PWP__OIDC__ISSUER: "" }, 200],
  ] as const) {
    const site = await startSignOnApp(environment);
    const token = await site.app.makeToken("robot@example.com");
    site.app.clock.advance(30 * dayMs + 1);
    const answer = await site.app.server.inject({ url: "/p/active.json", headers: bearer(token) });
    expect(answer.statusCode).toBe(expected);
  }
});
