import { makeLinkKey } from "@sealpush/age/link-key";
import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { openAdministered } from "../support/administrators.ts";
import { bearer, password, startTestApp } from "../support/app.ts";
import { readRows } from "../support/engine-database.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

async function open() {
  const opened = await openAdministered();
  const { accounts } = opened.fixture.app.domain;
  const eve = await signInClient(opened.fixture, "eve@example.com", { join: true });
  const user = async (email: string) => (await accounts.findUserByEmail(email)) ?? Promise.reject(new Error(email));
  const { id } = await user("eve@example.com");
  const trail = async () => (await accounts.listAdminEntries(1)).map(({ action, subject }) => `${action} ${subject}`);
  return { ...opened, eve, user, id, trail };
}

test("an administrator creates a user without email: the password is shown once, and works", async () => {
  await using fixture = await startTestApp();
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const made = await root.post("/admin/users", { email: " New@Example.com " });
  expect(made.status).toBe(201);
  const shown = /<code[^>]*>([\w-]{24})<\/code>/.exec(made.body)?.[1] ?? "";
  expect(await fixture.app.domain.accounts.findUserByEmail("new@example.com")).toMatchObject({ admin: false });
  const answer = await fixture.server.inject({
    method: "POST",
    url: "/users/sign_in",
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    payload: new URLSearchParams({ email: "new@example.com", password: shown }).toString(),
  });
  expect(answer.statusCode).toBe(303);
  expect((await root.get("/admin/users")).body).not.toContain(shown);
  expect(fixture.logLines.join("")).not.toContain(shown);
  expect((await root.get("/admin/trail")).body).toContain("Created new@example.com");
  for (const [email, text] of [
    ["new@example.com", "Another user has this email address."],
    ["nothing", "This is not an email address."],
    ["", "This is not an email address."],
  ] as const) {
    const refused = await root.post("/admin/users", { email });
    expect([refused.status, refused.body.includes(text)]).toEqual([422, true]);
  }
});

test("where emails can be sent, the new user chooses a password by a link", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({
    environment: { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" },
  });
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const made = await root.post("/admin/users", { email: "new@example.com" });
  expect([made.status, made.body.includes("<code")]).toEqual([201, false]);
  const link = linkIn(await sink.next("new@example.com"), "/users/password/edit");
  expect(link.searchParams.get("reset_password_token")).toMatch(/^[\w-]{43}$/);
});

test("in an older session, creating a user and changing an address ask for a proof first", async () => {
  const { fixture, root, id, user } = await open();
  fixture.clock.advance(11 * minuteMs);
  const asked = await root.post("/admin/users", { email: "new@example.com" });
  expect([asked.status, asked.body.includes('value="new@example.com"')]).toEqual([200, true]);
  await expect(user("new@example.com")).rejects.toThrow();
  expect((await root.post("/admin/users", { email: "new@example.com", proof: password })).status).toBe(201);
  const change = `/admin/users/${id}/change_email`;
  const question = await root.post(change, { email: "moved@example.com" });
  expect([question.status, question.body.includes('value="moved@example.com"')]).toEqual([200, true]);
  expect((await root.post(change, { email: "moved@example.com", proof: password })).status).toBe(303);
  expect((await user("moved@example.com")).id).toBe(id);
});

test("an administrator confirms an address, once", async () => {
  const { fixture, root, id, user, trail } = await open();
  await changeUsers(fixture.app.domain, { confirmedAt: null }, "eve@example.com");
  for (let again = 0; again < 2; again += 1) {
    expect((await root.post(`/admin/users/${id}/confirm`)).status).toBe(303);
    expect(await trail()).toEqual(["confirmed_email eve@example.com"]);
  }
  expect((await user("eve@example.com")).confirmedAt).not.toBeNull();
});

test("an administrator changes an address: it counts as confirmed, and the previous one is notified", async () => {
  const { fixture, root, id, eve, user, trail } = await open();
  const change = (email: string) => root.post(`/admin/users/${id}/change_email`, { email });
  for (const email of ["", "nothing", "root@example.com"])
    expect([email, (await change(email)).status]).toEqual([email, 422]);
  expect((await change("eve@example.com")).status).toBe(303);
  expect(await trail()).toEqual([]);
  expect((await change("Moved@example.com")).status).toBe(303);
  expect(await user("moved@example.com")).toMatchObject({ id, confirmedAt: expect.any(Number) });
  expect(await trail()).toEqual(["changed_email eve@example.com -> Moved@example.com"]);
  expect((await eve.get("/users/edit")).body).toContain("moved@example.com");
  expect(await fixture.app.domain.mail.sizes()).toMatchObject({ waiting: expect.any(Number) });
});

test("sign-ins are counted", async () => {
  const { fixture, root, id } = await open();
  const countOf = async () => (await fixture.app.domain.accounts.searchUsers("eve@", 1))[0]?.signInCount;
  expect(await countOf()).toBe(1);
  await signInClient(fixture, "eve@example.com");
  expect(await countOf()).toBe(2);
  expect((await root.get(`/admin/users/${id}`)).body).toMatch(/Sign-ins<\/dt><dd[^>]*>2</);
});

test("a user takes less than 800 bytes of the list, and the actions are on the page of the user", async () => {
  const { root, id } = await open();
  const list = (await root.get("/admin/users?q=eve")).body;
  const rows = list.slice(list.indexOf("<tbody>"), list.indexOf("</tbody>"));
  expect(rows).toContain(`href="/admin/users/${id}"`);
  expect(rows.length).toBeLessThan(800);
  const body = (await root.get(`/admin/users/${id}`)).body;
  for (const action of ["promote", "disable", "change_email", "delete"]) {
    expect(body).toContain(`action="/admin/users/${id}/${action}"`);
  }
  for (const unknown of ["9999", "x", "-1"]) expect((await root.get(`/admin/users/${unknown}`)).status).toBe(404);
});

test("an administrator sees where a user is signed in, and signs them out everywhere", async () => {
  await using fixture = await startTestApp();
  const root = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const userAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const eve = await signInClient(fixture, "eve@example.com", { join: true, userAgent, address: "198.51.100.9" });
  const user = await fixture.app.domain.accounts.findUserByEmail("eve@example.com");
  const path = `/admin/users/${user?.id}`;
  const { body } = await root.get(path);
  expect(body).toContain("198.51.100.9");
  expect(body).toContain("Firefox on Windows");
  expect((await eve.post(`${path}/sessions/end`)).status).toBe(404);
  expect(await root.post(`${path}/sessions/end`)).toMatchObject({ status: 303, location: path });
  expect((await eve.get("/users/edit")).status).toBe(303);
  expect((await root.get(path)).body).toContain(en.admin.noSessions);
  expect((await root.post("/admin/users/999/sessions/end")).status).toBe(404);
});

test("the page of a user counts live links and open requests, says that they are kept, and ends them in one click", async () => {
  const { fixture, root, id, trail } = await open();
  const { accounts } = fixture.app.domain;
  const { token } = await accounts.createToken(id, "test");
  const ask = async (url: string, payload: object) =>
    (await fixture.server.inject({ method: "POST", url, headers: bearer(token), payload })).json();
  const push = { payload: "hunter2", expire_after_views: 5 };
  const links: string[] = [];
  for (let made = 0; made < 2; made += 1) links.push((await ask("/api/v2/pushes", { push })).url_token);
  const key = await makeLinkKey();
  const request = await ask("/api/sealpush/requests", {
    request: { title: "Wi-Fi", recipient: key.recipient, encryption_check: key.check },
  });
  await accounts.setDisabled(id, true, { userId: null, email: "shell", address: "" });
  const page = (await root.get(`/admin/users/${id}`)).body;
  expect(page).toContain(en.admin.leftOpenKept);
  expect(page).toMatch(new RegExp(`${en.admin.liveLinks}</dt><dd[^>]*>2<.*${en.admin.openRequests}</dt><dd[^>]*>1<`));
  const opened = async (urlToken: string) =>
    (await fixture.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json();
  expect(await opened(links[0] ?? "")).toMatchObject({ payload: "hunter2" });

  const path = /action="([^"]+\/links\/end)"/.exec(page)?.[1] ?? "";
  expect((await root.post(path)).status).toBe(303);
  for (const link of links) expect(await opened(link)).toMatchObject({ expired: true, payload: null });
  const { closed_at: closedAt } = (await readRows(fixture.app.domain.db, "SELECT closed_at FROM requests"))[0] as {
    readonly closed_at: unknown;
  };
  expect([request.title, closedAt]).toEqual(["Wi-Fi", expect.any(Number)]);
  expect((await trail())[0]).toBe("ended_links eve@example.com");
  const after = (await root.get(`/admin/users/${id}`)).body;
  expect(after).not.toContain(en.admin.leftOpenKept);
  expect(after).not.toContain("/links/end");
  expect((await root.post("/admin/users/1/links/end")).status).toBe(404);
});
