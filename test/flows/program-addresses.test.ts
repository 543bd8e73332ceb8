import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { rawRequest } from "../support/raw-request.ts";

let app: TestApp;
let token: string;
let origin: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  origin = await app.listen();
});
afterAll(() => app[Symbol.asyncDispose]());

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

const ask = (method: Method, url: string, headers: Readonly<Record<string, string>> = {}) =>
  app.server.inject({ method, url, headers });

async function push(fields: object = {}): Promise<string> {
  const payload = { push: { payload: "x", ...fields } };
  const headers = { authorization: `Bearer ${token}` };
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

/** The remaining views, which every counted view reduces. */
const viewsLeft = async (urlToken: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const listed = (await ask("GET", "/api/v2/pushes/active", headers)).json();
  return listed.find((one: { url_token: string }) => one.url_token === urlToken)?.views_remaining;
};

const methods: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const member = ["DELETE", "GET", "HEAD"];
const read = ["GET", "HEAD"];

describe("on an API path, a wrong method gets 405 with the allowed methods, in JSON", () => {
  test.each<readonly [path: string, allowed: readonly string[]]>([
    ["/p.json", ["OPTIONS", "POST"]],
    ["/f.json", ["POST"]],
    ["/r.json", ["POST"]],
    ...["p", "f", "r"].flatMap((letter) => [
      [`/${letter}/T.json`, member] as const,
      [`/${letter}/T/preview.json`, read] as const,
      [`/${letter}/T/audit.json`, read] as const,
      [`/${letter}/active.json`, read] as const,
      [`/${letter}/expired.json`, read] as const,
    ]),
    ["/api", read],
    ["/api/v1/version", read],
    ["/api/v1/version.json", read],
    ["/api/v2/version", read],
    ["/api/sealpush", read],
    ["/api/sealpush/policy", read],
    ["/api/sealpush/presets", read],
    ["/api/v2/version.json", read],
    ["/api/v2/openapi.json", read],
    ["/api/v2/pushes", ["POST"]],
    ["/api/v2/pushes.json", ["POST"]],
    ["/api/v2/pushes/T", member],
    ["/api/v2/pushes/T.json", member],
    ["/api/v2/pushes/T/preview", read],
    ["/api/v2/pushes/T/preview.json", read],
    ["/api/v2/pushes/T/audit.json", read],
    ["/api/v2/pushes/active", read],
    ["/api/v2/pushes/active.json", read],
    ["/api/v2/pushes/expired.json", read],
  ])("%s: %j", async (path, allowed) => {
    const urlToken = await push();
    const url = `${path.replace("T", urlToken)}?locale=de`;
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      // The word "active" is a path of its own and not a push, so it cannot be deleted.
      if (method === "DELETE" && /active|expired/.test(path)) continue;
      const answer = await ask(method, url, { accept: "text/html", "sec-fetch-site": "cross-site" });
      const at = `${method} ${path}`;
      expect([at, answer.statusCode, answer.headers.allow]).toEqual([
        at,
        method === "OPTIONS" ? 204 : 405,
        allowed.join(", "),
      ]);
      if (method === "OPTIONS") continue;
      expect([at, answer.headers["content-type"]]).toEqual([at, "application/json; charset=utf-8"]);
      if (method !== "HEAD") expect(answer.json()).toEqual({ error: "That method is not allowed here." });
    }
    expect(await viewsLeft(urlToken)).toBe(5);
  });

  test("its body is not read", async () => {
    const urlToken = await push({ retrieval_step: false });
    for (const url of [`/p/${urlToken}.json`, `/f/${urlToken}.json`, `/r/${urlToken}.json`]) {
      const answer = await app.server.inject({ method: "POST", url, payload: { password: { payload: "y" } } });
      expect([url, answer.statusCode, answer.json()]).toEqual([
        url,
        405,
        { error: "That method is not allowed here." },
      ]);
    }
  });
});

test.each([
  "/p/.json",
  "/p/unknown/r.json",
  "/p/a/edit.json",
  "/xx/p/T.json",
  "/api/p/T",
  "/api/p/T/r",
  "/users/sign_in.json",
  "/users/x.json",
  "/admin/users.json",
  "/nothing.json",
  "/assets/nothing.json",
])("%s is 404 in JSON for every method", async (path) => {
  const url = path.replace("T", await push());
  // HEAD on a retrieval gets the same response for every token, including an empty one.
  const isUnseen = path === "/p/.json";
  for (const method of methods.filter((one) => one !== "HEAD" || !isUnseen)) {
    const answer = await ask(method, url, { accept: "text/html" });
    const at = `${method} ${path}`;
    expect([at, answer.statusCode, answer.headers.allow]).toEqual([at, 404, undefined]);
    expect([at, answer.headers["content-type"]]).toEqual([at, "application/json; charset=utf-8"]);
    if (method !== "HEAD") expect(answer.json()).toEqual({ error: "not-found" });
  }
});

describe("repeated slashes count as one, and a slash at the end as none", () => {
  test.each<[Method, string, number]>([
    ["GET", "/p/T/preview/", 200],
    ["GET", "//p//T//r", 200],
    ["GET", "/p/T.json/", 200],
    ["GET", "//p/T.json", 200],
    ["GET", "/api//v2/pushes/T/", 200],
    ["DELETE", "//api/v2/pushes/T/", 200],
    ["DELETE", "/f//T.json//", 200],
    ["POST", "//p.json", 201],
    ["POST", "/api/v2/pushes/", 201],
    ["GET", "/help/api/", 200],
    ["GET", "/api/", 200],
    ["GET", "//", 200],
    ["HEAD", "/users/sign_in/", 200],
    ["POST", "/p/T//r/", 200],
  ])("%s %s is %i, without a redirect", async (method, path, status) => {
    const urlToken = await push({ deletable_by_viewer: true });
    const body = path.includes("/api/") ? { push: { payload: "x" } } : { password: { payload: "x" } };
    const payload = method === "POST" && status === 201 ? body : undefined;
    const url = `${path.replace("T", urlToken)}?locale=ja&x=%2F%2Fa//`;
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await app.server.inject({ method, url, ...(payload ? { payload } : { headers: form }) });
    expect([answer.statusCode, answer.headers.location]).toEqual([status, undefined]);
  });

  test.each(["/\\evil.example/p/x/", "//evil.example/p/x/", "/\\/evil.example/", "http://evil.example/p/x/"])(
    "%s, which no browser sends, does not redirect to another host",
    async (target) => {
      const answer = await rawRequest(origin, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).not.toMatch(/^location:/im);
    },
  );
});

test("JSON may begin with a byte order mark on every path that accepts JSON", async () => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  for (const [url, wrapper] of [
    ["/api/v2/pushes", "push"],
    ["/p.json", "password"],
  ] as const) {
    const payload = `\ufeff${JSON.stringify({ [wrapper]: { payload: "\ufeffwith a mark" } })}`;
    const made = await app.server.inject({ method: "POST", url, headers, payload });
    expect(made.statusCode).toBe(201);
    const opened = await ask("GET", `/p/${made.json().url_token}.json`);
    expect(opened.json().payload).toBe("\ufeffwith a mark");
  }
});
