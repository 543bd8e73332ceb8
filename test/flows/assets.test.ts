import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";

describe("a file for browsers", () => {
  it("may be cached forever, because its name changes with its content", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/page.js");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it.each([
    { accepted: "gzip, deflate, br, zstd", encoding: "br", decode: brotliDecompressSync },
    { accepted: "gzip", encoding: "gzip", decode: gunzipSync },
    { accepted: "identity", encoding: undefined, decode: (bytes: Buffer) => bytes },
  ])("is sent as the browser can decode it: $accepted", async ({ accepted, encoding, decode }) => {
    await using app = await startTestApp();
    const script = 'addEventListener("load", () => {});'.repeat(50);
    const path = join(app.dataDir, "assets/page.js");
    writeFileSync(path, script);
    writeFileSync(`${path}.br`, brotliCompressSync(script));
    writeFileSync(`${path}.gz`, gzipSync(script));
    const answer = await app.server.inject({ url: "/assets/page.js", headers: { "accept-encoding": accepted } });
    expect(answer.headers).toMatchObject({
      "content-type": "application/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(decode(answer.rawPayload).toString()).toBe(script);
  });

  it("that does not exist is answered with 404, which must not be cached", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/assets/of-the-next-version.js");
    expect(answer.statusCode).toBe(404);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.allow).toBeUndefined();
  });

  it.each([
    "..%2fmain.js",
    "%2e%2e%2fmain.js",
    "%00",
    "%5c..%5cmain.js",
    ".hidden",
    "page.js.br",
    `${"a".repeat(300)}.js`,
  ])("with a name that no build produces is answered with 404: %s", async (name) => {
    await using app = await startTestApp();
    const answer = await app.server.inject(`/assets/${name}`);
    expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
  });
});

describe("the hashes of the scripts", () => {
  /** A server, and the command of a build with the same scripts. */
  const hashOfNothing = "sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb";

  it("are published under an address of their own", async () => {
    await using app = await startTestApp();
    const answer = await app.server.inject("/scripts.json");
    expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
    const { scripts } = answer.json();
    expect(scripts).toContainEqual({
      name: "open-sealed.js",
      path: "/assets/open-sealed.js",
      integrity: hashOfNothing,
    });
    const files = readdirSync(join(app.dataDir, "assets")).filter((name) => name.endsWith(".js"));
    expect(scripts).toHaveLength(files.length);
  });
});
