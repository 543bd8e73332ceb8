import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("the client needs nothing but the Web's interfaces, so browsers can load it", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [resolve(import.meta.dirname, "client.ts")],
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
    target: ["es2022", "chrome116", "firefox124", "safari17.4"],
    write: false,
    metafile: true,
  });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  expect(outputFiles[0]?.contents.length).toBeLessThan(16 * 1024);
});
