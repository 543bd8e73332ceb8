import { describe, expect, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { type AdministeredFixture, rootEmail, shareAdministered } from "../support/administrators.ts";
import { password, startTestApp } from "../support/app.ts";
import { changesBetween, rowsOfOthers } from "../support/database-rows.ts";
import { untypedForms } from "../support/every-form.ts";
import { addApp, signInAs } from "../support/factors.ts";
import { signInClient } from "../support/signed-in-client.ts";

interface AdminRoute {
  readonly method: "GET" | "POST";
  readonly pattern: string;
  readonly url: string;
}

/** Every administration route, with the id of an existing object in its path. */
function adminRoutes({ fixture, ownedPushes, failedMailId, groupId }: AdministeredFixture): readonly AdminRoute[] {
  const ids: readonly (readonly [string, number | undefined])[] = [
    ["/admin/users/", ownedPushes.userId],
    ["/admin/pushes/", ownedPushes.ids.push[0]],
    ["/admin/mails/", failedMailId],
    ["/admin/groups/", groupId],
  ];
  return fixture.app.routes
    .filter(({ pattern, method }) => /^\/admin\b/.test(pattern) && method !== "HEAD")
    .map(({ method, pattern }) => {
      const [, id] = ids.find(([start]) => pattern.startsWith(start)) ?? [];
      return { method: method === "GET" ? "GET" : "POST", pattern, url: pattern.replace(":id", String(id)) };
    });
}

/** A redirect would lose what was typed in these forms. */
const keepsTyped = ({ method, pattern }: AdminRoute) => method === "POST" && !untypedForms.includes(pattern);

/** One answer, without the parts that differ between any two answers. */
async function ask(
  { fixture }: AdministeredFixture,
  { method, url }: AdminRoute,
  headers: Readonly<Record<string, string>>,
  payload = "admin=true&user%5Badmin%5D=true&name=Taken&style=a%7B%7D",
) {
  const answer = await fixture.server.inject({
    method,
    url,
    remoteAddress: "192.0.2.7",
    headers: {
      "sec-fetch-site": "same-origin",
      ...(method === "POST" && { "content-type": "application/x-www-form-urlencoded" }),
      ...headers,
    },
    ...(method === "POST" && { payload }),
  });
  const { date: _date, "x-request-id": id, ...rest } = answer.headers;
  const body = typeof id === "string" ? answer.body.replaceAll(id, "(id)") : answer.body;
  return { status: answer.statusCode, location: answer.headers.location, headers: rest, body };
}

let administrators = 0;

/** A new administrator for each test, so that tests do not affect each other. */
async function anotherAdministrator({ fixture }: AdministeredFixture) {
  administrators += 1;
  const person = await signInClient(fixture, `admin-${administrators}@example.com`, { join: true, admin: true });
  const user = await fixture.app.domain.accounts.findUserByEmail(person.email);
  return { person, id: user?.id ?? 0 };
}

const by = { userId: null, email: "shell", address: "" };

/** Each kind of client and where it is redirected; undefined: it gets 404. */
const callers: readonly {
  readonly name: string;
  readonly sentTo: string | undefined;
  come(opened: AdministeredFixture): Promise<Readonly<Record<string, string>>>;
}[] = [
  { name: "a stranger", sentTo: "/users/sign_in", come: async () => ({}) },
  { name: "a user", sentTo: undefined, come: async ({ ownedPushes }) => ({ cookie: ownedPushes.person.cookie() }) },
  {
    name: "an administrator's sign-in that waits for its second factor",
    sentTo: "/users/second_factor",
    async come(opened) {
      const { person } = await anotherAdministrator(opened);
      const { fixture } = opened;
      const { accounts } = fixture.app.domain;
      const { session } = await signInAs({ accounts, now: () => 0, advance: () => undefined }, person.email, password);
      const clocked = { accounts, now: () => fixture.clock.now(), advance: (ms: number) => fixture.clock.advance(ms) };
      await addApp(clocked, session);
      return { cookie: (await signInClient(fixture, person.email)).cookie() };
    },
  },
  {
    name: "a disabled administrator",
    sentTo: "/users/sign_in",
    async come(opened) {
      const { person, id } = await anotherAdministrator(opened);
      await opened.fixture.app.domain.accounts.setDisabled(id, true, by);
      return { cookie: person.cookie() };
    },
  },
  {
    name: "an administrator whose session is over",
    sentTo: "/users/sign_in",
    async come(opened) {
      const { person } = await anotherAdministrator(opened);
      const cookie = person.cookie();
      await person.post("/users/sign_out");
      return { cookie };
    },
  },
  {
    name: "an API token of an administrator",
    sentTo: "/users/sign_in",
    async come(opened) {
      const { person, id } = await anotherAdministrator(opened);
      const { token } = await opened.fixture.app.domain.accounts.createToken(id, "script");
      return { authorization: `Bearer ${token}`, "x-user-token": token, "x-user-email": person.email };
    },
  },
];

const shared = shareAdministered();

describe("administration", () => {
  test.each(callers)("is closed to $name, and nothing changes", async ({ come, sentTo }) => {
    const opened = shared();
    const headers = await come(opened);
    const before = await rowsOfOthers(opened.fixture, null);
    const routes = adminRoutes(opened);
    expect(routes.length).toBeGreaterThan(20);
    for (const route of routes) {
      const answer = await ask(opened, route, headers);
      if (sentTo === undefined) {
        const unknown = await ask(opened, { ...route, url: "/there/is/no/such/page" }, headers);
        expect(answer, `${route.method} ${route.url}`).toEqual(unknown);
        expect(answer.status).toBe(404);
      } else if (keepsTyped(route)) {
        expect([route, answer.status]).toEqual([route, 401]);
        expect(answer.body).toContain(en.failure.signedOut);
      } else {
        const next = route.method === "GET" ? `?next=${encodeURIComponent(route.url)}` : "";
        expect([route, answer.status, answer.location]).toEqual([route, 303, `${sentTo}${next}`]);
        expect(answer.body).toBe("");
      }
    }
    expect(changesBetween(before, await rowsOfOthers(opened.fixture, null))).toEqual([]);
    expect(opened.fixture.app.domain.branding.theme()).toEqual({ name: undefined, logo: undefined, style: undefined });
  });

  test("rejects cross-site changes from every user", async () => {
    const opened = shared();
    const cookie = opened.root.cookie();
    const before = await rowsOfOthers(opened.fixture, null);
    for (const route of adminRoutes(opened).filter(({ method }) => method === "POST")) {
      for (const from of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "", origin: "https://evil.example" },
        // An old browser sends no origin, and the form was not created by our page.
        { "sec-fetch-site": "" },
      ]) {
        expect([route.url, from, (await ask(opened, route, { cookie, ...from })).status]).toEqual([
          route.url,
          from,
          403,
        ]);
      }
    }
    expect(changesBetween(before, await rowsOfOthers(opened.fixture, null))).toEqual([]);
  });

  test("asks an administrator for a second factor where everybody needs one, and stays hidden from others", async () => {
    await using fixture = await startTestApp({ environment: { PWP__REQUIRE_MFA: "true" } });
    const root = await signInClient(fixture, rootEmail, { join: true, admin: true });
    const user = await signInClient(fixture, "ada@example.com", { join: true });
    expect(await root.get("/admin/users")).toMatchObject({ status: 303, location: "/users/factors" });
    const { accounts } = fixture.app.domain;
    const { id } = (await accounts.findUserByEmail("ada@example.com")) ?? {};
    const refused = await root.post(`/admin/users/${id}/promote`, { proof: password });
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('href="/users/factors"')]);
    expect((await user.get("/admin/users")).status).toBe(404);
    expect((await accounts.findUserByEmail("ada@example.com"))?.admin).toBe(false);
  });

  test.each([
    ["demoted to an ordinary user", (id: number) => ({ set: "setAdmin", id, value: false }) as const, 404],
    ["disabled", (id: number) => ({ set: "setDisabled", id, value: true }) as const, 303],
  ])("is lost at once to an open session of an administrator who is %s", async (_, changeOf, status) => {
    const opened = shared();
    const { person, id } = await anotherAdministrator(opened);
    expect((await person.get("/admin/users")).status).toBe(200);
    const { set, value } = changeOf(id);
    await opened.fixture.app.domain.accounts[set](id, value, by);
    for (const route of adminRoutes(opened)) {
      const expected = status === 303 && keepsTyped(route) ? 401 : status;
      const answer = await ask(opened, route, { cookie: person.cookie() });
      expect([route.url, answer.status]).toEqual([route.url, expected]);
    }
    expect((await opened.root.get("/admin/users")).body).toContain(rootEmail);
  });

  test("is linked in the header for administrators only", async () => {
    const { root, ownedPushes } = shared();
    expect((await root.get("/p")).body).toContain('href="/admin"');
    expect((await ownedPushes.person.get("/p")).body).not.toContain('href="/admin"');
  });
});
