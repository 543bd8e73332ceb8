import { describe, expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { bearer, password } from "../support/app.ts";
import { providerName, shapes } from "../support/provider.ts";
import { mistakesOf } from "../support/settings.ts";
import { type CookieClient, startSignOnApp, urlOf } from "../support/sign-on.ts";

const messages = en.singleSignOn;
const domain = { PWP__OIDC__ALLOWED_DOMAINS: "example.com" };
const issuer = { PWP__OIDC__TRUST_EMAIL: "issuer", ...domain };
const email = "bob@example.com";

type Person = Readonly<Record<string, unknown>>;

describe("a provider that is shaped as", () => {
  test.each<[keyof typeof shapes, Record<string, string>, Person]>([
    ["microsoft", issuer, { email }],
    ["google", domain, { email, email_verified: true, hd: "example.com" }],
    ["okta", { PWP__OIDC__USER_GROUP: "staff" }, { email, email_verified: true, groups: ["Everyone", "staff"] }],
    ["keycloak", { PWP__OIDC__USER_GROUP: "/staff" }, { email, email_verified: true, groups: ["/staff"] }],
    ["authentik", { PWP__OIDC__USER_GROUP: "staff" }, { email, email_verified: true, groups: ["staff"] }],
  ])("%s signs people on with %j", async (shape, environment, person) => {
    const { provider, signOn, newVisitor } = await startSignOnApp(environment, shapes[shape]);
    provider.people.set("b-1", person);
    const visitor = newVisitor();
    expect((await signOn(visitor, "b-1")).statusCode).toBe(303);
    expect(await visitor.signedInAs()).toBe(email);
  });

  test.each<[keyof typeof shapes, Record<string, string>, Person, string]>([
    ["microsoft", {}, { email }, messages.claimAbsent({ name: providerName, claim: "email_verified" })],
    ["microsoft", issuer, { email: "eve@evil.example" }, messages.refusedDomain],
    [
      "microsoft",
      { ...issuer, PWP__OIDC__USER_GROUP: "staff" },
      { email, hasgroups: true },
      messages.unknownGroups({ name: providerName }),
    ],
    [
      "okta",
      { PWP__OIDC__USER_GROUP: "staff" },
      { email, email_verified: true, groups: ["Everyone"] },
      messages.notInGroup,
    ],
    [
      "keycloak",
      issuer,
      { email, email_verified: false },
      messages.claimSent({ name: providerName, claim: "email_verified", value: "false" }),
    ],
    [
      "authentik",
      issuer,
      { email, email_verified: false },
      messages.claimSent({ name: providerName, claim: "email_verified", value: "false" }),
    ],
  ])(
    "%s with %j refuses %j, names the claim, and leaves an entry in the trail",
    async (shape, environment, person, sentence) => {
      const { app, provider, signOn, newVisitor } = await startSignOnApp(environment, shapes[shape]);
      provider.people.set("b-1", person);
      const visitor = newVisitor();
      const answer = await signOn(visitor, "b-1");
      expect([answer.statusCode, answer.body.includes(sentence)]).toEqual([403, true]);
      expect(await visitor.signedInAs()).toBeUndefined();
      expect(await app.app.domain.accounts.findUserByEmail(String(person.email))).toBeUndefined();
      const [entry] = await app.app.domain.accounts.listAdminEntries(1);
      expect(entry).toMatchObject({
        action: "refused_sign_on",
        adminEmail: providerName,
        subject: expect.stringMatching(/^b-1 \(/),
        address: "127.0.0.1",
      });
    },
  );
});

test("a user who is known is refused once the address has another domain, or the group is gone", async () => {
  const { provider, signOn, newVisitor } = await startSignOnApp(
    { ...domain, PWP__OIDC__USER_GROUP: "staff" },
    shapes.authentik,
  );
  const person = { email, email_verified: true, groups: ["staff"] };
  provider.people.set("b-1", person);
  expect((await signOn(newVisitor(), "b-1")).statusCode).toBe(303);
  for (const change of [{ email: "bob@evil.example" }, { groups: [] }, { email_verified: false }]) {
    provider.people.set("b-1", { ...person, ...change });
    expect((await signOn(newVisitor(), "b-1")).statusCode).toBe(403);
  }
});

test("another tenant's user with somebody's address gets nothing of theirs", async () => {
  const { provider, signOn, newVisitor } = await startSignOnApp(issuer, shapes.microsoft);
  provider.people.set("b-1", { email }).set("m-1", { email });
  await signOn(newVisitor(), "b-1");
  const mallory = newVisitor();
  expect((await signOn(mallory, "m-1")).headers.location).toBe("/users/auth/oidc/confirm");
  expect(await mallory.signedInAs()).toBeUndefined();
});

describe("groups", () => {
  const groups = { PWP__OIDC__ADMIN_GROUP: "admins" };
  const bob = { email, email_verified: true, groups: ["admins"] };
  const isAdministrator = async (visitor: CookieClient) => (await visitor.get("/admin")).statusCode === 200;

  test("make an administrator for 12 hours, whose token and account have no such rights", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp(
      { ...groups, PWP__LOGIN_SESSION_TIMEOUT: "1 day" },
      shapes.authentik,
    );
    const { accounts } = app.app.domain;
    provider.people.set("b-1", bob);
    const visitor = newVisitor();
    await signOn(visitor, "b-1");
    expect(await isAdministrator(visitor)).toBe(true);
    const user = await accounts.findUserByEmail(email);
    expect(user?.admin).toBe(false);
    const entries = await accounts.listAdminEntries(1);
    expect(entries[0]).toMatchObject({ action: "admin_by_group", adminId: user?.id, subject: email });
    const { token } = await accounts.createToken(user?.id ?? 0, "a token");
    expect((await accounts.authenticateToken({ token, address: "192.0.2.1" }))?.user.admin).toBe(false);
    expect((await app.server.inject({ url: "/p/active.json", headers: bearer(token) })).statusCode).toBe(200);

    const promotion = `/admin/users/${user?.id}/promote`;
    expect((await visitor.post(promotion)).body).toContain(messages.prove);
    expect((await signOn(visitor, "b-1", { path: "/users/single_sign_on/again" })).statusCode).toBe(303);
    expect((await visitor.post(promotion)).statusCode).toBe(404);
    expect((await accounts.findUser(user?.id ?? 0))?.admin).toBe(false);

    app.clock.advance(12 * hourMs - 1);
    expect(await isAdministrator(visitor)).toBe(true);
    app.clock.advance(1);
    expect(await isAdministrator(visitor)).toBe(false);
    expect(await visitor.signedInAs()).toBe(email);
  });

  test("make no administrator of who is in none, nor of who signs on with a password", async () => {
    const { app, provider, signOn, newVisitor } = await startSignOnApp(groups, shapes.authentik);
    provider.people.set("b-1", { ...bob, groups: ["staff"] });
    const visitor = newVisitor();
    await signOn(visitor, "b-1");
    expect(await isAdministrator(visitor)).toBe(false);
    await app.makeToken("carol@example.com");
    provider.people.set("c-1", { ...bob, email: "carol@example.com" });
    const carol = newVisitor();
    await signOn(carol, "c-1");
    expect(await isAdministrator(carol)).toBe(false);
    app.clock.advance(1);
    await carol.signIn("carol@example.com", password);
    expect(await isAdministrator(carol)).toBe(false);
    // The account asks for its owner's consent before anything of the group counts.
    expect((await carol.post("/users/auth/oidc/confirm")).statusCode).toBe(303);
    expect(await isAdministrator(carol)).toBe(false);
    await signOn(carol, "c-1");
    expect(await isAdministrator(carol)).toBe(true);
  });

  test("are requested where the provider has a scope for them and a setting needs them", async () => {
    for (const [environment, shape, scope] of [
      [groups, shapes.okta, "openid email profile groups"],
      [{}, shapes.okta, "openid email profile"],
      [groups, shapes.authentik, "openid email profile"],
    ] as const) {
      const { newVisitor } = await startSignOnApp(environment, shape);
      const asked = new URL(urlOf((await newVisitor().post("/users/auth/oidc")).body));
      expect(asked.searchParams.get("scope")).toBe(scope);
    }
  });
});

test.each(Object.entries(shapes))(
  "no redirect leads to a provider that is shaped as %s, and each link there ends its fragment",
  async (_name, shape) => {
    const { provider, newVisitor } = await startSignOnApp({}, shape);
    const leaving = await newVisitor().post("/users/auth/oidc");
    expect([leaving.statusCode, leaving.headers.location]).toEqual([200, undefined]);
    const links = leaving.body.match(new RegExp(`${provider.issuer}[^"]*`, "g")) ?? [];
    expect(links.length).toBeGreaterThan(1);
    for (const link of links) expect(link).toMatch(/#$/);
  },
);

test.each([
  ["common", "https://login.microsoftonline.com/common/v2.0"],
  ["organizations", "https://login.microsoftonline.com/organizations/v2.0"],
  ["consumers", "https://login.microsoftonline.us/Consumers/v2.0/"],
  ["personal accounts", "https://login.microsoftonline.com/9188040D-6c67-4c5b-b112-36a304b66dad/v2.0"],
])("the start is refused with an issuer for many tenants: %s", (_name, address) => {
  expect(mistakesOf({ PWP__OIDC__ISSUER: address, PWP__OIDC__CLIENT_ID: "x" }).join()).toContain("PWP__OIDC__ISSUER");
});

test("the start is refused when the issuer is trusted and no domain is allowed, or a domain is a pattern", () => {
  expect(mistakesOf({ PWP__OIDC__TRUST_EMAIL: "issuer" }).join()).toContain("PWP__OIDC__ALLOWED_DOMAINS");
  for (const text of ["*.example.com", "@example.com", "example.com,,example.org", ".example.com"]) {
    expect(mistakesOf({ PWP__OIDC__ALLOWED_DOMAINS: text }).join()).toContain("PWP__OIDC__ALLOWED_DOMAINS");
  }
});
