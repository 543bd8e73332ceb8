import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CreatePushFields } from "../../src/http/push-fields.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { commonAnswer, commonKeys } from "../support/push-answers.ts";
import { signInClient } from "../support/signed-in-client.ts";

let app: TestApp;
let token: string;
let otherToken: string;
let adminToken: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  otherToken = await app.makeToken("other@example.com");
  adminToken = await app.makeToken("admin@example.com", true);
});
afterAll(() => app[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

const get = (url: string, headers: Headers = {}) => app.server.inject({ url, headers });
const remove = (url: string, headers: Headers = {}) => app.server.inject({ method: "DELETE", url, headers });
const post = (url: string, payload: string | object, headers: Headers = {}) =>
  app.server.inject({ method: "POST", url, headers, payload });

async function made(url: string, payload: string | object, headers: Headers = {}) {
  const answer = await post(url, payload, headers);
  expect([answer.statusCode, answer.body]).toEqual([201, expect.any(String)]);
  return answer.json();
}

const urlencoded = { "content-type": "application/x-www-form-urlencoded" };
const multipart = { "content-type": "multipart/form-data; boundary=b" };
const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, filename: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n${content}\r\n`;
const end = "--b--\r\n";

const kindOf = async (urlToken: string) => (await get(`/api/v2/pushes/${urlToken}`)).json().kind;

describe("keys of the responses", () => {
  test("a created push has exactly the keys of v1", async () => {
    const push = await made(
      "/p.json",
      { password: { payload: "secret", passphrase: "open", name: "n", note: "o" } },
      bearer(token),
    );
    expect(Object.keys(push).sort()).toEqual([...commonKeys, "name", "note"].sort());
    expect(push).toEqual({
      ...commonAnswer(push.url_token),
      name: "n",
      note: "o",
    });
  });

  test("fields of v2 alone are ignored, whatever is in them", async () => {
    const unknown = [
      { notify_emails_to: "x" },
      { notify_emails_to_locale: "de" },
      { encryption: "x" },
      { encryption_check: "x" },
      { expires_at: "x" },
      { fields: "x" },
      { preset: "x" },
      { sender_shown: true },
    ];
    for (const fields of unknown) {
      const push = await made("/p.json", { password: { payload: "x", ...fields } }, bearer(token));
      expect(Object.keys(push).sort()).toEqual([...commonKeys, "name", "note"].sort());
    }
  });

  test("retrieved, listed, deleted and ended pushes, previews and audit trails have exactly the keys of v1", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x" } }, bearer(token));
    const keysAt = async (url: string, headers: Headers = {}) => Object.keys((await get(url, headers)).json()).sort();
    expect(await keysAt(`/p/${url_token}.json`)).toEqual([...commonKeys, "files", "payload"].sort());
    expect(await keysAt(`/p/${url_token}/preview.json`)).toEqual(["url"]);
    const audit = (await get(`/p/${url_token}/audit.json`, bearer(token))).json();
    expect(Object.keys(audit)).toEqual(["views"]);
    expect(Object.keys(audit.views[0]).sort()).toEqual(
      ["created_at", "ip", "kind", "referrer", "updated_at", "user_agent"].sort(),
    );
    const [listed] = (await get("/p/active.json", bearer(token))).json();
    expect(Object.keys(listed).sort()).toEqual([...commonKeys, "name", "note"].sort());
    const ended = (await remove(`/p/${url_token}.json`, bearer(token))).json();
    expect(Object.keys(ended).sort()).toEqual([...commonKeys].sort());
    expect(await keysAt(`/p/${url_token}.json`)).toEqual([...commonKeys, "files", "payload"].sort());
  });

  test.each(["/api/v1/version.json", "/api/v1/version"])("%s ignores an invalid token", async (url) => {
    const answer = await get(url, bearer("nonsense"));
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { application_version: "0.0.0-test", api_version: "1.5", edition: "oss" },
    ]);
  });
});

describe("kinds of push", () => {
  test.each([
    ["/p.json", { payload: "x" }, "text"],
    ["/p.json", { payload: "x", kind: "qr" }, "qr"],
    ["/p.json", { payload: "https://example.com/", kind: "url" }, "url"],
    ["/r.json", { payload: "https://example.com/" }, "url"],
    ["/r.json", { payload: "https://example.com/", kind: "text" }, "url"],
  ])("POST %s with %j creates a %s push", async (url, fields, kind) => {
    for (const wrapper of ["password", "file_push", "url", "file"]) {
      expect(await kindOf((await made(url, { [wrapper]: fields })).url_token)).toBe(kind);
    }
  });

  test.each(["/p.json", "/f.json"])("POST %s with files creates a file push, under every wrapper", async (url) => {
    for (const wrapper of ["password", "file_push", "url", "file"]) {
      const body = `${field(`${wrapper}[payload]`, "")}${file(`${wrapper}[files][]`, "a.txt", "hello")}${end}`;
      const { url_token } = await made(url, body, { ...multipart, ...bearer(token) });
      const opened = (await get(`/f/${url_token}.json`)).json();
      expect(opened.files).toEqual([{ filename: "a.txt", content_type: "text/plain", url: expect.any(String) }]);
      expect((await get(new URL(opened.files[0].url).pathname)).body).toBe("hello");
      expect(await kindOf(url_token)).toBe("file");
    }
  });

  test("POST /f.json without a file is answered with 422 on files", async () => {
    const answer = await post("/f.json", { file_push: { payload: "x" } }, bearer(token));
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([422, ["files"]]);
  });

  test.each([
    ["/f.json", { file_push: { payload: "x" } }],
    ["/f.json", { password: { payload: "x", kind: "text" } }],
    ["/p.json", { password: { payload: "x", kind: "file" } }],
    ["/p.json", { password: { payload: "x", files: [] } }],
    ["/r.json", { url: { payload: "https://example.com/", files: [{}] } }],
  ])("creating a file push needs a token: %s %j", async (url, body) => {
    const answer = await post(url, body);
    expect([answer.statusCode, answer.json()]).toEqual([401, { error: expect.stringContaining("token") }]);
  });

  test("viewers may not delete a url push, even if deletable_by_viewer is sent", async () => {
    const push = await made("/r.json", { url: { payload: "https://example.com/", deletable_by_viewer: true } });
    expect(push.deletable_by_viewer).toBeNull();
    expect((await get(`/r/${push.url_token}.json`)).json().deletable_by_viewer).toBeNull();
    const named = await made("/p.json", {
      password: { payload: "https://example.com/", kind: "url", deletable_by_viewer: "on" },
    });
    for (const { url_token } of [push, named]) {
      expect((await remove(`/r/${url_token}.json`)).statusCode).toBe(401);
      expect((await get(`/api/v2/pushes/${url_token}`)).json().deletable_by_viewer).toBe(false);
    }
  });
});

describe("request bodies", () => {
  const fields: readonly (readonly [string, string])[] = [
    ["password[payload]", "a b&é"],
    ["password[expire_after_views]", "3"],
    ["password[retrieval_step]", "True"],
  ];
  const form = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();

  test.each([
    ["JSON", { "content-type": "application/json" }, '{"password":{"payload":"a b&é","expire_after_views":3}}'],
    ["urlencoded", urlencoded, form],
    ["urlencoded with a charset", { "content-type": `${urlencoded["content-type"]}; charset=UTF-8` }, form],
    ["multipart without files", multipart, `${fields.map(([name, value]) => field(name, value)).join("")}${end}`],
  ])("a body as %s creates a push", async (_, headers, payload) => {
    const push = await made("/p.json", payload, headers);
    expect(push).toMatchObject({ expire_after_views: 3, retrieval_step: true });
    expect((await get(`/p/${push.url_token}.json`)).json().payload).toBe("a b&é");
  });

  test.each([
    ["an empty body", "", {}],
    ["an empty JSON body", "", { "content-type": "application/json" }],
    ["null", "null", { "content-type": "application/json" }],
    ["no wrapper", '{"payload":"x"}', { "content-type": "application/json" }],
    ["another wrapper", '{"push":{"payload":"x"}}', { "content-type": "application/json" }],
    ["a wrapper that is a text", "password=x", urlencoded],
    ["JSON that is cut off", '{"password":', { "content-type": "application/json" }],
  ])("%s is answered with 400", async (_, payload, headers) => {
    for (const url of ["/p.json", "/f.json", "/r.json"]) {
      const answer = await post(url, payload, { ...headers, ...bearer(token) });
      expect([answer.statusCode, answer.json()]).toEqual([400, { error: expect.any(String) }]);
    }
  });

  test("errors of fields are answered as a map from field to messages", async () => {
    const answer = await post("/p.json", { password: { payload: "", expire_after_days: 91 } });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({ payload: [expect.any(String)], expire_after_days: [expect.any(String)] });
  });

  test.each([
    ["/p.json", "password", "v1CreatePassword"],
    ["/f.json", "file_push", "v1CreateFilePush"],
    ["/r.json", "url", "v1CreateUrl"],
  ])("POST %s takes the fields that GET /api lists, and no others", async (url, wrapper, id) => {
    const fields = Object.fromEntries(Object.keys(CreatePushFields.properties).map((name) => [name, {}]));
    const { body } = await get("/api");
    const section = body.slice(body.indexOf(`aria-labelledby="${id}"`)).split("</section>")[0] ?? "";
    const listed = section.slice(section.indexOf(`Fields of ${wrapper}<`));
    const named = [...listed.matchAll(/<dt><code>(\w+)<\/code> <span class="api-type[^"]*">([^<]*)</g)];
    const loose = named.filter(([, , type]) => type === "boolean").map(([, name]) => name);
    expect(loose).toEqual([
      ...(url === "/r.json" ? [] : ["deletable_by_viewer"]),
      ...["retrieval_step", "notify_on_view"],
    ]);
    // Every value is a boolean, and no object is any other type.
    const answer = await post(url, { [wrapper]: fields }, bearer(token));
    expect(answer.statusCode).toBe(422);
    const strict = named.map(([, name]) => name).filter((name) => !loose.includes(name));
    expect(Object.keys(answer.json()).sort()).toEqual(strict.sort());
  });

  test.each(["GET", "DELETE"] as const)("%s may have a content type and an empty or null body", async (method) => {
    for (const payload of ["", "null"]) {
      const { url_token } = await made("/p.json", { password: { payload: "x" } });
      const headers = { "content-type": "application/json" };
      expect((await app.server.inject({ method, url: `/p/${url_token}.json`, headers, payload })).statusCode).toBe(200);
    }
  });
});

describe("retrieving a push", () => {
  test("retrievals by the owner and by an administrator are audited but not counted", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x", expire_after_views: 2 } }, bearer(token));
    for (const given of [token, adminToken]) {
      expect((await get(`/p/${url_token}.json`, bearer(given))).json()).toMatchObject({
        payload: "x",
        views_remaining: 2,
      });
    }
    for (const left of [1, 0]) {
      const headers = left === 1 ? bearer(otherToken) : {};
      expect((await get(`/p/${url_token}.json`, headers)).json().views_remaining).toBe(left);
    }
    expect((await get(`/p/${url_token}.json`)).json()).toMatchObject({ payload: null, files: [], expired: true });
    const { views } = (await get(`/p/${url_token}/audit.json`, bearer(token))).json();
    expect(views.map((view: { kind: string }) => view.kind)).toEqual([
      "creation",
      "owner_view",
      "admin_view",
      "view",
      "view",
      "failed_view",
    ]);
  });

  test.each([
    ["raw", "!@$:/?;,'()*~", "!@$:/?;,'()*~"],
    ["percent-encoded", "a b+é&#%=😀", encodeURIComponent("a b+é&#%=😀")],
    ["percent-encoded with plus for a blank", "two words", "two+words"],
  ])("accepts the passphrase in the query: %s", async (_, passphrase, inUrl) => {
    const { url_token } = await made("/p.json", { password: { payload: "x", passphrase } });
    const refused = await get(`/p/${url_token}.json?passphrase=wrong`);
    expect([refused.statusCode, refused.json().error]).toEqual([401, "That passphrase is incorrect."]);
    expect((await get(`/p/${url_token}.json?passphrase=${inUrl}`)).json().payload).toBe("x");
  });

  test("every response is JSON, whatever Accept says", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x" } });
    const html = { accept: "text/html" };
    const answers = await Promise.all([
      get(`/p/${url_token}.json`, html),
      get(`/p/${url_token}/preview.json`, html),
      get("/p/unknown.json", html),
      get("/p/a%20b.json", html),
      get("/p/active.json", html),
      get(`/p/${url_token}.json`, { ...html, ...bearer("nonsense") }),
      get(`/p/${url_token}/audit.json`, { ...html, ...bearer(token) }),
      get("/p.json", html),
      post("/p.json", "x", { ...html, "content-type": "text/plain" }),
    ]);
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 404, 404, 401, 401, 403, 405, 415]);
    for (const answer of answers) {
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.json()).toBeTypeOf("object");
    }
  });

  test.each(["text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "", "*/*, application/json", "application/json;q=0"])(
    "the path without .json is a page that does not reveal the payload: Accept %j",
    async (accept) => {
      const { url_token } = await made("/p.json", { password: { payload: "opened-by-nobody" } });
      for (const path of [`/p/${url_token}`, `/p/${url_token}/r`]) {
        const answer = await get(path, { accept });
        expect(answer.headers["content-type"]).toContain("text/html");
        expect(answer.body).not.toContain("opened-by-nobody");
      }
    },
  );

  test.each([
    "application/json",
    "application/json, text/plain, */*",
    "text/html;q=0.5, application/json",
    "APPLICATION/JSON",
  ])("the path without .json is a retrieval if the client asks for JSON: Accept %j", async (accept) => {
    const { url_token } = await made("/p.json", { password: { payload: "x", passphrase: "open" } }, bearer(token));
    const wrong = await get(`/p/${url_token}?passphrase=wrong`, { accept });
    expect([wrong.statusCode, wrong.json().status]).toEqual([401, "unauthorized"]);
    const counted = await get(`/p/${url_token}/r?passphrase=open`, { accept });
    expect(counted.json()).toMatchObject({ payload: "x", views_remaining: 4 });
    const owners = await get(`/p/${url_token}/?passphrase=open`, { accept, ...bearer(token) });
    expect(owners.json()).toMatchObject({ payload: "x", views_remaining: 4 });
    expect((await get(`/p/${url_token}`, { accept, ...bearer("nonsense") })).statusCode).toBe(401);
  });

  test("every address of API v1 without .json is that address if the client asks for JSON", async () => {
    const json = { accept: "application/json" };
    const owner = { ...json, ...bearer(token) };
    for (const [path, wrapper] of [
      ["/p", "password"],
      ["/r", "url"],
    ] as const) {
      const answer = await post(path, { [wrapper]: { payload: "https://a.example" } }, owner);
      expect([path, answer.statusCode, answer.headers.location]).toEqual([path, 201, undefined]);
      const link = `${path}/${answer.json().url_token}`;
      expect((await get(`${link}/preview`, json)).json()).toEqual({ url: answer.json().html_url });
      expect((await get(`${link}/audit`, json)).statusCode).toBe(401);
      expect((await get(`${link}/audit`, owner)).json().views).toHaveLength(1);
      expect((await get(`${path}/active`, owner)).json()[0].url_token).toBe(answer.json().url_token);
      expect((await get(link, json)).json().payload).toBe("https://a.example");
      expect((await remove(link, json)).statusCode).toBe(path === "/p" ? 200 : 401);
    }
    // Without the header these addresses are pages, whose forms no other site may send.
    expect((await post("/p", { password: { payload: "x" } }, { accept: "*/*" })).headers["content-type"]).toContain(
      "text/html",
    );
  });

  test("a cookie does not authenticate where JSON is asked for", async () => {
    const { cookie } = await signInClient(app, "owner@example.com");
    const headers = { accept: "application/json", cookie: cookie() };
    expect((await get("/p/active", headers)).statusCode).toBe(401);
    const created = await post("/p", { password: { payload: "x" } }, headers);
    const audit = await get(`/p/${created.json().url_token}/audit.json`, bearer(token));
    expect([created.statusCode, audit.statusCode]).toEqual([201, 403]);
  });

  test("a recognised robot that asks for JSON counts no view", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x", retrieval_step: false } });
    const robot = await get(`/p/${url_token}`, { accept: "application/json", "user-agent": "Slackbot 1.0" });
    expect(robot.headers["content-type"]).toContain("text/html");
    expect((await get(`/p/${url_token}.json`)).json().views_remaining).toBe(4);
  });

  test("a cookie does not authenticate", async () => {
    const answer = await get("/p/active.json", { cookie: "session=x; __Host-session=x" });
    expect(answer.statusCode).toBe(401);
  });
});
