import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { clientBundle } from "../../../scripts/bundles.ts";

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
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(19 * 1024);
  expect(outputFiles.length).toBeGreaterThan(1);
});

test("the built package runs in an empty folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, "node_modules/@sealpush/client");
  await build({ ...clientBundle, outdir: join(installed, "dist") });
  copyFileSync(resolve(import.meta.dirname, "../package.json"), join(installed, "package.json"));
  const program = `
    import { randomPassword, SealpushClient } from "@sealpush/client";
    const fetch = async (address, { body }) => { console.log(JSON.parse(body).push.payload.split("\\n")[0]); throw new Error(address); };
    const client = new SealpushClient({ server: "https://push.example.com", api: "v2", attemptsMax: 1, fetch });
    await client.create({ payload: randomPassword() }, { endToEnd: true }).catch((error) => console.log(error.code));`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(run).toMatchObject({ stdout: "-----BEGIN AGE ENCRYPTED FILE-----\nunreachable\n", stderr: "" });
  const help = spawnSync(process.execPath, [join(installed, "dist/bin.js"), "--help"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(help).toMatchObject({ status: 0, stderr: "" });
});

test("a program compiles with the types of the package, without its source", () => {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-types-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, "node_modules/@sealpush/client");
  mkdirSync(installed, { recursive: true });
  const source = resolve(import.meta.dirname, "..");
  copyFileSync(join(source, "package.json"), join(installed, "package.json"));
  expect(compile(source, ["--outDir", join(installed, "dist/types")])).toBe("");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(folder, "program.ts"),
    `import { SealpushClient } from "@sealpush/client";
const made = await new SealpushClient({ server: "https://push.example.com" }).create({ payload: "x" }, { endToEnd: true });
export const texts: string[] = [made.html_url, made.views_remaining];`,
  );
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2024,dom", "--types", "", "program.ts"];
  const problems = compile(folder, options).match(/program\.ts.*|error.*/g);
  expect(problems).toEqual([expect.stringContaining("Type 'number' is not assignable to type 'string'")]);
});

/** @returns what the compiler prints. */
function compile(folder: string, options: readonly string[]): string {
  const compiler = resolve(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...options], { cwd: folder, encoding: "utf8" }).stdout;
}
