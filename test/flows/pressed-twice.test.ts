import { afterAll, beforeAll, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { readRows } from "../support/engine-database.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const strangersAddress = "192.0.2.9";

let fixture: TestApp;
let root: SignedInClient;
let ada: SignedInClient;
let adaId: number;
beforeAll(async () => {
  fixture = await startTestApp();
  root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  ada = await signInClient(fixture, "ada@example.com", { join: true });
  adaId = (await fixture.app.domain.accounts.findUserByEmail(ada.email))?.id ?? 0;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const repeated = async (url: string) =>
  (await Promise.all(Array.from({ length: 5 }, () => root.post(url)))).map(({ status }) => status);

const trailSince = async (count: number) => {
  const entries = await fixture.app.domain.accounts.listAdminEntries(1);
  return entries.slice(0, entries.length - count).map(({ action }) => action);
};

test("an administrator who submits twice creates one trail entry, since only changes are recorded", async () => {
  const before = (await fixture.app.domain.accounts.listAdminEntries(1)).length;
  for (const action of ["demote", "enable", "promote", "demote", "disable", "enable"]) {
    expect(await repeated(`/admin/users/${adaId}/${action}`)).toEqual([303, 303, 303, 303, 303]);
  }
  expect(await trailSince(before)).toEqual(["enabled", "disabled", "removed_admin", "made_admin"]);
});

test("a refused form does not end its push", async () => {
  const { domain } = fixture.app;
  const actor = { user: null, client: "c", address: strangersAddress, userAgent: "", referrer: "", ownOrigin: "" };
  const { urlToken } = await domain.pushes.create({ payload: "x" }, actor);
  const [{ id } = {}] = await readRows(domain.db, "SELECT max(id) AS id FROM pushes");
  const answer = await fixture.server.inject({
    method: "POST",
    url: `/admin/pushes/${id}/expire`,
    payload: "{}",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie: root.cookie() },
  });
  expect(answer.statusCode).toBe(415);
  expect(await domain.pushes.find(urlToken, actor)).toMatchObject({ expired: false });
  expect((await root.post(`/admin/pushes/${id}/expire`)).status).toBe(303);
  expect(await domain.pushes.find(urlToken, actor)).toMatchObject({ expired: true });
});

test("revoking a token twice redirects its owner to the list; other users get 404", async () => {
  const { accounts } = fixture.app.domain;
  const owner = await signInClient(fixture, "eve@example.com", { join: true });
  const id = (await accounts.findUserByEmail(owner.email))?.id ?? 0;
  const { apiToken } = await accounts.createToken(id, "script");
  const url = `/users/token/${apiToken.id}/revoke`;
  expect((await root.post(url)).status).toBe(404);
  for (let click = 0; click < 3; click += 1) {
    expect(await owner.post(url)).toMatchObject({ status: 303, location: "/users/token" });
  }
  expect((await root.post(url)).status).toBe(404);
});

test("an expired token is not shown as active to administrators", async () => {
  const { accounts } = fixture.app.domain;
  const { id } = await accounts.createUser({ email: "carl@example.com", password: "a long password", admin: false });
  await accounts.createToken(id, "short", { expiresInDays: 1 });
  await accounts.createToken(id, "long");
  const inUse = async () => (await accounts.searchUsers("carl", 1))[0]?.tokensInUse;
  expect(await inUse()).toBe(2);
  fixture.clock.advance(dayMs);
  expect(await inUse()).toBe(1);
});

test("a style sheet without rules is not linked by any page", async () => {
  const links = async () => (await root.get("/")).body.includes("/branding/style-");
  root = await signInClient(fixture, root.email);
  expect((await root.post("/admin/look/style", { style: "a { color: red }" })).status).toBe(303);
  expect(await links()).toBe(true);
  expect((await root.post("/admin/look/style", { style: " /* nothing */ " })).status).toBe(303);
  expect(await links()).toBe(false);
});
