import { once } from "node:events";
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDataDir } from "../support/domain.ts";
import { launchServer } from "../support/server.ts";

let baseUrl = "";
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  ({ baseUrl } = await launchServer({ dataDir: makeDataDir() }, (end) => ends.push(end)));
});
afterAll(async () => {
  for (const end of ends) await end();
});

interface Answer {
  readonly html: string;
  readonly encoding: string | undefined;
  /** Everything that the connection carried to the client: headers and body. */
  readonly wireBytes: number;
}

/** One request on a connection of its own. */
async function ask(path: string, acceptEncoding: string): Promise<Answer> {
  const headers = { "accept-encoding": acceptEncoding, connection: "close" };
  const sent = request(new URL(path, baseUrl), { agent: false, headers }).end();
  const [response] = await once(sent, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const encoding = response.headers["content-encoding"];
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[String(encoding)] ?? ((bytes: Buffer) => bytes);
  return { html: decode(body).toString("utf8"), encoding, wireBytes: response.socket.bytesRead };
}

/** Scripts, style sheets, icons and the manifest that a page names; pictures in style sheets are part of these. */
const resourcesIn = (html: string) =>
  [...html.matchAll(/<(?:script|link) [^>]*(?:src|href)="([^"]+)"/g)].map(([, path]) => String(path));

async function pushPath(fields: object): Promise<string> {
  const body = JSON.stringify({ push: { payload: "secret", ...fields } });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${baseUrl}/api/v2/pushes`, { method: "POST", headers, body });
  const { html_url: link }: { html_url?: unknown } = Object(await answer.json());
  return new URL(String(link)).pathname;
}

const kilobyte = 1024;

describe.each(["br", "gzip"])("with %s", (coding) => {
  it("the first visit of a recipient loads at most 20 KB in total", async () => {
    const step = await ask(await pushPath({}), coding);
    const resources = await Promise.all(resourcesIn(step.html).map((path) => ask(path, coding)));
    expect(resources.length).toBeGreaterThanOrEqual(3);
    const total = resources.reduce((bytes, { wireBytes }) => bytes + wireBytes, step.wireBytes);
    expect(total).toBeLessThanOrEqual(20 * kilobyte);
  });

  it.each([
    ["the step", 5, () => pushPath({})],
    ["the question for a passphrase", 5, () => pushPath({ passphrase: "phrase" })],
    ["a push that does not exist", 5, () => "/p/unknown"],
    ["the sign-in", 5, () => "/users/sign_in"],
    ["the form for a new push, of every kind", 6, () => "/"],
  ])("%s has at most %d KB when the browser has everything else", async (_name, kilobytesMax, pathOf) => {
    const { wireBytes, encoding } = await ask(await pathOf(), coding);
    expect(encoding).toBe(coding);
    expect(wireBytes).toBeLessThanOrEqual(kilobytesMax * kilobyte);
  });
});

it.each([
  { sent: "identity", encoding: undefined },
  { sent: "br;q=0, gzip", encoding: "gzip" },
  { sent: "GZIP;q=0.5, br;q=0.0", encoding: "gzip" },
  { sent: "deflate, zstd, x-br", encoding: undefined },
])("a page is sent as the client accepts it: $sent", async ({ sent, encoding }) => {
  const answer = await ask("/help/api", sent);
  expect(answer.encoding).toBe(encoding);
  expect(answer.html).toMatch(/^<!doctype html>/);
});

it("a page is not compressed if it repeats what another site can choose, or shows a secret", async () => {
  const shown = await pushPath({ retrieval_step: false });
  for (const path of [shown, "/users/sign_in?next=/p", "/no/such/page"]) {
    expect({ path, encoding: (await ask(path, "br, gzip")).encoding }).toEqual({ path, encoding: undefined });
  }
});
