import { expect, test } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { signInClient, statusWithCookie } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";
const safari =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

async function sessionsOf({ app }: TestApp, email: string) {
  const user = await app.domain.accounts.findUserByEmail(email);
  return await app.domain.accounts.listSessions(user?.id ?? 0);
}

test("a copied cookie is invalid after sign-out", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const copied = person.cookie();
  expect(await statusWithCookie(fixture, copied)).toBe(200);
  await person.post("/users/sign_out");
  expect(person.cookie()).toBe("");
  expect(await statusWithCookie(fixture, copied)).toBe(303);
});

test("a copied cookie is invalid after a change of password; the session that changed it stays signed in", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const other = await signInClient(fixture, ada);
  const changed = await person.post("/users/edit/password", {
    current_password: password,
    password: "marble-otter-lantern",
  });
  expect(changed).toMatchObject({ status: 303, location: "/users/edit?done=password" });
  expect(await statusWithCookie(fixture, other.cookie())).toBe(303);
  expect((await person.get("/users/edit?done=password")).body).toContain("Your password has been changed.");
});

test("a cookie is invalid once its session is revoked, or all others are", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const phone = await signInClient(fixture, ada, { userAgent: safari, address: "198.51.100.9" });
  const tablet = await signInClient(fixture, ada);
  const phoneSession = (await sessionsOf(fixture, ada)).find(({ userAgent }) => userAgent === safari);
  expect((await person.post(`/users/edit/sessions/${phoneSession?.id}/end`)).status).toBe(303);
  expect(await statusWithCookie(fixture, phone.cookie())).toBe(303);
  expect(await statusWithCookie(fixture, tablet.cookie())).toBe(200);
  expect((await person.post("/users/edit/sessions/end_others")).status).toBe(303);
  expect(await statusWithCookie(fixture, tablet.cookie())).toBe(303);
  expect(await statusWithCookie(fixture, person.cookie())).toBe(200);
});

test("a session of another user cannot be ended: the response is that for an unknown id", async () => {
  await using fixture = await startTestApp();
  const victim = await signInClient(fixture, ada, { join: true });
  const stranger = await signInClient(fixture, eve, { join: true });
  const [session] = await sessionsOf(fixture, ada);
  for (const id of [session?.id, 999_999, 0, -1, "1e999", "x", "%00"]) {
    expect([id, (await stranger.post(`/users/edit/sessions/${id}/end`)).status]).toEqual([id, 404]);
  }
  expect(await statusWithCookie(fixture, victim.cookie())).toBe(200);
});

test("the list shows address, browser, time and the current session, but no token or digest", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const phone = await signInClient(fixture, ada, { userAgent: safari, address: "198.51.100.9" });
  const { body } = await person.get("/users/edit?tab=sessions");
  expect(body).toContain("Firefox on Linux");
  expect(body).toContain("Safari on iOS");
  expect(body).toContain("198.51.100.9");
  expect(body.match(/This session/g)).toHaveLength(1);
  for (const cookie of [person.cookie(), phone.cookie()]) {
    const token = cookie.split("=")[1] ?? "";
    expect(token).toHaveLength(43);
    expect(body).not.toContain(token);
    const stored = fixture.app.domain.vault.access.digest("session", token);
    for (const form of ["hex", "base64", "base64url"] as const) expect(body).not.toContain(stored.toString(form));
  }
});

test("a user agent with markup is shown as text", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true, userAgent: "<img src=x onerror=alert(1)>/1" });
  const { body } = await person.get("/users/edit?tab=sessions");
  expect(body).not.toContain("<img");
});

test("expired sessions are not listed", async () => {
  await using fixture = await startTestApp({ environment: { PWP__LOGIN_SESSION_TIMEOUT: "30 minutes" } });
  await signInClient(fixture, ada, { join: true });
  fixture.clock.advance(30 * minuteMs);
  const person = await signInClient(fixture, ada);
  expect(await sessionsOf(fixture, ada)).toHaveLength(1);
  expect((await person.get("/users/edit?tab=sessions")).body).not.toContain("Sign out everywhere else");
});

test("a session ends without activity, and a revoked one is refused at once by another server on the same data", async () => {
  const first = await startTestApp();
  await using second = await startTestApp({ dataDir: first.dataDir, clock: first.clock });
  const person = await signInClient(first, ada, { join: true });
  const other = await signInClient(first, ada);
  expect(await statusWithCookie(second, other.cookie())).toBe(200);
  await person.post("/users/edit/sessions/end_others");
  expect(await statusWithCookie(second, other.cookie())).toBe(303);
  first.clock.advance(14 * dayMs);
  expect(await statusWithCookie(second, person.cookie())).toBe(303);
  await first[Symbol.asyncDispose]();
});

test.each([{ PWP__SECURE_COOKIES: "true" }, { PWP__OVERRIDE_BASE_URL: "https://push.example.com" }])(
  "with %j the cookie has the prefix __Host-, and a cookie without it is ignored",
  async (environment) => {
    await using fixture = await startTestApp({ environment });
    const person = await signInClient(fixture, ada, { join: true });
    expect(person.cookie()).toMatch(/^__Host-sealpush_session=/);
    expect(await statusWithCookie(fixture, person.cookie())).toBe(200);
    expect(await statusWithCookie(fixture, person.cookie().replace("__Host-", ""))).toBe(303);
  },
);
