import { expect, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { encode, everyField, formPages, sendForm } from "../support/every-form.ts";
import { startSignOnApp } from "../support/sign-on.ts";
import { signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const evil = "evil.example";

/** URLs of another site that browsers, or incomplete checks, may take for paths of this one. */
const elsewhere: readonly string[] = [
  `//${evil}`,
  `///${evil}`,
  `/\\${evil}`,
  `\\\\${evil}`,
  `/\t/${evil}`,
  `/\n/${evil}`,
  `\t//${evil}`,
  `https://${evil}/`,
  `HTTPS:${evil}`,
  `https:/${evil}`,
  `http:\\\\${evil}`,
  `//${evil}/%2e%2e`,
  `/..//${evil}`,
  `/.//${evil}`,
  `/p/..//${evil}`,
  `/%2e%2e//${evil}`,
  `//push.test@${evil}`,
  `/%09/${evil}`,
  ` //${evil}`,
  `javascript:alert("${evil}")`,
  `data:text/html,${evil}`,
  `/\u2028/${evil}`,
  `/\uff0f${evil}`,
  `?next=//${evil}`,
  `/p\r\nLocation: https://${evil}`,
  `/p%0d%0aLocation:%20https://${evil}`,
  `@${evil}`,
  `.${evil}`,
  `:80@${evil}`,
];
const names = ["next", "return_to", "redirect", "redirect_to", "redirect_uri", "url", "back", "continue", "r", "done"];

const origin = "http://push.test";

/** Whether a browser on one of our pages would leave this origin. */
function leadsAway(location: unknown): boolean {
  if (typeof location !== "string") return false;
  return location.includes("\n") || new URL(location, origin).origin !== origin;
}

const formsAndLinks = /(?:href|action|src|formaction)="([^"]*)"|content="\d+;\s*url=([^"]*)"/gi;

function expectHere(at: string, { headers, body }: { headers: Record<string, unknown>; body: string }): void {
  expect([at, headers.location, leadsAway(headers.location)]).toEqual([at, headers.location, false]);
  expect([at, headers.refresh]).toEqual([at, undefined]);
  for (const [, link, refresh] of body.matchAll(formsAndLinks)) {
    const target = (link ?? refresh ?? "").replaceAll("&amp;", "&");
    const leads = URL.parse(target, origin)?.hostname.endsWith(evil) === true;
    expect([at, target, leads]).toEqual([at, target, false]);
  }
}

const queryOf = (value: string) => new URLSearchParams(names.map((name) => [name, value])).toString();

async function expectNoRedirectAway(fixture: TestApp, cookie: string | undefined): Promise<void> {
  const headers = { "sec-fetch-site": "same-origin", ...(cookie !== undefined && { cookie }) };
  const pages = fixture.app.routes.filter(
    ({ method, access, pattern }) => method === "GET" && (access.startsWith("page") || pattern.startsWith("/assets")),
  );
  for (const value of elsewhere) {
    for (const { pattern } of pages) {
      const url = `${pattern.replace(/:\w+/, "1")}?${queryOf(value)}`;
      expectHere(url, await fixture.server.inject({ url, headers }));
    }
  }
  const [one = "", two = ""] = elsewhere;
  for (const path of formPages(fixture.app.routes)) {
    for (const value of [one, two, `https://${evil}/`]) {
      const fields = { ...everyField, ...Object.fromEntries(names.map((name) => [name, value])) };
      const url = `${path}?${queryOf(value)}`;
      const sender = cookie === undefined ? {} : { cookie };
      expectHere(`POST ${url}`, await sendForm(fixture.server, url, encode(fields, "urlencoded"), sender));
    }
  }
}

test("open redirect: no page leads to another site without a session, whatever the query or form contains", async () => {
  await using fixture = await startTestApp();
  await fixture.app.domain.accounts.createUser({ email: ada, password, admin: false });
  await expectNoRedirectAway(fixture, undefined);
});

test("open redirect: no page leads a signed-in user to another site", async () => {
  await using fixture = await startTestApp();
  await expectNoRedirectAway(fixture, (await signInClient(fixture, ada, { join: true })).cookie());
});

test("open redirect: no page leads an administrator to another site", async () => {
  await using fixture = await startTestApp();
  await expectNoRedirectAway(fixture, (await signInClient(fixture, ada, { join: true, admin: true })).cookie());
});

test.each(elsewhere)(
  "open redirect: %j does not lead to another site after a sign-in, the deletion of a push and a sign-out",
  async (next) => {
    await using fixture = await startTestApp();
    const token = await fixture.makeToken(ada);
    const person = await signInClient(fixture, ada);
    const entered = await person.post("/users/sign_in", { email: ada, password, next });
    expect([entered.status, leadsAway(entered.location)]).toEqual([303, false]);
    const answer = await fixture.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      payload: { push: { payload: "x" } },
      headers: { authorization: `Bearer ${token}` },
    });
    const ended = await person.post(`/p/${answer.json().url_token}/expire`, { next });
    expect([ended.status < 400, leadsAway(ended.location)]).toEqual([true, false]);
    expect(leadsAway((await person.post("/users/sign_out", { next })).location)).toBe(false);
  },
);

test("open redirect: a page that requires a sign-in remembers only its own path", async () => {
  await using fixture = await startTestApp();
  for (const url of [`//${evil}/users/token`, `/users/token?x=//${evil}`, `/p?q=%0d%0aLocation:%20//${evil}`]) {
    const { headers } = await fixture.server.inject({ url, headers: { host: "push.test" } });
    expect([url, leadsAway(headers.location)]).toEqual([url, false]);
  }
});

test("open redirect: the request's headers do not change the host of a redirect", async () => {
  await using fixture = await startTestApp({ environment: { PWP__OVERRIDE_BASE_URL: origin } });
  const headers = { host: evil, "x-forwarded-host": evil, "x-forwarded-proto": "https", forwarded: `host=${evil}` };
  for (const url of ["/users/token", "/api_tokens", "/de/p/abc", "/f/abc/r", "/r/abc", "/users/edit"]) {
    const answer = await fixture.server.inject({ url, headers });
    expect([url, answer.statusCode, leadsAway(answer.headers.location)]).toEqual([url, answer.statusCode, false]);
    expect(answer.body).not.toContain(evil);
  }
});

test("open redirect: single sign-on returns to the start page if the remembered path is another site", async () => {
  const { provider, signOn, newVisitor } = await startSignOnApp();
  provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
  for (const next of elsewhere.slice(0, 8)) {
    const visitor = newVisitor();
    const answer = await signOn(visitor, "b-1", { next });
    expect([next, answer.statusCode, answer.headers.location ?? "/"]).toEqual([next, answer.statusCode, "/"]);
    expect(answer.body).not.toContain(evil);
    expect(await visitor.signedInAs()).toBe("bob@example.com");
  }
});
