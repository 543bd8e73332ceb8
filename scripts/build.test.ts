import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** A checkout of its own, which each test finds as the one before has left it: the build of this one may be in use. */
let checkout: string;
beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "sealpush-checkout-"));
  for (const part of [
    "package.json",
    "tsconfig.json",
    "src",
    "scripts",
    "packages/age/src",
    "packages/client/package.json",
    "packages/client/src",
    "packages/import-password-pusher/src",
  ]) {
    await cp(join(root, part), join(checkout, part), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
});
afterAll(() => rm(checkout, { recursive: true, force: true }));

async function run(
  [command, ...argv]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: unknown; output: string }> {
  const env = { ...process.env, ...environment };
  const child = spawn(command, argv, { cwd: checkout, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const [code] = await once(child, "close");
  return { code, output };
}

async function runBuild(...options: readonly string[]): Promise<string> {
  const { code, output } = await run([process.execPath, "scripts/build.ts", ...options]);
  return code === 0 ? "built" : output;
}

/** The files of the same build that a bundled file imports. */
const importsIn = (text: string) => [...text.matchAll(/"\.\/([\w-]+\.js)"/g)].map(([, name]) => name ?? "");

test("builds of one checkout at the same time all succeed and leave complete files only", async () => {
  // First without an earlier build, then over one.
  for (const builds of [3, 2]) {
    const outcomes = await Promise.all(Array.from({ length: builds }, () => runBuild()));
    expect(outcomes).toEqual(Array(builds).fill("built"));
  }
  const dist = join(checkout, "dist");
  const files = await readdir(dist);
  const texts = await Promise.all(
    files.filter((name) => name.endsWith(".js")).map((name) => readFile(join(dist, name), "utf8")),
  );
  const imports = texts.flatMap(importsIn);
  expect(imports.length).toBeGreaterThan(10);
  expect(imports.filter((name) => !files.includes(name))).toEqual([]);
  const manifest: Record<string, string> = JSON.parse(await readFile(join(dist, "assets/manifest.json"), "utf8"));
  expect((await readdir(join(dist, "assets"))).toSorted()).toEqual(
    [...Object.values(manifest).flatMap((name) => [name, `${name}.br`, `${name}.gz`]), "manifest.json"].toSorted(),
  );
});

/** Unix time: long before the test, longer than a day after 0. */
const weeks = 21 * 86_400;

test("a build ignores files that vanish while it looks for old ones, and removes those a day older than the last build", async () => {
  for (const folder of ["dist", "dist/assets", "packages/client/dist", "packages/import-password-pusher/dist"].map(
    (name) => join(checkout, name),
  )) {
    await mkdir(folder, { recursive: true });
    // A link without a target is listed and then not found, as is the unfinished file of a concurrent build.
    await symlink(join(folder, "missing"), join(folder, "vanished.js"));
    await writeFile(join(folder, "old.js"), "");
    await utimes(join(folder, "old.js"), 0, 0);
  }
  const dist = join(checkout, "dist");
  for (const [name, writtenAt] of [
    ["of-last-build.js", weeks],
    ["main.js", weeks + 1],
  ] as const) {
    await writeFile(join(dist, name), "");
    await utimes(join(dist, name), writtenAt, writtenAt);
  }
  expect(await runBuild()).toBe("built");
  expect(await readdir(dist)).not.toContain("old.js");
  expect(await readdir(dist)).toContain("of-last-build.js");
  expect(await readdir(join(dist, "assets"))).not.toContain("old.js");
});

test("the build before a start is skipped unless a source is newer or the last one did not finish", async () => {
  const serverFile = join(checkout, "dist/main.js");
  const builtAt = async () => {
    expect(await runBuild("--if-changed")).toBe("built");
    return (await stat(serverFile, { bigint: true })).mtimeNs;
  };
  const first = await builtAt();
  expect(await builtAt()).toBe(first);
  const later = Number(first / 1_000_000n) / 1_000 + 0.01;
  await utimes(join(checkout, "src/main.ts"), later, later);
  const second = await builtAt();
  expect(second).not.toBe(first);
  await rm(join(checkout, "dist/assets/manifest.json"));
  expect(await builtAt()).not.toBe(second);
});

/** Node options that make a program see an older version of Node. */
const asOlderNode = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(
    'Object.defineProperty(process.versions, "node", { value: "20.20.2" })',
  )}`,
};

const startCommands: readonly (readonly [string, ...string[]])[] = [
  ["npm", "run", "build"],
  ["npm", "run", "dev"],
  ["npm", "run", "sealpush", "--", "--version"],
  [process.execPath, "src/main.ts", "--version"],
];

test.each(startCommands.map((command) => ({ command })))(
  "an old Node prints which version is needed: $command",
  async ({ command }) => {
    const { code, output } = await run(command, asOlderNode);
    expect(output).toMatch(/^Sealpush needs Node 24\.12 or newer, and this is 20\.20\.2\.$/m);
    expect(code).toBe(1);
  },
);
