import { ClientError, SealpushClient } from "@sealpush/client";
import { expect, onTestFinished, test } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { losingAnswers } from "../../support/flaky-fetch.ts";
import { sendJson, startStandIn } from "../../support/stand-in.ts";

async function startServer() {
  const app = await startTestApp();
  onTestFinished(() => app[Symbol.asyncDispose]());
  return { server: await app.listen(), token: await app.makeToken("ada@example.com") };
}

/** Records how long the client would wait, and continues at once. */
function recordWaits() {
  const waits: number[] = [];
  return { waits, wait: async (ms: number) => void waits.push(ms) };
}

const isFirst = (wanted: string) => (request: string, times: number) => request.startsWith(wanted) && times === 1;

test("a retrieval whose answer was lost is repeated and counts one view", async () => {
  const { server, token } = await startServer();
  const owner = new SealpushClient({ server, token });
  const { url_token } = await owner.create({ payload: "correct horse", expire_after_views: 1 });
  const { waits, wait } = recordWaits();
  const { fetch, sent } = losingAnswers(isFirst(`GET /api/v2/pushes/${url_token}`));
  const client = new SealpushClient({ server, fetch, wait });
  expect(await client.retrieve(url_token)).toMatchObject({ payload: "correct horse", views_remaining: 0 });
  expect(waits).toEqual([500]);
  expect(sent.filter((request) => request.endsWith(url_token))).toHaveLength(2);
  expect((await owner.audit(url_token)).map(({ kind }) => kind)).toEqual(["creation", "view", "repeated_view"]);
});

test("a creation with a token whose answer was lost creates one push, also with a file", async () => {
  const { server, token } = await startServer();
  const { wait } = recordWaits();
  const { fetch } = losingAnswers((request, times) => request === "POST /api/v2/pushes" && times % 2 === 1);
  const client = new SealpushClient({ server, token, fetch, wait });
  const made = await client.create({ payload: "correct horse" });
  const withFile = await client.create({ files: [{ filename: "a.txt", content: () => once("hello") }] });
  const listed = await client.list("active");
  expect(listed.map(({ url_token }) => url_token)).toEqual([withFile.url_token, made.url_token]);
});

test("a creation without a token is not repeated after a lost answer, because the server could not recognize it", async () => {
  const { server } = await startServer();
  const { waits, wait } = recordWaits();
  const { fetch, sent } = losingAnswers((request) => request.startsWith("POST"));
  const client = new SealpushClient({ server, fetch, wait });
  await expect(client.create({ payload: "correct horse" })).rejects.toMatchObject({ code: "unreachable" });
  expect(sent.filter((request) => request.startsWith("POST"))).toHaveLength(1);
  expect(waits).toEqual([]);
});

test("an end-to-end creation with files is not repeated, because another attempt would seal other bytes", async () => {
  const { server, token } = await startServer();
  const { wait } = recordWaits();
  const { fetch, sent } = losingAnswers((request) => request.startsWith("POST"));
  const client = new SealpushClient({ server, token, fetch, wait });
  const files = [{ filename: "a.txt", content: new Blob(["a"]) }];
  await expect(client.create({ files }, { endToEnd: true })).rejects.toMatchObject({ code: "unreachable" });
  expect(sent.filter((request) => request.startsWith("POST"))).toHaveLength(1);
});

test("a retrieval is not repeated after a lost answer on a server that would count another view", async () => {
  const server = await startStandIn((request, incoming, response) => {
    if (request === "GET /api/v2/version")
      return sendJson(response, 200, { application_version: "2.11.4", api_version: "2.1" });
    if (request.startsWith("GET /api/v2/pushes/")) return void incoming.socket.destroy();
    return sendJson(response, 404, { error: "not-found" });
  });
  const { waits, wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  await expect(client.retrieve("abcdefgh")).rejects.toMatchObject({ code: "unreachable" });
  expect(server.requests).toEqual(["GET /api/v2/version", "GET /api/v2/pushes/abcdefgh", "GET /api/v2/openapi.json"]);
  expect(waits).toEqual([]);
});

test("a refusal is followed by another attempt after Retry-After, at most four in all", async () => {
  const answers = [
    [429, { "retry-after": "7" }],
    [503, { "retry-after": "0" }],
  ] as const;
  let posts = 0;
  const server = await startStandIn((request, _incoming, response) => {
    if (request.startsWith("GET")) return sendJson(response, 200, { application_version: "3.0.0", api_version: "2.1" });
    const [status, headers] = answers[posts % answers.length] ?? [];
    posts += 1;
    return sendJson(response, status ?? 500, { error: "Later." }, headers);
  });
  const { waits, wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  const error = await client.create({ payload: "x" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 0 });
  expect(error).toBeInstanceOf(ClientError);
  expect(waits).toEqual([7_000, 500, 7_000]);
  expect(posts).toBe(4);
});

test("a long Retry-After is reported instead of waited for", async () => {
  const server = await startStandIn((_request, _incoming, response) =>
    sendJson(response, 429, { error: "Too many requests." }, { "retry-after": "3600" }),
  );
  const { waits, wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  await expect(client.list("active")).rejects.toMatchObject({
    code: "too_many_requests",
    retryAfterSeconds: 3_600,
    message: "The server answered 429: Too many requests. Try again in 3600 seconds.",
  });
  expect(waits).toEqual([]);
});

test("a signal ends a request and the wait before the next one", async () => {
  const server = await startStandIn((_request, incoming) => void incoming.socket.destroy());
  const controller = new AbortController();
  const wait = async (_ms: number, signal: AbortSignal | undefined) => {
    controller.abort(new Error("Enough."));
    signal?.throwIfAborted();
  };
  const client = new SealpushClient({ server: server.origin, wait });
  await expect(client.list("active", { signal: controller.signal })).rejects.toThrow("Enough.");
  expect(server.requests).toHaveLength(1);
});

test("a signal ends the wait itself", async () => {
  const controller = new AbortController();
  const lose = async () => {
    setTimeout(() => controller.abort(new Error("Enough.")), 0);
    throw new TypeError("fetch failed");
  };
  const client = new SealpushClient({ server: "https://push.example.com", fetch: lose });
  await expect(client.list("active", { signal: controller.signal })).rejects.toThrow("Enough.");
});

test("the waits after lost answers grow, and a later call begins anew", async () => {
  const { server, token } = await startServer();
  const { waits, wait } = recordWaits();
  const { fetch } = losingAnswers((request, times) => request === "GET /api/v2/version" && times <= 4);
  const client = new SealpushClient({ server, token, fetch, wait });
  await expect(client.list("active")).rejects.toMatchObject({ code: "unreachable" });
  expect(waits).toEqual([500, 1_000, 2_000]);
  expect(await client.list("active")).toEqual([]);
});

test("a server whose support of keys could not be found out is asked again", async () => {
  const { server, token } = await startServer();
  const { url_token } = await new SealpushClient({ server, token }).create({ payload: "x", expire_after_views: 5 });
  const { wait } = recordWaits();
  const { fetch } = losingAnswers(
    (request, times) =>
      (request === `GET /api/v2/pushes/${url_token}` && times <= 2) ||
      isFirst("GET /api/v2/openapi.json")(request, times),
  );
  const client = new SealpushClient({ server, fetch, wait });
  await expect(client.retrieve(url_token)).rejects.toMatchObject({ code: "unreachable" });
  expect(await client.retrieve(url_token)).toMatchObject({ payload: "x", views_remaining: 3 });
});

test.each([502, 504])("a proxy's %i is a lost answer", async (status) => {
  const server = await startStandIn((_request, _incoming, response) => {
    if (server.requests.length === 1) return sendJson(response, status, {});
    return sendJson(response, 200, { application_version: "3.0.0", api_version: "2.1" });
  });
  const { waits, wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  expect(await client.version()).toMatchObject({ application_version: "3.0.0" });
  expect(waits).toEqual([500]);
});

test("a redirect is reported with its target and not followed, because the token would follow it", async () => {
  const server = await startStandIn((_request, _incoming, response) => {
    response.writeHead(301, { location: "https://push.example.com/api/v2/version?token=1" }).end();
  });
  const client = new SealpushClient({ server: server.origin, token: "sp_token" });
  await expect(client.list("active")).rejects.toMatchObject({
    code: "redirected",
    message: `${server.origin} redirects to another address. If you trust it, use the address https://push.example.com.`,
  });
});

test("a broken download continues where it stopped", async () => {
  const content = Buffer.from(Array.from({ length: 90_000 }, (_, at) => at % 251));
  const server = await startStandIn((_request, { headers }, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
    response.writeHead(start === 0 ? 200 : 206, { "content-length": content.length - start });
    const end = Math.min(start + 20_000, content.length);
    response.write(content.subarray(start, end), () => (end === content.length ? response.end() : response.destroy()));
  });
  const client = new SealpushClient({ server: server.origin });
  const parts: Uint8Array[] = [];
  for await (const part of client.download({ url: `${server.origin}/files/ticket` })) parts.push(part);
  expect(Buffer.concat(parts).equals(content)).toBe(true);
  expect(server.requests).toHaveLength(5);
});

test("a broken download begins again on a server that does not know parts", async () => {
  const content = Buffer.from(Array.from({ length: 90_000 }, (_, at) => at % 251));
  const server = await startStandIn((_request, { headers }, response) => {
    response.writeHead(200, { "content-length": content.length });
    if (headers.range !== undefined) response.end(content);
    else response.write(content.subarray(0, 40_000), () => response.destroy());
  });
  const client = new SealpushClient({ server: server.origin });
  const parts: Uint8Array[] = [];
  for await (const part of client.download({ url: `${server.origin}/files/ticket` })) parts.push(part);
  expect(Buffer.concat(parts).equals(content)).toBe(true);
});

test.each([
  [429, 45, 45_000],
  [503, 60, 60_000],
  [502, undefined, 500],
])("a download that is refused with %i begins later, because its view is spent", async (status, retryAfter, waitMs) => {
  const server = await startStandIn((_request, _incoming, response) => {
    const after = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    if (server.requests.length > 1) response.writeHead(200).end("hello");
    else response.writeHead(status, after).end();
  });
  const { waits, wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  const parts: Uint8Array[] = [];
  for await (const part of client.download({ url: `${server.origin}/files/ticket` })) parts.push(part);
  expect([Buffer.concat(parts).toString(), waits]).toEqual(["hello", [waitMs]]);
});

test.each([
  [429, 61, 1],
  [404, 1, 1],
  [503, 1, 3],
])("a download that is refused with %i, after %i seconds, is tried %i times", async (status, retryAfter, times) => {
  const server = await startStandIn((_request, _incoming, response) => {
    response.writeHead(status, { "retry-after": String(retryAfter) }).end();
  });
  const { wait } = recordWaits();
  const client = new SealpushClient({ server: server.origin, wait });
  await expect(client.download({ url: `${server.origin}/files/ticket` }).next()).rejects.toMatchObject({ status });
  expect(server.requests).toHaveLength(times);
});

test("a broken download of a sealed file continues where it stopped", async () => {
  const { server, token } = await startServer();
  const client = new SealpushClient({ server, token });
  const content = Buffer.from(Array.from({ length: 90_000 }, (_, at) => at % 251));
  const made = await client.create(
    { files: [{ filename: "plan.bin", content: new Blob([content]) }] },
    { endToEnd: true },
  );
  const { files } = await client.retrieve(made.html_url);
  const statuses: number[] = [];
  const breaking = await startStandIn(async (_request, { headers: { range }, url }, response) => {
    const answer = await fetch(`${server}${url}`, { headers: range === undefined ? {} : { range } });
    const rest = Buffer.from(await answer.arrayBuffer());
    statuses.push(answer.status);
    response.writeHead(answer.status, { "content-length": rest.length });
    response.write(rest.subarray(0, 40_000), () => (rest.length <= 40_000 ? response.end() : response.destroy()));
  });
  const parts: Uint8Array[] = [];
  for (const file of files) {
    const moved = { ...file, url: file.url.replace(server, breaking.origin) };
    for await (const part of client.download(moved)) parts.push(part);
  }
  expect(Buffer.concat(parts).equals(content)).toBe(true);
  expect(statuses).toEqual([200, 206, 206]);
});

test("an address of a file that is no address of the web is refused", async () => {
  const client = new SealpushClient({ server: "https://push.example.com" });
  for (const url of ["file:///etc/passwd", "http://push.example.com/files/ticket", "data:,x"]) {
    await expect(client.download({ url }).next()).rejects.toMatchObject({ code: "not_this_api" });
  }
});

async function* once(text: string) {
  yield Buffer.from(text);
}
