import { expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { signedIn, stranger } from "../support/domain.ts";
import { claimFiles, makeFile, pushFiles } from "../support/files.ts";
import { pausedReader } from "../support/paused-reader.ts";
import { signInClient } from "../support/signed-in-client.ts";

/** JSON escapes each of these characters as six. */
const payload = "\u0001".repeat(1_048_576);

test.each(["/api/v2/pushes/", "/p/"])(
  "a retrieval by %s that exceeds the memory for answers counts no view",
  async (path) => {
    await using app = await startTestApp({ memoryBytes: 256 * 1024 * 1024 });
    const origin = await app.listen();
    const created = await fetch(`${origin}/api/v2/pushes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ push: { payload, expire_after_views: 10, retrieval_step: false } }),
    });
    const { url_token: token }: { url_token: string } = JSON.parse(await created.text());
    const held = () => app.server.answerOutflow.memory.held;

    const readers = [];
    for (const count of [1, 2]) {
      readers.push(await pausedReader(origin, `/api/v2/pushes/${token}`));
      await expect.poll(held).toBeGreaterThan(count * 6_000_000);
      await expect.poll(held).toBeLessThan(count * 7_000_000);
    }
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const refused = await fetch(`${origin}${path}${token}`);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
      await refused.text();
    }
    for (const reader of readers) reader.destroy();
    await expect.poll(held).toBe(0);
    const answer = await fetch(`${origin}/api/v2/pushes/${token}`);
    expect(await answer.json()).toMatchObject({ views_remaining: 7, payload });
  },
);

async function idOf({ app }: TestApp, email: string): Promise<number> {
  return (await app.domain.accounts.findUserByEmail(email))?.id ?? 0;
}

test("every large answer is refused while the client has used up its share", async () => {
  await using app = await startTestApp({ memoryBytes: 256 * 1024 * 1024 });
  const token = await app.makeToken("ada@example.com");
  const browser = await signInClient(app, "ada@example.com");
  const { pushes } = app.app.domain;
  const ownerId = await idOf(app, "ada@example.com");
  const owner = signedIn(ownerId);
  const note = "\u0001".repeat(65_536);
  const { urlToken } = await pushes.create({ payload, note, retrievalStep: false }, owner);
  const withFile = await pushFiles(pushes, owner, [makeFile("a.txt", "x".repeat(100_000))]);
  const [file] = await claimFiles(pushes, withFile.urlToken, stranger);
  const client = "192.0.2.7";
  const headers = bearer(token);
  const get = (url: string) => () => app.server.inject({ url, headers, remoteAddress: client });
  const page = (url: string) => () => browser.get(url);
  const json = { push: { payload: "small", note } };
  const v1 = { password: json.push };
  const large = [
    get(`/api/v2/pushes/${urlToken}`),
    get(`/p/${urlToken}.json`),
    get("/api/v2/pushes/active"),
    get("/p/active.json"),
    get(`/files/${file?.ticket}`),
    () => app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, remoteAddress: client, payload: json }),
    () => app.server.inject({ method: "POST", url: "/p.json", headers, remoteAddress: client, payload: v1 }),
    page(`/p/${urlToken}`),
    page(`/p/${urlToken}/edit`),
    page(`/p/${urlToken}/audit/download?format=csv`),
    page(`/p/${urlToken}/audit/download?format=json`),
    page("/users/edit/data"),
  ];
  const small = [get("/api/v2/version"), get(`/api/v2/pushes/${urlToken}/audit`), page("/"), page("/p")];
  const statuses = async (
    requests: readonly (() => Promise<{ readonly statusCode?: number; readonly status?: number }>)[],
  ) => {
    const found = [];
    for (const request of requests) {
      const { statusCode, status } = await request();
      found.push(statusCode ?? status);
    }
    return found;
  };
  const { memory } = app.server.answerOutflow;
  expect(memory.take(client, 16 * 1024 * 1024)).toBe(true);
  const entries = (await pushes.audit(urlToken, owner, 1)).length;
  expect(await statuses(large)).toEqual(large.map(() => 503));
  expect(await statuses(small)).toEqual(small.map(() => 200));
  expect((await pushes.audit(urlToken, owner, 1)).length).toBe(entries);
  expect([...(await pushes.list(ownerId, "active", 1))].length).toBe(2);
  memory.release(client, 16 * 1024 * 1024);
  expect(await statuses(large)).toEqual([200, 200, 200, 200, 200, 201, 201, 200, 200, 200, 200, 200]);
  expect(memory.held).toBe(0);
});

test.each([
  ["a text that HTML escapes", { payload: '"'.repeat(4_400) }],
  ["a text that JSON escapes", { payload: "\u0001".repeat(4_400) }],
  ["the largest QR code", { kind: "qr", payload: "q".repeat(1_024) }],
])("no view of %s is counted without its answer, while the client has used up its share", async (_, push) => {
  await using app = await startTestApp();
  const { pushes } = app.app.domain;
  const client = "192.0.2.7";
  const { memory } = app.server.answerOutflow;
  while (memory.take(client, 1024 * 1024));
  for (const path of ["/api/v2/pushes/", "/p/"]) {
    const payload = { push: { ...push, expire_after_views: 5, retrieval_step: false } };
    const created = await app.server.inject({ method: "POST", url: "/api/v2/pushes", payload });
    const { url_token: token } = created.json();
    const answer = await app.server.inject({ url: path + token, remoteAddress: client });
    const left = (await pushes.find(token, stranger))?.viewsRemaining;
    expect([path, answer.statusCode, left]).toEqual([path, 200, 4]);
  }
});

test("a list of 50 long notes arrives complete, in pieces", async () => {
  await using app = await startTestApp();
  const token = await app.makeToken("ada@example.com");
  const note = "\u0001".repeat(65_536);
  const ownerId = await idOf(app, "ada@example.com");
  const owner = signedIn(ownerId);
  for (let made = 0; made < 50; made += 1) await app.app.domain.pushes.create({ payload: "x", note }, owner);
  const origin = await app.listen();
  for (const path of ["/api/v2/pushes/active", "/p/active.json"]) {
    const answer = await fetch(origin + path, { headers: bearer(token) });
    expect(answer.headers.get("content-length")).toBeNull();
    const listed: { note: string }[] = JSON.parse(await answer.text());
    expect(listed.map((push) => push.note === note)).toEqual(Array.from({ length: 50 }, () => true));
  }
});
