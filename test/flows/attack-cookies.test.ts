import { expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { addApp, type FactorWorld } from "../support/factors.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient, statusWithCookie } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const next = "marble-otter-lantern";

interface Cast {
  readonly world: TestApp;
  readonly sink: MailSink;
  /** Whose cookie was copied. */
  readonly owner: SignedInClient;
  /** The owner on another device. */
  readonly elsewhere: SignedInClient;
  readonly admin: SignedInClient;
}

const userId = async ({ app }: TestApp) => (await app.domain.accounts.findUserByEmail(ada))?.id ?? 0;

/** In the session of the other device. */
async function setUpApp({ world, elsewhere }: Cast) {
  const { accounts } = world.app.domain;
  const session = await accounts.authenticateSession(elsewhere.cookie().split("=")[1] ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  const clocked: FactorWorld = { accounts, now: () => world.clock.now(), advance: (ms) => world.clock.advance(ms) };
  return await addApp(clocked, session);
}

const byAdmin = (action: string) => async (cast: Cast) => {
  const answer = await cast.admin.post(`/admin/users/${await userId(cast.world)}/${action}`);
  expect(answer.status).toBe(303);
};

const endings: Readonly<Record<string, (cast: Cast) => Promise<unknown>>> = {
  "signing out": ({ owner }) => owner.post("/users/sign_out"),
  "signing in again in that browser": ({ owner }) => owner.post("/users/sign_in", { email: ada, password }),
  "a change of password elsewhere": ({ elsewhere }) =>
    elsewhere.post("/users/edit/password", { current_password: password, password: next }),
  async "a reset of the password by mail"({ elsewhere, sink }) {
    await elsewhere.post("/users/password/new", { email: ada });
    for (;;) {
      const mail = await sink.next(ada);
      if (mail.text?.includes("reset_password_token") !== true) continue;
      const token = linkIn(mail, "/users/password/edit").searchParams.get("reset_password_token") ?? "";
      await elsewhere.post("/users/password/edit", { reset_password_token: token, password: next });
      return;
    }
  },
  async "its revocation in the list of sessions"({ elsewhere }) {
    const [first = "", second = ""] = [
      ...(await elsewhere.get("/users/edit")).body.matchAll(/action="(\/users\/edit\/sessions\/\d+\/end)"/g),
    ].map(([, path = ""]) => path);
    for (const path of [first, second]) if (path !== "") await elsewhere.post(path);
  },
  "signing out everywhere else": ({ elsewhere }) => elsewhere.post("/users/edit/sessions/end_others"),
  "the first second factor": setUpApp,
  async "the removal of a second factor"(cast) {
    const { elsewhere, world } = cast;
    const { app } = await setUpApp(cast);
    const copied = await signInClient(world, ada, { address: "192.0.2.30" });
    await copied.post("/users/second_factor", { code: app.code() });
    expect(await statusWithCookie(world, copied.cookie())).toBe(200);
    await elsewhere.post("/users/factors/authenticator_app/remove", { proof: password });
    expect(await statusWithCookie(world, copied.cookie())).toBe(303);
  },
  "an administrator's disabling": byAdmin("disable"),
  "an administrator's deletion": byAdmin("delete"),
  async "an administrator's reset of the factors"(cast) {
    const { world } = cast;
    const { app } = await setUpApp(cast);
    const copied = await signInClient(world, ada, { address: "192.0.2.30" });
    await copied.post("/users/second_factor", { code: app.code() });
    expect(await statusWithCookie(world, copied.cookie())).toBe(200);
    await byAdmin("reset_factors")(cast);
    expect(await statusWithCookie(world, copied.cookie())).toBe(303);
  },
  "the deletion of the account by its owner": ({ elsewhere }) => elsewhere.post("/users/edit/delete", { password }),
};

test.each(Object.keys(endings))("a copied cookie is worth nothing after %s", async (name) => {
  const sink = await startMailSink();
  await using world = await startTestApp({ environment: sink.environment });
  const owner = await signInClient(world, ada, { join: true, address: "192.0.2.20" });
  const elsewhere = await signInClient(world, ada, { address: "192.0.2.21" });
  const admin = await signInClient(world, "root@example.com", { join: true, admin: true, address: "192.0.2.22" });
  const copy = owner.cookie();
  expect(await statusWithCookie(world, copy)).toBe(200);
  await endings[name]?.({ world, sink, owner, elsewhere, admin });
  for (const url of ["/users/edit", "/p", "/users/token", "/users/factors", "/users/edit/data"]) {
    expect([url, await statusWithCookie(world, copy, url)]).toEqual([url, 303]);
  }
  const marked = await world.server.inject({ url: "/help/api", headers: { cookie: copy } });
  expect(marked.body).not.toContain(ada);
});

test("a disabled account that is enabled again gets none of its old sessions back", async () => {
  await using world = await startTestApp();
  const owner = await signInClient(world, ada, { join: true });
  const admin = await signInClient(world, "root@example.com", { join: true, admin: true });
  for (const action of ["disable", "enable"]) await admin.post(`/admin/users/${await userId(world)}/${action}`);
  expect(await statusWithCookie(world, owner.cookie())).toBe(303);
  await signInClient(world, ada);
});

test("an administrator who is one no more finds no administration with the same cookie", async () => {
  await using world = await startTestApp();
  const admin = await signInClient(world, "root@example.com", { join: true, admin: true });
  const former = await signInClient(world, ada, { join: true, admin: true });
  expect(await statusWithCookie(world, former.cookie(), "/admin")).toBe(200);
  await admin.post(`/admin/users/${await userId(world)}/demote`);
  for (const { method, pattern, access } of world.app.routes) {
    if (access !== "page_admin" || method !== "GET") continue;
    expect([pattern, await statusWithCookie(world, former.cookie(), pattern)]).toEqual([pattern, 404]);
  }
});

test.each(["planted", "of somebody else"])(
  "session fixation: a cookie %s never becomes the victim's",
  async (which) => {
    await using world = await startTestApp();
    const thief = await signInClient(world, "mallory@example.com", { join: true });
    await world.app.domain.accounts.createUser({ email: ada, password, admin: false });
    const fixed = which === "planted" ? `sealpush_session=${"f".repeat(43)}` : thief.cookie();
    const answer = await world.server.inject({
      ...{ method: "POST", url: "/users/sign_in", payload: new URLSearchParams({ email: ada, password }).toString() },
      headers: {
        ...{ cookie: fixed, "sec-fetch-site": "same-origin" },
        "content-type": "application/x-www-form-urlencoded",
      },
    });
    const made = answer.cookies.find(({ name }) => name === "sealpush_session")?.value ?? "";
    expect(made).toMatch(/^[\w-]{43}$/);
    expect(fixed).not.toContain(made);
    expect(await statusWithCookie(world, fixed)).toBe(303);
    expect(await statusWithCookie(world, `sealpush_session=${made}`)).toBe(200);
  },
);
