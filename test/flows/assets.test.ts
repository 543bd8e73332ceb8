import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { makeTestCli } from "../support/cli.ts";
import { makeFolder } from "../support/folders.ts";
import { freePort } from "../support/postgres/guarded-process.ts";
import { sendJson, startStandIn } from "../support/stand-in.ts";

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

  it.each(["..%2fmain.js", "%2e%2e%2fmain.js", "%00", "%5c..%5cmain.js", ".hidden", "page.js.br"])(
    "with a name that no build produces is answered with 404: %s",
    async (name) => {
      await using app = await startTestApp();
      const answer = await app.server.inject(`/assets/${name}`);
      expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
    },
  );
});

describe("the hashes of the scripts", () => {
  /** A server, and the command of a build with the same scripts. */
  async function startBoth() {
    const app = await startTestApp();
    const assetsDir = join(makeFolder(), "assets");
    cpSync(join(app.dataDir, "assets"), assetsDir, { recursive: true });
    const server = await app.listen();
    const compare = () => makeTestCli({ assetsDir }).run(["scripts", "--server", `${server}/`]);
    const count = readdirSync(assetsDir).filter((name) => name.endsWith(".js")).length;
    return { app, assetsDir, server, compare, count, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  }
  const hashOfNothing = "sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb";

  it("are published under an address of their own", async () => {
    await using both = await startBoth();
    const answer = await fetch(`${both.server}/scripts.json`);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { scripts } = await answer.json();
    expect(scripts).toContainEqual({
      name: "open-sealed.js",
      path: "/assets/open-sealed.js",
      integrity: hashOfNothing,
    });
    expect(scripts).toHaveLength(both.count);
  });

  it("are those of the scripts that a server of the same build serves", async () => {
    await using both = await startBoth();
    const { exitCode, stdout, stderr } = await both.compare();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").filter((line) => line.startsWith("same  "))).toHaveLength(both.count);
  });

  it("show a script that was changed on the server, and those that only one side has", async () => {
    await using both = await startBoth();
    writeFileSync(join(both.app.dataDir, "assets/open-sealed.js"), "send(identity)");
    const manifest = join(both.assetsDir, "manifest.json");
    const { "seal.js": _, ...known } = JSON.parse(readFileSync(manifest, "utf8"));
    writeFileSync(manifest, JSON.stringify({ ...known, "next.js": "seal.js" }));
    const { exitCode, stdout, stderr } = await both.compare();
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `Scripts that differ from this build: 3 of ${both.count + 1}. Compare with the source of the same version.\n`,
    });
    expect(stdout).toMatch(/^different {2}sha384-\S{64} {2}open-sealed\.js$/m);
    expect(stdout).toContain(`unknown    ${hashOfNothing}  seal.js\n`);
    expect(stdout).toContain(`missing    ${hashOfNothing}  next.js\n`);
  });

  it.each([
    [404, {}, "answered 404 to /scripts.json."],
    [200, { scripts: "none" }, "is not a list of scripts"],
    [200, { scripts: [{ name: "a", path: "//other.example.com/assets/a.js", integrity: "b" }] }, "is not a list"],
    [200, { scripts: [{ name: "a\u001b[2J", path: "/assets/a.js", integrity: "b" }] }, "is not a list"],
    [302, {}, "answered 302 to /scripts.json."],
  ])("are not compared with what another program answers: %s %j", async (status, list, problem) => {
    const other = await startStandIn((_request, _incoming, response) => sendJson(response, status, list));
    const run = await makeTestCli().run(["scripts", "--server", other.origin]);
    expect(run).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining(problem) });
    expect(other.requests).toEqual(["GET /scripts.json"]);
  });

  it("are not compared without a server", async () => {
    const compare = (address: string) => makeTestCli().run(["scripts", "--server", address]);
    expect(await compare("push.example.com")).toMatchObject({
      exitCode: 1,
      stderr: "--server must be an address such as https://push.example.com.\n",
    });
    const away = `http://127.0.0.1:${await freePort()}`;
    expect(await compare(away)).toMatchObject({ exitCode: 1, stderr: `${away} cannot be reached (ECONNREFUSED).\n` });
  });
});
