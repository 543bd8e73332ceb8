import { expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { addApp, type FactorFixture } from "../support/factors.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient, statusWithCookie } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const next = "marble-otter-lantern";

interface Fixture {
  readonly fixture: TestApp;
  readonly sink: MailSink;
  /** The browser whose cookie was copied. */
  readonly owner: SignedInClient;
  /** The owner on another device. */
  readonly otherDevice: SignedInClient;
  readonly admin: SignedInClient;
}

const userId = async ({ app }: TestApp) => (await app.domain.accounts.findUserByEmail(ada))?.id ?? 0;

/** Sets up an authenticator app in the session of the other device. */
async function setUpApp({ fixture, otherDevice }: Fixture) {
  const { accounts } = fixture.app.domain;
  const session = await accounts.authenticateSession(otherDevice.cookie().split("=")[1] ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  const clocked: FactorFixture = {
    accounts,
    now: () => fixture.clock.now(),
    advance: (ms) => fixture.clock.advance(ms),
  };
  return await addApp(clocked, session);
}

const byAdmin = (action: string) => async (cast: Fixture) => {
  const answer = await cast.admin.post(`/admin/users/${await userId(cast.fixture)}/${action}`);
  expect(answer.status).toBe(303);
};

const endings: Readonly<Record<string, (cast: Fixture) => Promise<unknown>>> = {
  "sign-out": ({ owner }) => owner.post("/users/sign_out"),
  "another sign-in in that browser": ({ owner }) => owner.post("/users/sign_in", { email: ada, password }),
  "a change of password on another device": ({ otherDevice }) =>
    otherDevice.post("/users/edit/password", { current_password: password, password: next }),
  async "a password reset by email"({ otherDevice, sink }) {
    await otherDevice.post("/users/password/new", { email: ada });
    for (;;) {
      const mail = await sink.next(ada);
      if (mail.text?.includes("reset_password_token") !== true) continue;
      const token = linkIn(mail, "/users/password/edit").searchParams.get("reset_password_token") ?? "";
      await otherDevice.post("/users/password/edit", { reset_password_token: token, password: next });
      return;
    }
  },
  async "its revocation in the list of sessions"({ otherDevice }) {
    const [first = "", second = ""] = [
      ...(await otherDevice.get("/users/edit?tab=sessions")).body.matchAll(
        /action="(\/users\/edit\/sessions\/\d+\/end)"/g,
      ),
    ].map(([, path = ""]) => path);
    for (const path of [first, second]) if (path !== "") await otherDevice.post(path);
  },
  "signing out all other sessions on another device": ({ otherDevice }) =>
    otherDevice.post("/users/edit/sessions/end_others"),
  "setting up the first second factor": setUpApp,
  async "the removal of a second factor"(cast) {
    const { otherDevice, fixture } = cast;
    const { app } = await setUpApp(cast);
    const copied = await signInClient(fixture, ada, { address: "192.0.2.30" });
    await copied.post("/users/second_factor", { code: app.code() });
    expect(await statusWithCookie(fixture, copied.cookie())).toBe(200);
    await otherDevice.post("/users/factors/authenticator_app/remove", { proof: password });
    expect(await statusWithCookie(fixture, copied.cookie())).toBe(303);
  },
  "disabling by an administrator": byAdmin("disable"),
  "deletion by an administrator": byAdmin("delete"),
  async "a reset of the factors by an administrator"(cast) {
    const { fixture } = cast;
    const { app } = await setUpApp(cast);
    const copied = await signInClient(fixture, ada, { address: "192.0.2.30" });
    await copied.post("/users/second_factor", { code: app.code() });
    expect(await statusWithCookie(fixture, copied.cookie())).toBe(200);
    await byAdmin("reset_factors")(cast);
    expect(await statusWithCookie(fixture, copied.cookie())).toBe(303);
  },
  "the deletion of the account by its owner": ({ otherDevice }) => otherDevice.post("/users/edit/delete", { password }),
};

test.each(Object.keys(endings))("a copied cookie is invalid after %s", async (name) => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const owner = await signInClient(fixture, ada, { join: true, address: "192.0.2.20" });
  const otherDevice = await signInClient(fixture, ada, { address: "192.0.2.21" });
  const admin = await signInClient(fixture, "root@example.com", { join: true, admin: true, address: "192.0.2.22" });
  const copy = owner.cookie();
  expect(await statusWithCookie(fixture, copy)).toBe(200);
  await endings[name]?.({ fixture, sink, owner, otherDevice, admin });
  for (const url of ["/users/edit", "/p", "/users/token", "/users/factors", "/users/edit/data"]) {
    expect([url, await statusWithCookie(fixture, copy, url)]).toEqual([url, 303]);
  }
  const marked = await fixture.server.inject({ url: "/help/api", headers: { cookie: copy } });
  expect(marked.body).not.toContain(ada);
});

test("sessions of a disabled account stay invalid when it is enabled again", async () => {
  await using fixture = await startTestApp();
  const owner = await signInClient(fixture, ada, { join: true });
  const admin = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  for (const action of ["disable", "enable"]) await admin.post(`/admin/users/${await userId(fixture)}/${action}`);
  expect(await statusWithCookie(fixture, owner.cookie())).toBe(303);
  await signInClient(fixture, ada);
});

test("a demoted administrator gets 404 on every administration page with the same cookie", async () => {
  await using fixture = await startTestApp();
  const admin = await signInClient(fixture, "root@example.com", { join: true, admin: true });
  const former = await signInClient(fixture, ada, { join: true, admin: true });
  expect(await statusWithCookie(fixture, former.cookie(), "/admin")).toBe(200);
  await admin.post(`/admin/users/${await userId(fixture)}/demote`);
  for (const { method, pattern, access } of fixture.app.routes) {
    if (access !== "page_admin" || method !== "GET") continue;
    expect([pattern, await statusWithCookie(fixture, former.cookie(), pattern)]).toEqual([pattern, 404]);
  }
});

test.each(["planted", "of another user"])(
  "session fixation: a sign-in with a session cookie %s creates a new session",
  async (which) => {
    await using fixture = await startTestApp();
    const thief = await signInClient(fixture, "mallory@example.com", { join: true });
    await fixture.app.domain.accounts.createUser({ email: ada, password, admin: false });
    const fixed = which === "planted" ? `sealpush_session=${"f".repeat(43)}` : thief.cookie();
    const answer = await fixture.server.inject({
      method: "POST",
      url: "/users/sign_in",
      payload: new URLSearchParams({ email: ada, password }).toString(),
      headers: {
        cookie: fixed,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
      },
    });
    const made = answer.cookies.find(({ name }) => name === "sealpush_session")?.value ?? "";
    expect(made).toMatch(/^[\w-]{43}$/);
    expect(fixed).not.toContain(made);
    expect(await statusWithCookie(fixture, fixed)).toBe(303);
    expect(await statusWithCookie(fixture, `sealpush_session=${made}`)).toBe(200);
  },
);
