import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type InventoryRow, inventoryRows } from "../support/route-inventory.ts";

let app: TestApp;
beforeAll(async () => {
  // Some routes exist only if the server sends email.
  const mails = { PWP__MAIL__SMTP_ADDRESS: "127.0.0.1", PWP__OVERRIDE_BASE_URL: "http://127.0.0.1:5100" };
  app = await startTestApp({ environment: mails });
});
afterAll(() => app[Symbol.asyncDispose]());

test("the routes are exactly these", () => {
  const isTwin = (pattern: string) =>
    /^\/api\/(v2\/|sealpush[/.])/.test(pattern) && pattern.endsWith(".json") && !pattern.endsWith("openapi.json");
  const actual = app.app.routes
    .filter(({ method, pattern }) => method !== "HEAD" && !isTwin(pattern))
    .map(({ method, pattern, access, changesState, retrieval, scope, streamsFiles }) => ({
      method,
      pattern,
      access,
      flags: [
        ...(changesState ? ["changes"] : []),
        ...(retrieval ? ["retrieval"] : []),
        ...(scope === null ? [] : [`scope:${scope}`]),
        ...(streamsFiles ? ["streams"] : []),
      ],
    }));
  const byAddress = (a: InventoryRow, b: InventoryRow) =>
    `${a.pattern} ${a.method}` < `${b.pattern} ${b.method}` ? -1 : 1;
  expect(actual.toSorted(byAddress)).toEqual(inventoryRows.toSorted(byAddress));
});

test("every v2 route also exists with .json, under the same rules", () => {
  const { routes } = app.app;
  for (const route of routes.filter(({ pattern }) => /^\/api\/v2\/.*(?<!\.json)$/.test(pattern))) {
    expect(routes).toContainEqual({ ...route, pattern: `${route.pattern}.json` });
  }
});

const keepTyped = ["POST /p/1/edit", "POST /requests"];

test("a route that needs credentials reveals nothing without them", async () => {
  for (const { method, pattern, access } of app.app.routes) {
    const url = pattern.replace(/:[a-z_]+/g, "1");
    const answer = await app.server.inject({
      method: method as "GET",
      url,
      headers: { "sec-fetch-site": "same-origin" },
    });
    const at = `${method} ${url}`;
    if (access === "api_token" || access === "api_requester") expect([at, answer.statusCode]).toEqual([at, 401]);
    // A redirect would lose what was typed in these forms.
    else if (keepTyped.includes(at)) expect([at, answer.statusCode]).toEqual([at, 401]);
    else if (access === "page_session" || access === "page_requester")
      expect([at, answer.statusCode]).toEqual([at, 303]);
    else expect([at, answer.statusCode < 500]).toEqual([at, true]);
  }
});

test("no page accepts a cross-site state change, for any user", async () => {
  for (const { method, pattern, access, changesState } of app.app.routes) {
    if (!access.startsWith("page") || !changesState) continue;
    const url = pattern.replace(/:[a-z_]+/g, "1");
    const answer = await app.server.inject({
      method: method as "POST",
      url,
      headers: { "sec-fetch-site": "cross-site" },
    });
    expect([url, answer.statusCode]).toEqual([url, 403]);
  }
});

test("only POST and DELETE, and the retrievals of the API, change state", () => {
  for (const { method, pattern, access, changesState, retrieval } of app.app.routes) {
    const reads = ["GET", "HEAD", "OPTIONS"].includes(method);
    if (reads && changesState) expect([pattern, access, retrieval]).toEqual([pattern, "api", true]);
    // What another app shares is only shown: that request cannot carry a form token.
    if (!reads) expect([pattern, changesState]).toEqual([pattern, pattern !== "/share"]);
  }
});
