import { describe, expect, it, test } from "vitest";
import { en } from "../../src/i18n/i18n.ts";
import { answerTo } from "../support/browser-forms.ts";
import { startOtherServer } from "../support/other-server.ts";
import { openSite } from "../support/site.ts";
import { administratorEmail, email, password } from "../support/visit.ts";

const site = openSite();

interface Attack {
  readonly name: string;
  readonly path: (urlToken: string) => string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** State changes that a form of another site can attempt with a visitor's session. */
const attacks: readonly Attack[] = [
  { name: "make a push", path: () => "/p", fields: { "push[payload]": "planted", "push[kind]": "text" } },
  { name: "delete a push", path: (urlToken) => `/p/${urlToken}/expire` },
  { name: "open a push", path: (urlToken) => `/p/${urlToken}` },
  { name: "open a push at its step", path: (urlToken) => `/p/${urlToken}/r` },
  { name: "make a token", path: () => "/users/token", fields: { name: "planted" } },
  { name: "revoke a token", path: () => "/users/token/1/revoke" },
  { name: "sign out", path: () => "/users/sign_out" },
  { name: "sign in as somebody else", path: () => "/users/sign_in", fields: { email, password } },
];
/** Every encoding that a form can have; without fields they are all the same. */
const encodings = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
const encodingsOf = ({ fields }: Attack) => (fields === undefined ? encodings.slice(0, 1) : encodings);

/** One form for every attack in every encoding. */
function attackingPage(urlToken: string): string {
  const forms = attacks.flatMap((attack) =>
    encodingsOf(attack).map((encoding) => {
      const { name, path, fields = {} } = attack;
      const inputs = Object.entries(fields).map(([field, value]) => `<input name="${field}" value="${value}">`);
      return `<form method="post" action="${site.baseUrl}${path(urlToken)}" enctype="${encoding}">
        ${inputs.join("")}<button>${name} by ${encoding}</button></form>`;
    }),
  );
  return `<!doctype html><title>Other server</title>${forms.join("")}`;
}

describe.each(["foreignOrigin", "origin"] as const)("a page of another origin (%s)", (origin) => {
  it("cannot change anything with its visitor's session", async () => {
    const { urlToken } = await site.push({ payload: "secret", deletable_by_viewer: true }, "owned");
    const otherServer = await startOtherServer(attackingPage(urlToken));
    const { page, context } = await site.visit({ signedIn: true, allowedOrigins: [otherServer[origin]] });
    const session = await context.cookies(site.baseUrl);
    for (const attack of attacks) {
      for (const encoding of encodingsOf(attack)) {
        const { name } = attack;
        await page.goto(`${otherServer[origin]}/`);
        const answer = await answerTo(page, () =>
          page.getByRole("button", { name: `${name} by ${encoding}`, exact: true }).click(),
        );
        expect({ name, encoding, status: answer.status() }).toEqual({ name, encoding, status: 403 });
        await page.getByRole("heading", { name: en.failure.forbidden }).waitFor();
      }
    }
    expect(await context.cookies(site.baseUrl)).toEqual(session);
    await page.goto("/users/token");
    expect(await page.locator(".token-name").allTextContents()).toEqual(["test"]);
    expect(await page.getByText(en.tokens.active, { exact: true }).count()).toBe(1);
    expect(await site.auditKinds(urlToken)).toEqual(["creation"]);
    expect(await site.ownPush(urlToken)).toMatchObject({ expired: false, deleted: false });
  });

  it("cannot read our pages", async () => {
    const otherServer = await startOtherServer();
    const { page } = await site.visit({
      signedIn: true,
      allowedOrigins: [otherServer[origin]],
      expectedErrors: /CORS policy|ERR_FAILED|ERR_BLOCKED_BY_RESPONSE/,
    });
    await page.goto(`${otherServer[origin]}/`);
    for (const path of ["/api/v2/pushes/active", "/users/token", "/"]) {
      for (const mode of ["cors", "no-cors"]) {
        const outcome = await page.evaluate(
          `fetch("${site.baseUrl}${path}", { credentials: "include", mode: "${mode}" })
            .then(() => "answered", () => "refused")`,
        );
        expect({ path, mode, outcome }).toEqual({ path, mode, outcome: "refused" });
      }
    }
  });

  it("cannot frame our pages or control a window that shows them", async () => {
    const frame = `<!doctype html><title>Other server</title><iframe src="${site.baseUrl}/"></iframe>`;
    const otherServer = await startOtherServer(frame);
    const { page } = await site.visit({
      allowedOrigins: [otherServer[origin]],
      expectedErrors: /frame-ancestors|X-Frame-Options|ERR_BLOCKED/,
    });
    await page.goto(`${otherServer[origin]}/`);
    expect(page.frames()).toHaveLength(2);
    expect(await page.frames()[1]?.content()).not.toContain(en.newPush.heading);
    const [opened] = await Promise.all([
      page.waitForEvent("popup"),
      page.evaluate(`(() => { window.held = open("${site.baseUrl}/"); })()`),
    ]);
    await opened.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate("held.closed")).toBe(true);
    expect(await opened.evaluate("window.opener")).toBe(null);
  });
});

test("over plain http a page of another site cannot sign its visitor in, who can", async () => {
  const host = site.baseUrl.replace("127.0.0.1", "push.test");
  const attack = `<!doctype html><meta name="referrer" content="no-referrer"><title>Other server</title>
    <form method="post" action="${host}/users/sign_in"><input name="email" value="${administratorEmail}">
    <input name="password" value="${password}"><button>Attack</button></form>`;
  const { untrustedOrigin } = await startOtherServer(attack);
  const { page } = await site.visit({
    baseURL: host,
    signedIn: "by hand",
    allowedOrigins: [host, untrustedOrigin],
    expectedErrors: /Cross-Origin-Opener-Policy/,
  });
  const signedInAs = page.getByText(administratorEmail);
  // Before the visitor has the cookie of the form, and afterwards.
  for (const visited of ["/", "/users/sign_in"]) {
    await page.goto(visited);
    await page.goto(`${untrustedOrigin}/`);
    const answer = await answerTo(page, () => page.getByRole("button", { name: "Attack" }).click());
    const { origin, "sec-fetch-site": fetchSite } = await answer.request().allHeaders();
    expect([origin, fetchSite]).toEqual(["null", undefined]);
    expect(answer.status()).toBe(403);
    await page.goto("/");
    expect(await signedInAs.count()).toBe(0);
  }
  await page.goto("/users/sign_in");
  await page.locator("#email").fill(email);
  await page.locator("#password").fill(password);
  const answer = await answerTo(page, () => page.getByRole("button", { name: en.signIn.submit, exact: true }).click());
  expect((await answer.request().allHeaders()).origin).toBe("null");
  expect(answer.status()).toBe(303);
  await page.goto("/users/edit");
  expect(await page.getByText(email).count()).toBeGreaterThan(0);
});

describe("a session cookie", () => {
  it("does not authenticate API requests", async () => {
    const { context } = await site.visit({ signedIn: true });
    const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
    const { urlToken } = await site.push({ payload: "secret", deletable_by_viewer: false }, "owned");
    const asked = (path: string, method: string, push?: object) =>
      site.fetch(`/api/v2/pushes${path}`, {
        method,
        headers: { cookie, "content-type": "application/json" },
        ...(push === undefined ? {} : { body: JSON.stringify({ push }) }),
      });
    expect((await asked("/active", "GET")).status).toBe(401);
    expect((await asked(`/${urlToken}/audit`, "GET")).status).toBe(401);
    expect((await asked(`/${urlToken}`, "DELETE")).status).toBe(401);
    expect((await asked("", "POST", { files: [] })).status).toBe(401);
    const anonymous = await (await asked("", "POST", { payload: "nobody's" })).json();
    await expect(site.ownPush(anonymous.url_token)).rejects.toThrow("no such push");
  });
});
