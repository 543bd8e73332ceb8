import { build } from "esbuild";
import { expect, test } from "vitest";
import { serverBundle } from "./bundles.ts";

/** Modules that only some settings need: other servers must not load them, to save memory.  */
const onDemand =
  /^(?:prom-client|markdown-it|@opentelemetry\/|openid-client|nodemailer|pg|commander|age-encryption|@sealpush\/)/;

test("modules that only some settings need are loaded only if these settings are given", async () => {
  const { metafile } = await build({ ...serverBundle, write: false, metafile: true, sourcemap: false });
  const outputs = Object.entries(metafile.outputs);
  const importersOf = (path: string) =>
    outputs.flatMap(([from, { imports }]) =>
      imports.filter((imported) => imported.path === path).map(({ kind }) => ({ from, kind })),
    );
  const found = new Set(
    outputs.flatMap(([, { imports }]) => imports.map(({ path }) => path)).filter((path) => onDemand.test(path)),
  );
  expect(found.size).toBeGreaterThan(4);
  /** Whether a file that is loaded at the start loads it too. */
  const loadedAtStart = (path: string, seen = new Set<string>()): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    if (/(?:^|\/)(?:main|program|serve)(?:-\w+)?\.js$/.test(path)) return true;
    return importersOf(path).some(({ from, kind }) => kind === "import-statement" && loadedAtStart(from, seen));
  };
  expect([...found].filter((path) => loadedAtStart(path))).toEqual([]);
});
