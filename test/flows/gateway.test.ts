import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, password, startTestApp, type TestApp } from "../support/app.ts";
import { makeClientProgram } from "../support/client-program.ts";

const unthrottled = { PWP__THROTTLING__SECOND: "unlimited", PWP__THROTTLING__MINUTE: "unlimited" };
const publicUrl = "https://open.example.com";
const privateUrl = "https://push.internal.example";
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

interface Gateway {
  readonly app: TestApp;
  readonly origin: string;
}

/** One process with a gateway on a second port. */
async function startGateway(environment: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const app = await startTestApp({ environment: { ...unthrottled, PWP__PUBLIC_GATEWAY_PORT: "0", ...environment } });
  const { gateway } = app.app;
  if (gateway === undefined) throw new Error("There is no second listener.");
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  return { app, origin: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` };
}

/** Everything that a gateway serves. A change here opens something to the internet. */
const recipientPaths = [
  ...["p", "f", "r"].flatMap((kind) => [`/${kind}/:url_token.json`, `/${kind}/:token/passphrase`]),
  ...["f", "r"].flatMap((kind) => [`/${kind}/:token`, `/${kind}/:token/r`]),
  "/p/:token",
  "/p/:token/r",
  "/p/:token/expire",
  "/api/v2/pushes/:url_token",
  "/api/v2/pushes/:url_token.json",
  "/api/v2/pushes/:url_token/preview",
  "/api/v2/pushes/:url_token/preview.json",
  "/requests/:token",
  "/api/sealpush/requests/:url_token",
  "/api/sealpush/requests/:url_token.json",
  "/pfb/*",
  "/rails/active_storage/*",
  "/files/:ticket",
  "/files/:ticket/view",
  "/files/zip/:tickets",
  "/up",
  "/favicon.ico",
  "/apple-touch-icon.png",
  "/apple-touch-icon-precomposed.png",
  "/about",
  "/robots.txt",
  "/scripts.json",
  "/assets/:name",
  "/branding/:filename",
];

async function create(app: TestApp, push: object, headers = {}) {
  const url = "/api/v2/pushes";
  const created = await app.server.inject({ method: "POST", url, payload: { push }, headers });
  expect(created.statusCode).toBe(201);
  return created.json() as { readonly url_token: string; readonly html_url: string; readonly json_url: string };
}

describe("the gateway on a second port", () => {
  let running: Gateway;
  beforeAll(async () => {
    running = await startGateway();
  });
  afterAll(() => running.app[Symbol.asyncDispose]());

  test("serves the routes of recipients alone", () => {
    const served = running.app.app.routes.filter(({ group }) => group === "recipient").map(({ pattern }) => pattern);
    expect([...new Set(served)].sort()).toEqual([...recipientPaths].sort());
  });

  test("answers 404 to every other route, whatever the method, also to an administrator", async () => {
    const token = await running.app.makeToken("ada@example.com", true);
    const { routes } = running.app.app;
    const hidden = routes.filter(({ group }) => group !== "recipient");
    const others = new Set(hidden.map(({ pattern }) => pattern));
    expect(others.size).toBeGreaterThan(100);
    for (const pattern of others) {
      // A path such as /p/active has the shape of a recipient's, which is not what the route would answer.
      const path = pattern.replace(/:[a-z_]+/g, "1");
      // A path that recipients request by other methods exists, and names those alone.
      const isShared = recipientPaths.includes(pattern);
      const tried = isShared
        ? hidden.filter((route) => route.pattern === pattern).map(({ method }) => method)
        : methods;
      const expected = isShared ? [405, "GET, HEAD, POST"] : [404, null];
      for (const method of tried) {
        const answer = await fetch(`${running.origin}${path}`, {
          method,
          redirect: "manual",
          headers: { ...bearer(token), "sec-fetch-site": "same-origin" },
        });
        await answer.arrayBuffer();
        const seen = [answer.status, answer.headers.get("allow")];
        expect([method, pattern, ...seen]).toEqual([method, pattern, ...expected]);
      }
    }
  });

  test("opens, downloads and deletes pushes", async () => {
    const { app, origin } = running;
    const text = await create(app, { payload: "quartz", retrieval_step: true });
    const step = await (await fetch(`${origin}/p/${text.url_token}/r`)).text();
    expect(step).not.toContain("quartz");
    const opened = await fetch(`${origin}/p/${text.url_token}/r`, { method: "POST", body: new URLSearchParams() });
    expect(await opened.text()).toContain("quartz");

    const token = await app.makeToken("eve@example.com");
    const files = [{ filename: "a.txt", content_type: "text/plain", data: Buffer.from("lantern").toString("base64") }];
    const file = await create(app, { kind: "file", files }, bearer(token));
    const retrieved = (await (await fetch(`${origin}/api/v2/pushes/${file.url_token}`)).json()) as {
      readonly files: readonly { readonly url: string }[];
    };
    const download = new URL(retrieved.files[0]?.url ?? "");
    expect(await (await fetch(`${origin}${download.pathname}`)).text()).toBe("lantern");

    const locked = await create(app, { payload: "quartz", passphrase: "granite" });
    const v1 = `${origin}/p/${locked.url_token}.json`;
    expect((await fetch(v1)).status).toBe(401);
    expect(await (await fetch(`${v1}?passphrase=granite`)).json()).toMatchObject({ payload: "quartz" });
    expect(await (await fetch(v1, { method: "DELETE" })).json()).toMatchObject({ deleted: true });
    const other = await create(app, { payload: "quartz" });
    expect((await fetch(`${origin}/p/${other.url_token}/expire`, { method: "POST" })).status).toBe(200);
    expect((await fetch(`${origin}/up`)).status).toBe(200);
    expect((await fetch(`${origin}/assets/page.js`)).status).toBe(200);
  });

  test("gives programs the fields of a push, and lets them notice a missing or wrong key before a view is spent", async () => {
    const { app, origin } = running;
    const client = new SealpushClient({ server: await app.listen() });
    const made = await client.create({ payload: "quartz", expire_after_views: 1 }, { endToEnd: true });
    const other = await client.create({ payload: "granite" }, { endToEnd: true });
    const [, key = ""] = made.html_url.split("#");
    const [, otherKey = ""] = other.html_url.split("#");
    const link = `${origin}/p/${made.url_token}/r`;
    const program = makeClientProgram("here");
    const fields = [{ label: "Password", value: "lantern", type: "secret" as const }];
    const structured = await client.create({ fields });
    expect(await program.run(["open", `${origin}/p/${structured.url_token}`, "--field", "password"])).toMatchObject({
      exitCode: 0,
      stdout: "lantern",
    });
    for (const [wrong, exitCode] of [
      [link, 2],
      [`${link}#${otherKey}`, 1],
    ] as const) {
      expect(await program.run(["open", wrong])).toMatchObject({
        exitCode,
        stdout: "",
        stderr: expect.stringContaining("No view was spent."),
      });
    }
    expect(await program.run(["open", `${link}#${key}`])).toMatchObject({ exitCode: 0, stdout: "quartz" });
  });

  test("is asked through API v2 by a client whose first calls found nothing", async () => {
    const fields = [{ label: "Password", value: "lantern", type: "secret" as const }];
    const structured = await create(running.app, { fields });
    const client = new SealpushClient({ server: running.origin });
    await expect(client.version()).rejects.toMatchObject({ code: "not_found" });
    await expect(client.retrieve("unknown")).rejects.toMatchObject({ code: "not_found" });
    expect(await client.retrieve(structured.url_token)).toMatchObject({ fields });
  });

  test("redirects old addresses only to what it serves", async () => {
    const { url_token: token } = await create(running.app, { payload: "quartz", retrieval_step: true });
    const ask = async (path: string) => {
      const answer = await fetch(`${running.origin}${path}`, { redirect: "manual" });
      return [answer.status, answer.headers.get("location")];
    };
    expect(await ask(`/de/f/${token}/r`)).toEqual([301, `/p/${token}/r?locale=de`]);
    expect(await ask(`/p/${token}/`)).toEqual([200, null]);
    for (const path of ["/de", "/de/p/neu", "/de/users/sign_in", `/de/p/${token}/audit`, "/admin/", "/api/"]) {
      expect([path, ...(await ask(path))]).toEqual([path, 404, null]);
    }
  });

  test("links to nothing that it does not serve", async () => {
    const { app, origin } = running;
    const { url_token: step } = await create(app, { payload: "quartz", retrieval_step: true });
    const { url_token: opened } = await create(app, { payload: "quartz", retrieval_step: false });
    const { url_token: deleted } = await create(app, { payload: "quartz" });
    const pages = [
      await fetch(`${origin}/p/${step}`),
      await fetch(`${origin}/p/${opened}`),
      await fetch(`${origin}/p/${deleted}/expire`, { method: "POST" }),
      await fetch(`${origin}/p/unknown`),
      await fetch(`${origin}/`),
      await fetch(`${origin}/admin`),
    ];
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 404, 404, 404]);
    for (const page of pages) {
      const html = await page.text();
      const links = [...html.matchAll(/ (?:href|action|src)="(\/[^"]*)"/g)].map(([, path]) => path ?? "");
      expect(links.length).toBeGreaterThan(0);
      for (const path of links.filter((link) => !link.includes("/expire"))) {
        const target = await fetch(`${origin}${path.replaceAll("&amp;", "&")}`, { method: "HEAD" });
        expect([page.url, path, target.status]).toEqual([page.url, path, 200]);
      }
    }
  });

  test("knows no session: a cookie of the complete server changes nothing", async () => {
    const { app, origin } = running;
    await app.app.domain.accounts.createUser({ email: "bob@example.com", password, admin: true });
    const client = { throttleKey: "c", address: "127.0.0.1", userAgent: "" };
    const session = await app.app.domain.accounts.signIn({ email: "bob@example.com", password, client });
    const { url_token: token } = await create(app, { payload: "quartz", retrieval_step: true });
    const open = async (headers: Record<string, string>) =>
      (await (await fetch(`${origin}/p/${token}`, { headers })).text()).replace(/value="[^"]*"/g, "");
    const cookie = `sealpush_session=${session?.sessionToken}`;
    expect(await (await app.server.inject({ url: "/", headers: { cookie } })).body).toContain("bob@example.com");
    expect(await open({ cookie })).toBe(await open({}));
  });
});

test("links of pushes start with the gateway's address, all others with the base URL", async () => {
  const running = await startGateway({
    PWP__PUBLIC_GATEWAY_URL: publicUrl,
    PWP__OVERRIDE_BASE_URL: privateUrl,
    PWP__ALLOWED_HOSTS: "push.internal.example",
  });
  await using app = running.app;
  const headers = { host: "push.internal.example" };
  const push = await create(app, { payload: "quartz", retrieval_step: true }, headers);
  expect(push.html_url).toBe(`${publicUrl}/p/${push.url_token}/r`);
  expect(push.json_url).toBe(`${publicUrl}/p/${push.url_token}.json`);
  const created = await app.server.inject({ url: `/p/${push.url_token}/preview`, headers });
  expect(created.body).toContain(`${publicUrl}/p/${push.url_token}/r`);
  expect((await app.server.inject({ url: "/help/api", headers })).body).toContain(privateUrl);
  // fetch does not send another Host header, so a trusted proxy names it.
  const through = (host: string) =>
    fetch(`${running.origin}/p/${push.url_token}`, { headers: { "x-forwarded-host": host } });
  expect((await through("open.example.com")).status).toBe(200);
  expect((await through("evil.example")).status).toBe(400);
  expect((await through("open.example.com")).headers.get("strict-transport-security")).not.toBeNull();
});

test("limits are shared by both ports", async () => {
  const { app, origin } = await startGateway({ PWP__THROTTLING__MINUTE: "4" });
  await using complete = app;
  const main = await complete.listen();
  const statuses = [];
  for (const at of [main, origin, main, origin, main, origin]) {
    statuses.push((await fetch(`${at}/p/unknown`, { headers: { connection: "close" } })).status);
  }
  expect(statuses).toEqual([404, 404, 404, 404, 429, 429]);
});

test("a stop finishes running requests on both ports, then both refuse connections", async () => {
  const { app, origin } = await startGateway();
  const main = await app.listen();
  const { url_token: token } = await create(app, { payload: "quartz", passphrase: "granite" });
  const path = `/p/${token}.json?passphrase=granite`;
  const accepted = [once(app.server.server, "request"), once(app.app.gateway ?? app.server.server, "request")];
  const running = [fetch(`${main}${path}`), fetch(`${origin}${path}`)];
  await Promise.all(accepted);
  await app[Symbol.asyncDispose]();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  for (const at of [main, origin]) await expect(fetch(`${at}/up`)).rejects.toThrow("fetch failed");
});

test("a process that is only a gateway serves recipients, and offers no first run", async () => {
  await using app = await startTestApp({ environment: { ...unthrottled, PWP_PUBLIC_GATEWAY: "true" } });
  const statusOf = async (url: string) => (await app.server.inject({ url })).statusCode;
  expect(await statusOf("/up")).toBe(200);
  for (const url of [
    "/",
    "/p/new",
    "/first_run",
    "/users/sign_in",
    "/admin",
    "/api/v2/version",
    "/api/sealpush",
    "/api/sealpush/policy",
    "/api/sealpush/presets",
    "/ready",
    "/metrics",
  ]) {
    expect([url, await statusOf(url)]).toEqual([url, 404]);
  }
  expect(app.logLines.join("")).not.toContain("boot_code");
  const page = await app.server.inject({ url: "/p/unknown" });
  expect(page.body).not.toContain("/users/sign_in");
});
