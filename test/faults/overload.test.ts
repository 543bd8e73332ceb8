import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { seedEmail, seedRows, seedSettings } from "../support/body-targets.ts";
import { createPush } from "../support/endpoints.ts";
import { isExpected, largestBodies } from "../support/largest-bodies.ts";
import { memoryLimit, peakMemory } from "../support/memory-limit.ts";
import { overload } from "../support/overload.ts";
import { makeToken } from "../support/owner.ts";
import { pausedReader } from "../support/paused-reader.ts";
import { newDataDir } from "../support/processes.ts";
import { sendBody } from "../support/send-body.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const mebibyte = 1024 * 1024;
const containerMebibytes = Number(process.env.SEALPUSH_TEST_OVERLOAD_MEBIBYTES ?? "256");
const seconds = Number(process.env.SEALPUSH_TEST_OVERLOAD_SECONDS ?? "10");

/** On a disk: what files take in memory would count as the server's. */
const newDataDirOnDisk = () => newDataDir("/var/tmp");

/** With the memory limit of a container, if this machine supports one, and the environment of our image. */
function startInContainer(dataDir = newDataDirOnDisk()): Promise<ServerProcess> {
  const launcher = memoryLimit(containerMebibytes * mebibyte);
  const environment = { ...seedSettings, MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "32768" };
  return startServer({ dataDir, environment, ...(launcher && { launcher }) });
}

/** The same, with an account and what the largest bodies are sent to. */
async function startSeeded() {
  const dataDir = newDataDirOnDisk();
  const apiToken = await makeToken({ DATA_DIR: dataDir }, { email: seedEmail, admin: true });
  const server = await startInContainer(dataDir);
  return { server, bodies: largestBodies(await seedRows(server.baseUrl, apiToken)) };
}

test("a server in a small container survives slow readers, large bodies, half requests and guesses at once, and serves a normal client", {
  timeout: (seconds + 120) * 1000,
}, async () => {
  const { server, bodies } = await startSeeded();
  const stop = new AbortController();
  const attack = overload(
    server.baseUrl,
    bodies.filter(({ isOpen }) => isOpen),
    stop.signal,
  );
  const { answers, longestMs } = await visit(server.baseUrl, seconds * 1000);
  stop.abort();
  await attack;
  console.log(
    `${JSON.stringify(answers)}, longest ${longestMs.toFixed(0)} ms, peak ${(peakMemory(server.pid) / mebibyte).toFixed(0)} MiB`,
  );
  expect(Object.keys(answers).filter((answer) => !["200", "201", "503 with Retry-After"].includes(answer))).toEqual([]);
  expect(answers["201"]).toBeGreaterThan(0);
  expect(server.logLines.filter((line) => /"level":(?:"error"|"fatal"|50|60)|"event":"un/.test(line))).toEqual([]);
  expect((await server.stop()).exitCode).toBe(0);
});

test("a server in a small container reads the largest body of each type and text on every route", {
  timeout: 600_000,
}, async () => {
  const { server, bodies } = await startSeeded();
  const unexpected: string[] = [];
  let busy = 0;
  for (const body of bodies) {
    let status = await sendBody(server.baseUrl, body);
    // The memory is short until the garbage of earlier bodies is collected.
    for (let repeats = 0; status === 503 && repeats < 3; repeats += 1) status = await sendBody(server.baseUrl, body);
    if (status === 503) busy += 1;
    else if (!isExpected(body, status)) unexpected.push(`${body.name}: ${status}`);
  }
  console.log(
    `${bodies.length} bodies, ${busy} refused for want of memory, peak ${(peakMemory(server.pid) / mebibyte).toFixed(0)} MiB`,
  );
  expect(unexpected).toEqual([]);
  expect((await server.stop()).exitCode).toBe(0);
});

test("116 retrievals of 6.3 MB that nobody reads take a share of the memory; those refused are not counted", async () => {
  const server = await startInContainer();
  const payload = "\u0001".repeat(mebibyte);
  const { urlToken } = await createPush(server.baseUrl, { payload, expire_after_views: 100 });
  const attacker = { "x-forwarded-for": "198.51.100.1" };
  const readers = await Promise.all(
    Array.from({ length: 116 }, () => pausedReader(server.baseUrl, `/api/v2/pushes/${urlToken}`, attacker)),
  );
  const heads = await Promise.all(readers.map(firstPart));
  const opened = heads.filter((head) => head.startsWith("HTTP/1.1 200 "));
  const refused = heads.filter((head) => /^HTTP\/1\.1 503 .*\r\nretry-after: \d+\r\n/is.test(head));
  expect(opened.length).toBeGreaterThan(0);
  expect(opened.length + refused.length).toBe(readers.length);
  expect(refused.length).toBeGreaterThan(50);
  expect(peakMemory(server.pid)).toBeLessThan(400 * mebibyte);
  const other = { "x-forwarded-for": "203.0.113.9" };
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${urlToken}`, { headers: other });
  expect(await answer.json()).toMatchObject({ payload, views_remaining: 99 - opened.length });
  for (const reader of readers) reader.destroy();
  expect((await server.stop()).exitCode).toBe(0);
});

/** The first bytes of the answer, empty if there is none; the reader then pauses again. */
async function firstPart(reader: Socket): Promise<string> {
  const part = new Promise<string>((resolve) => {
    reader.once("data", (text: string) => {
      reader.pause();
      resolve(text);
    });
    reader.once("close", () => resolve(""));
  });
  reader.resume();
  return await part;
}

/** A normal client: creates a push, opens it and requests a page, one after the other, each on its own connection. */
async function visit(origin: string, ms: number) {
  const answers: Record<string, number> = {};
  let longestMs = 0;
  const ask = async (path: string, body?: object) => {
    const startedAt = performance.now();
    const answer = await send(origin + path, body);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    const name = answer.mayRetry ? `${answer.status} with Retry-After` : String(answer.status);
    answers[name] = (answers[name] ?? 0) + 1;
    return answer;
  };
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt) {
    const made = await ask("/api/v2/pushes", { push: { payload: "hello", expire_after_views: 1 } });
    if (made.status === 201) {
      const { url_token: token }: { url_token: string } = JSON.parse(made.text);
      await ask(`/api/v2/pushes/${token}`);
    }
    await ask("/");
  }
  return { answers, longestMs };
}

/** On a new connection: `fetch` would share those of the attackers, which the server closes. */
async function send(url: string, body: object | undefined) {
  const headers = { "content-type": "application/json", "x-forwarded-for": "203.0.113.9" };
  const sent = request(url, { method: body === undefined ? "GET" : "POST", headers, agent: false });
  sent.end(body === undefined ? "" : JSON.stringify(body));
  const [answer]: IncomingMessage[] = await once(sent, "response");
  if (answer === undefined) throw new Error("There is no answer.");
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode ?? 0, mayRetry: answer.headers["retry-after"] !== undefined, text };
}
