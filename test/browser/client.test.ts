import { basename, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connectBrowser } from "../support/shared-browser.ts";

/** The client's module, which the page has loaded. */
declare const sealpush: typeof import("@sealpush/client");
/** Reads all chunks as a text. */
declare function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string>;

const bundle = {
  entryPoints: [resolve(import.meta.dirname, "../../packages/client/src/client.ts")],
  bundle: true,
  splitting: true,
  outdir: "bundle",
  platform: "browser",
  format: "esm",
  write: false,
} as const satisfies BuildOptions;

const pageText = `<!doctype html><title>Client</title><script type="module">
  globalThis.sealpush = await import("/client/client.js");
  globalThis.textOf = async (chunks) => {
    const parts = [];
    for await (const chunk of chunks) parts.push(chunk);
    return await new Blob(parts).text();
  };
  document.title = "ready";
</script>`;

let app: TestApp;
let browser: Browser;
let page: Page;
let server: string;
let given: { readonly server: string; readonly token: string };
const scripts = new Map<string, string>();

beforeAll(async () => {
  const [started, launched, built] = await Promise.all([startTestApp(), connectBrowser(), build(bundle)]);
  app = started;
  browser = launched;
  for (const { path, text } of built.outputFiles) scripts.set(basename(path), text);
  server = await app.listen();
  given = { server, token: await app.makeToken("ada@example.com") };
});
afterAll(async () => {
  await browser.close();
  await app[Symbol.asyncDispose]();
});

/** A page of the server's origin: the server lets no other origin read its answers. */
beforeEach(async () => {
  page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.route("**/client/*", async (route) => {
    const name = basename(new URL(route.request().url()).pathname);
    const script = scripts.get(name);
    if (script === undefined) await route.fulfill({ contentType: "text/html", body: pageText });
    else await route.fulfill({ contentType: "text/javascript", body: script });
  });
  await page.goto(`${server}/client/page`);
  await page.waitForFunction(() => Reflect.get(Reflect.get(globalThis, "document"), "title") === "ready");
});

test("a page creates, previews, lists, retrieves, audits and ends", async () => {
  const done = await page.evaluate(async (options) => {
    const client = new sealpush.SealpushClient(options);
    const made = await client.create({ payload: "correct horse 🔑", passphrase: "grüße", name: "for Ada" });
    const wrong = await client.retrieve(made.url_token, { passphrase: "other" }).catch((error) => error.code);
    const [listed] = await client.list("active");
    const { payload } = await client.retrieve(made.html_url, { passphrase: "grüße" });
    const audit = (await client.audit(made.url_token)).map(({ kind }) => kind);
    const ended = (await client.end(made.url_token)).expired;
    const preview = (await client.preview(made.url_token)).url === made.html_url;
    const { api_version: version } = await client.version();
    return { wrong, listed: listed?.name, payload, audit, ended, preview, version, token: await client.tokenState() };
  }, given);
  expect(done).toEqual({
    wrong: "wrong_passphrase",
    listed: "for Ada",
    payload: "correct horse 🔑",
    audit: ["creation", "failed_passphrase", "view"],
    ended: true,
    preview: true,
    version: "2.1",
    token: "valid",
  });
});

test("a retrieval whose answer was lost is repeated and counts one view", async () => {
  const link = await page.evaluate(async (options) => {
    const client = new sealpush.SealpushClient(options);
    return (await client.create({ payload: "correct horse", expire_after_views: 1 })).html_url;
  }, given);
  await page.route(
    "**/api/v2/pushes/*",
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    },
    { times: 1 },
  );
  const retrieved = await page.evaluate(
    async ({ options, link }) => {
      const client = new sealpush.SealpushClient({ ...options, wait: async () => undefined });
      const { payload, views_remaining: left } = await client.retrieve(link);
      return { payload, left };
    },
    { options: given, link },
  );
  expect(retrieved).toEqual({ payload: "correct horse", left: 0 });
});

test.each([false, true])("files are sent from Blobs and from streams, end to end: %s", async (endToEnd) => {
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postDataBuffer()?.toString("latin1") ?? ""}`));
  const done = await page.evaluate(
    async ({ options, endToEnd }) => {
      const client = new sealpush.SealpushClient(options);
      const part = new TextEncoder().encode("0123456789abcdef".repeat(4_096));
      async function* content() {
        for (let count = 0; count < 40; count += 1) yield part;
      }
      const files = [
        { filename: "stream.txt", content, sizeBytes: 40 * part.length },
        { filename: "pixels.png", content_type: "image/png", content: new Blob(["pixels"]) },
      ];
      const passphrase = "open sesame";
      const made = await client.create({ payload: "see the files", passphrase, files }, { endToEnd });
      const opened = await client.retrieve(made.html_url, { passphrase });
      const contents = await Promise.all(opened.files.map((file) => textOf(client.download(file))));
      return {
        hasKey: made.html_url.includes("#AGE-SECRET-KEY-1"),
        payload: opened.payload,
        files: opened.files.map(({ filename }) => filename),
        isWhole: contents[0] === "0123456789abcdef".repeat(4_096 * 40),
        pixels: contents[1],
      };
    },
    { options: given, endToEnd },
  );
  expect(done).toEqual({
    hasKey: endToEnd,
    payload: "see the files",
    files: ["stream.txt", "pixels.png"],
    isWhole: true,
    pixels: "pixels",
  });
  const all = sent.join();
  for (const secret of ["see the files", "pixels.png", "AGE-SECRET-KEY"]) {
    expect(all.includes(secret)).toBe(!endToEnd && secret !== "AGE-SECRET-KEY");
  }
});

test("a page asks for a secret, and another answers with a text and files", async () => {
  const done = await page.evaluate(async ({ server: address, token }) => {
    const owner = new sealpush.SealpushClient({ server: address, token });
    const made = await owner.requests.create({ title: "Root password", wants_files: true });
    const other = new sealpush.SealpushClient({ server: address });
    const asked = await other.requests.find(made.html_url);
    async function* content() {
      yield new TextEncoder().encode("the plan");
    }
    const files = [{ filename: "plan.txt", content, sizeBytes: 8 }];
    await other.requests.answer(asked, { payload: "correct horse", files });
    const { pushes } = await owner.requests.answers(made.private_link);
    const opened = await owner.retrieve(pushes[0]?.html_url ?? "");
    const contents = await Promise.all(opened.files.map((file) => textOf(owner.download(file))));
    const { state } = await owner.requests.close(made.html_url);
    return { title: asked.title, payload: opened.payload, name: opened.files[0]?.filename, contents, state };
  }, given);
  expect(done).toEqual({
    title: "Root password",
    payload: "correct horse",
    name: "plan.txt",
    contents: ["the plan"],
    state: "closed",
  });
});

test("a page of another origin reads nothing", async () => {
  const code = await page.evaluate(async ({ server: address, token }) => {
    const other = address.replace("127.0.0.1", "localhost");
    const client = new sealpush.SealpushClient({ server: other, token, attemptsMax: 1 });
    return await client.list("active").catch((error) => error.code);
  }, given);
  expect(code).toBe("unreachable");
});
