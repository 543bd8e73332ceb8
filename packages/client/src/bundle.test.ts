import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("the client needs nothing but the Web's interfaces, and loads what only sealing needs on demand", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [resolve(import.meta.dirname, "client.ts")],
    bundle: true,
    splitting: true,
    outdir: "bundle",
    minify: true,
    platform: "browser",
    format: "esm",
    target: ["es2022", "chrome116", "firefox124", "safari17.4"],
    write: false,
    metafile: true,
  });
  const outputs = Object.values(metafile.outputs);
  expect(outputs.flatMap(({ imports }) => imports).filter(({ external }) => external === true)).toEqual([]);
  const client = outputs.find(({ entryPoint }) => entryPoint?.endsWith("client.ts") === true);
  const atOnce = client?.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path) ?? [];
  const sizes = [client, ...atOnce.map((path) => metafile.outputs[path])].map((output) => output?.bytes ?? 0);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(18 * 1024);
  expect(outputFiles.length).toBeGreaterThan(1);
});
