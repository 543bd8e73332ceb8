import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oldLocales } from "../../src/base/old-locales.ts";
import { oldAddresses, oldParameters } from "../../src/pages/old-addresses.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
let urlToken: string;
let apiToken: string;
let cookie: string;
beforeAll(async () => {
  app = await startTestApp();
  apiToken = await app.makeToken("owner@example.com", true);
  const payload = { push: { payload: "x", retrieval_step: false } };
  const made = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers: bearer(apiToken), payload });
  urlToken = made.json().url_token;
  cookie = (await signInClient(app, "owner@example.com")).cookie();
});
afterAll(() => app[Symbol.asyncDispose]());

async function locationOf(url: string, method: "GET" | "HEAD" = "GET"): Promise<string | undefined> {
  const answer = await app.server.inject({ method, url });
  // A browser must not keep a redirect of a server that may be replaced again.
  expect([url, answer.statusCode, answer.headers["cache-control"]]).toEqual([url, 301, "no-store"]);
  return answer.headers.location;
}

/** The status of the page that a signed-in administrator reaches, without opening a push. */
async function statusBehind(url: string): Promise<number> {
  let next = url;
  for (let hops = 0; hops < 5; hops += 1) {
    const method = next.startsWith(`/p/${urlToken}`) ? "HEAD" : "GET";
    const answer = await app.server.inject({ method, url: next, headers: { cookie } });
    if (answer.headers.location === undefined) return answer.statusCode;
    next = answer.headers.location;
    expect(next).toMatch(/^\/(?!\/)/);
  }
  throw new Error(`${url} redirects in a loop.`);
}

const withToken = (path: string) => path.replace(":token", urlToken).replace(":id", "7").replace("*", "a/b");
const joined = (path: string, query: string) => `${path}${path.includes("?") ? "&" : "?"}${query}`;

describe("each row of the table", () => {
  test.each(oldAddresses)("$from leads to $to with its query, with and without a locale", async ({ from, to }) => {
    const [old, target] = [withToken(from), withToken(to)];
    if (to.startsWith("/admin")) {
      const answer = await app.server.inject({ url: `${old}?x=1`, headers: { cookie } });
      expect([answer.statusCode, answer.headers.location]).toEqual([301, `${target}?x=1`]);
      expect(await locationOf(`/de${old}`)).toBe(`${target}?locale=de`);
      return;
    }
    expect(await locationOf(old)).toBe(target);
    expect(await locationOf(old, "HEAD")).toBe(target);
    expect(await locationOf(`${old}?x=%2F%2Fa%20b&y=a+b`)).toBe(joined(target, "x=%2F%2Fa%20b&y=a+b"));
    expect(await locationOf(`/de${old}?x=1&locale=fr`)).toBe(joined(target, "x=1&locale=de"));
    expect(await locationOf(`/pt-br${old}/`, "HEAD")).toBe(joined(target, "locale=pt-BR"));
    expect(await statusBehind(old)).toBe(200);
    const posted = await app.server.inject({ method: "POST", url: `/de${old}` });
    expect([posted.statusCode, posted.headers.location]).toEqual([404, undefined]);
  });

  test.each(oldParameters.flatMap((row) => Object.entries(row.values).map(([old, own]) => ({ ...row, old, own }))))(
    "$path?$from=$old",
    async ({ path, from, to, old, own }) => {
      const headers = { cookie };
      const moved = async (url: string) => (await app.server.inject({ url, headers })).headers.location;
      expect(await moved(`${path}?a=1&${from}=${old}`)).toBe(`${path}?a=1&${to}=${own}`);
      expect(await locationOf(`/ja${path}?${from}=${old}`)).toBe(`${path}?${to}=${own}&locale=ja`);
      expect(await moved(`${path}?${to}=${own}&${from}=${old}`)).toBeUndefined();
      expect(await moved(`${path}?${from}=other`)).toBeUndefined();
    },
  );

  test.each(oldLocales)("/%s", async (locale) => {
    expect(await locationOf(`/${locale}`)).toBe(`/?locale=${locale}`);
    expect(await locationOf(`/${locale.toLowerCase()}/api`)).toBe(`/api?locale=${locale}`);
    expect(await locationOf(`/${locale}/p/${urlToken}/r`)).toBe(`/p/${urlToken}/r?locale=${locale}`);
    expect(await statusBehind(`/${locale}`)).toBe(200);
  });

  test("the list has the 34 locales of Password Pusher", () => {
    expect(new Set(oldLocales).size).toBe(34);
  });
});

describe("by example", () => {
  test.each([
    ["/de", "/?locale=de"],
    ["/de/", "/?locale=de"],
    ["//de//api//", "/api?locale=de"],
    ["/en/p/new", "/p/new?locale=en"],
    ["/fr/f/new", "/p/new?kind=file&locale=fr"],
    ["/es/r/new", "/p/new?kind=url&locale=es"],
    ["/de/p/neu", "/p/new?locale=de"],
    ["/fr/f/nouveau", "/p/new?kind=file&locale=fr"],
    ["/ja/p/新しい", "/p/new?locale=ja"],
    ["/ja/p/%E6%96%B0%E3%81%97%E3%81%84", "/p/new?locale=ja"],
    ["/hi/r/%E0%A4%A8%E0%A4%AF%E0%A4%BE", "/p/new?kind=url&locale=hi"],
    ["/de/Benutzer/sign_in", "/users/sign_in?locale=de"],
    ["/fr/utilisateurs/sign_up", "/users/sign_up?locale=fr"],
    ["/de/Benutzer/password/neu", "/users/password/new?locale=de"],
    [
      "/de/Benutzer/password/bearbeiten?reset_password_token=t",
      "/users/password/edit?reset_password_token=t&locale=de",
    ],
    ["/en/users/password/edit?reset_password_token=t", "/users/password/edit?reset_password_token=t&locale=en"],
    ["/ja/%E3%83%A6%E3%83%BC%E3%82%B6%E3%83%BC/confirmation/x", "/users/confirmation/new?locale=ja"],
    ["/en/users/confirmation?confirmation_token=t", "/users/confirmation?confirmation_token=t&locale=en"],
    ["/en/users/unlock?unlock_token=t", "/users/sign_in?unlock_token=t&locale=en"],
    ["/pl/u%C5%BCytkownicy/token", "/users/token?locale=pl"],
    ["/en/users/edit", "/users/edit?locale=en"],
    ["/de/Seiten/about", "/about?locale=de"],
    ["/nl/Pagina's/api", "/help/api?locale=nl"],
    ["/de/etwas/ganz/anderes", "/?locale=de"],
    ["/de/%2F%2Fevil.example", "/?locale=de"],
    ["/de/%5Cevil.example", "/?locale=de"],
    ["/de//evil.example", "/?locale=de"],
    ["/de/de/de", "/?locale=de"],
    ["/de/api/v2/pushes/active", "/api?locale=de"],
    ["/de/Benutzer/bearbeiten", "/users/edit?locale=de"],
    ["/ko/%EC%82%AC%EC%9A%A9%EC%9E%90/%ED%8E%B8%EC%A7%91%ED%95%98%EB%8B%A4", "/users/edit?locale=ko"],
    [
      "/hi/%E0%A4%89/%E0%A4%B8%E0%A4%82%E0%A4%AA%E0%A4%BE%E0%A4%A6%E0%A4%A8%20%E0%A4%95%E0%A4%B0%E0%A4%A8%E0%A4%BE",
      "/users/edit?locale=hi",
    ],
    ["/de/Benutzer/sign_in.html", "/users/sign_in?locale=de"],
    ["/de/p/neu.html", "/p/new?locale=de"],
    ["/pages/terms", "/"],
    ["/feedbacks.html", "/"],
    ["/users/unlock/new", "/users/sign_in"],
    ["/fr/admin/custom_css/edit", "/admin/look?locale=fr"],
    ["/user/two_factor/verify", "/users/second_factor"],
    ["/favicon.ico", "/assets/favicon.svg"],
  ])("%s leads to %s", async (url, target) => {
    expect(await locationOf(encodeURI(decodeURI(url)))).toBe(target);
  });

  test.each(["/f/TOKEN", "/r/TOKEN", "/zh-cn/p/TOKEN", "/pt-PT/f/TOKEN"])("%s leads to the push", async (url) => {
    expect(await locationOf(url.replace("TOKEN", urlToken))).toMatch(
      new RegExp(`^/p/${urlToken}(?:\\?locale=(?:zh-CN|pt-PT))?$`),
    );
  });

  test("a locale of another region is shown in the language that is nearest", async () => {
    const page = await app.server.inject({ url: "/users/sign_in?locale=pt-PT", headers: { "accept-language": "de" } });
    expect(page.body).toContain('lang="pt-BR"');
  });

  test.each(["/xx", "/english", "/xx/p/new", "/nothing", "/de.json", "//evil.example/de", "/f/%2F%2Fevil.example"])(
    "%s is not redirected",
    async (url) => {
      const answer = await app.server.inject({ url });
      expect([answer.statusCode, answer.headers.location]).toEqual([404, undefined]);
    },
  );

  test.each(["/de/user/two_factor", "/de/p/active", "/de/p/TOKEN/audit", "/de/users/edit"])(
    "%s keeps its language on the sign-in page",
    async (url) => {
      const page = await locationOf(url.replace("TOKEN", urlToken));
      const signIn = (await app.server.inject({ url: page ?? "" })).headers.location ?? "";
      expect(signIn).toBe(`/users/sign_in?next=${encodeURIComponent(page ?? "")}&locale=de`);
      expect((await app.server.inject({ url: signIn })).body).toContain('<html lang="de"');
    },
  );

  test("a page has the same address with .html at the end", async () => {
    for (const path of ["/p/new", "/users/sign_in", `/p/${urlToken}/preview`, "/help/api"]) {
      const [plain, ended] = await Promise.all([path, `${path}.html`].map((url) => app.server.inject({ url })));
      expect([path, ended?.statusCode, plain?.statusCode]).toEqual([path, 200, 200]);
    }
  });

  test("a link with .html at the end is unknown, and never a retrieval", async () => {
    const payload = { push: { payload: "x", expire_after_views: 3 } };
    const made = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload });
    const { url_token: unopened } = made.json();
    for (const letter of ["p", "f", "r"]) {
      for (const path of [
        `/${letter}/${unopened}.html`,
        `/${letter}/${unopened}/r.html`,
        `/de/${letter}/${unopened}.html`,
        `/${letter}/${unopened}.json.html`,
        `/api/v2/pushes/${unopened}.html`,
      ]) {
        for (const accept of ["text/html", "application/json"]) {
          const answer = await app.server.inject({ url: path, headers: { accept } });
          expect([path, answer.statusCode]).toEqual([path, 404]);
          const posted = await app.server.inject({ method: "POST", url: path, headers: { accept } });
          expect([404, 405]).toContain(posted.statusCode);
        }
      }
    }
    const opened = await app.server.inject({ url: `/api/v2/pushes/${unopened}` });
    expect(opened.json()).toMatchObject({ payload: "x", views_remaining: 2 });
  });

  test("the database explorer of an administrator does not exist for others", async () => {
    await app.makeToken("plain@example.com");
    const plain = (await signInClient(app, "plain@example.com")).cookie();
    const asPlain = await app.server.inject({ url: "/madmin/pushes/3", headers: { cookie: plain } });
    expect(asPlain.statusCode).toBe(404);
    const asAdmin = await app.server.inject({ url: "/madmin/pushes/3", headers: { cookie } });
    expect([asAdmin.statusCode, asAdmin.headers.location]).toEqual([301, "/admin/pushes"]);
  });

  test("the redirects count no view", async () => {
    for (const url of ["/f/T", "/de/p/T", "/de/r/T/r", "/p/T/passphrase", "/p/T/print_preview"]) {
      await locationOf(url.replace("T", urlToken));
    }
    const listed = (await app.server.inject({ url: "/api/v2/pushes/active", headers: bearer(apiToken) })).json();
    expect(listed[0]).toMatchObject({ url_token: urlToken, views_remaining: 5 });
  });

  test.each(["/users/sign_in", "/users/sign_up", "/users/sign_in?next=/users/sign_in"])(
    "%s leads somebody who is signed in to the start page",
    async (url) => {
      const answer = await app.server.inject({ url, headers: { cookie } });
      expect([answer.statusCode, answer.headers.location]).toEqual([303, "/"]);
    },
  );
});

describe("an address of a file in Password Pusher", () => {
  test.each([
    `/pfb/blobs/redirect/${"eyJfcmFpbHMiOnsi".repeat(20)}--4f0a/report.pdf`,
    "/pfb/disk/eyJfcmFpbHMiOnsi/data.json?content_type=application%2Fjson",
    "/rails/active_storage/blobs/proxy/eyJ=--4f0a/%E3%81%82%20b.html",
  ])("%s says what happened and what to do", async (url) => {
    const german = { "accept-language": "de" };
    const answer = await app.server.inject({ url, headers: german });
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([410, "text/html; charset=utf-8"]);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store" });
    expect(answer.body).toContain("Dieser Link zu einer Datei funktioniert nicht mehr");
    expect(answer.body).not.toContain("eyJfcmFpbHMiOnsi");
    const other = await app.server.inject({ url: "/pfb/other", headers: german });
    expect(other.body).toBe(answer.body);
    expect((await app.server.inject({ method: "HEAD", url })).statusCode).toBe(410);
  });
});

describe("API v1 behind a locale", () => {
  test("answers as without the locale", async () => {
    const create = async (url: string, headers: Record<string, string> = {}) =>
      (await app.server.inject({ method: "POST", url, headers, payload: { password: { payload: "quartz" } } })).json();
    const { url_token: token } = await create("/de/p.json");
    expect((await create("/pt-br/p", { accept: "application/json" })).url_token).toBeDefined();
    const preview = await app.server.inject(`/de/p/${token}/preview.json`);
    expect(preview.json().url).toContain(`/p/${token}`);
    for (const [url, accept, left] of [
      [`/de/p/${token}.json`, "*/*", 4],
      [`//zh-CN/f/${token}.json`, "*/*", 3],
      [`/fr/p/${token}`, "application/json", 2],
    ] as const) {
      const { statusCode, body } = await app.server.inject({ url, headers: { accept } });
      expect([url, statusCode, JSON.parse(body)]).toMatchObject([
        url,
        200,
        { payload: "quartz", views_remaining: left },
      ]);
    }
    const listed = await app.server.inject({ url: "/es/p/active.json", headers: bearer(apiToken) });
    expect(listed.json()[0].url_token).toBe(urlToken);
    expect((await app.server.inject({ url: "/es/p/active.json", headers: { cookie } })).statusCode).toBe(401);
    const deleted = await app.server.inject({ method: "DELETE", url: `/de/p/${token}.json` });
    expect(deleted.json()).toMatchObject({ deleted: true });
    const unknown = await app.server.inject(`/xx/p/${token}.json`);
    expect([unknown.statusCode, unknown.json()]).toEqual([404, { error: "not-found" }]);
  });
});

describe("an address that only a form is sent to leads to the page with the form", () => {
  test.each([
    ["/p/TOKEN/expire", "/p/TOKEN/r"],
    ["/pushes/delete", "/p"],
    ["/users/edit/password?x=1", "/users/edit"],
    ["/users/edit/sessions/7/end", "/users/edit"],
    ["/users/token/7/revoke", "/users/token"],
    ["/users/factors/passkeys/7/remove", "/users/factors"],
    ["/users/sign_in/passkey", "/users/sign_in"],
    ["/users/auth/oidc", "/users/sign_in"],
    ["/requests/TOKEN/close", "/requests/TOKEN/answers"],
    ["/admin/users/7/demote", "/admin/users/7"],
    ["/admin/look/logo/reset", "/admin/look"],
    ["/de/users/edit/password?x=1", "/users/edit?x=1&locale=de"],
    ["/de/p/TOKEN/expire", "/p/TOKEN/r?locale=de"],
  ])("%s leads to %s", async (url, target) => {
    const withOwn = (path: string) => path.replace("TOKEN", urlToken);
    expect(await locationOf(withOwn(url))).toBe(withOwn(target));
    expect(await locationOf(withOwn(url), "HEAD")).toBe(withOwn(target));
  });

  test("another method, and an address of programs, gets 405", async () => {
    const asked = [
      ["PUT", "/users/edit/password"],
      ["GET", "/uploads"],
      ["GET", "/theme"],
      ["GET", "/p.json"],
    ] as const;
    for (const [method, url] of asked) {
      const answer = await app.server.inject({ method, url });
      expect([url, answer.statusCode, answer.headers.location]).toEqual([url, 405, undefined]);
    }
  });
});
