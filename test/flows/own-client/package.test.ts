import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { runToItsEnd } from "../../support/processes.ts";

const root = resolve(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "sealpush-package-"));
const installed = join(folder, "installed");
let app: TestApp;
let server: string;

/** A checkout without a build: what an earlier build has left must be no part of the package. */
function copyCheckout(): string {
  const checkout = join(folder, "checkout");
  const modules = join(checkout, "node_modules");
  mkdirSync(join(modules, "@sealpush"), { recursive: true });
  for (const part of ["package.json", "tsconfig.json", "src", "scripts"]) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
  for (const name of readdirSync(join(root, "packages"))) {
    const source = join(root, "packages", name);
    cpSync(source, join(checkout, "packages", name), {
      recursive: true,
      filter: (path) => path !== join(source, "dist") && path !== join(source, "node_modules"),
    });
    symlinkSync(join("../../packages", name), join(modules, "@sealpush", name));
  }
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@sealpush") symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  return checkout;
}

/** As somebody who has only the package: npm runs in an empty folder, and installs what the package asks for. */
beforeAll(async () => {
  const npm = (cwd: string, ...parameters: readonly string[]) =>
    execFileSync("npm", parameters, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const packed = npm(copyCheckout(), "pack", "--silent", "--pack-destination", folder, "./packages/client");
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), '{ "type": "module" }');
  const quick = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  npm(installed, "install", ...quick, join(folder, packed.trim().split("\n").at(-1) ?? ""));
  app = await startTestApp();
  server = await app.listen();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The command that npm has linked. */
async function sealpush(parameters: readonly string[], input = ""): Promise<string> {
  const child = spawn(join(installed, "node_modules/.bin/sealpush"), parameters, {
    cwd: installed,
    env: { PATH: process.env.PATH, HOME: folder, SEALPUSH_SERVER: server },
  });
  const { stdout, stderr } = await runToItsEnd(child, input);
  expect(stderr).toBe("");
  return stdout;
}

test("the package has the build, its types, README and licences, and needs no other package of ours", () => {
  const here = join(installed, "node_modules/@sealpush");
  expect(readdirSync(here)).toEqual(["client"]);
  expect(readdirSync(join(here, "client")).toSorted()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  expect(readFileSync(join(here, "client/LICENSE"), "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
  expect(readFileSync(join(here, "client/dist/third-party-licenses.txt"), "utf8")).toMatch(/^age-encryption\n/m);
  const files = readdirSync(here, { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => name.endsWith(".map"))).toEqual([]);
  expect(readdirSync(join(installed, "node_modules"))).toContain("@modelcontextprotocol");
});

test("its command creates and opens pushes, also end to end", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8"));
  expect(await sealpush(["--version"])).toContain(version);
  for (const options of [[], ["--e2e"]]) {
    const link = await sealpush(["push", ...options], "correct horse");
    expect(await sealpush(["open", link.trim()])).toBe("correct horse");
  }
});

test("a program compiles with its types, and not with wrong ones", async () => {
  writeFileSync(
    join(installed, "program.ts"),
    `import { SealpushClient } from "@sealpush/client";
import { main } from "@sealpush/client/command";
const made = await new SealpushClient({ server: "https://push.example.com" }).create({ payload: "x" });
export const texts: string[] = [made.html_url, made.views_remaining];
await main(["--version"]);`,
  );
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--lib", "es2024,dom", "--types", "", "program.ts"];
  const compiler = resolve(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await runToItsEnd(spawn(process.execPath, [compiler, ...options], { cwd: installed }));
  expect(stdout.match(/^\S+\.ts\(.*/gm)).toEqual([
    expect.stringMatching(/^program\.ts\(4,.*Type 'number' is not assignable to type 'string'/),
  ]);
});
