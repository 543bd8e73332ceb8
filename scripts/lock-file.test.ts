import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

interface LockedPackage {
  readonly version?: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly os?: string;
  readonly cpu?: string;
  readonly gypfile?: boolean;
}

const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(resolve(root, "package-lock.json"), "utf8"),
);

test("installing compiles nothing: the SQLite driver contains its binaries, and npm must not look for Python to build them", () => {
  // npm drops the line when it rewrites the file, although the package declares it.
  expect(lock.packages["node_modules/better-sqlite3"]?.gypfile).toBe(false);
});

test.each([
  ["linux", "x64"],
  ["linux", "arm64"],
  ["darwin", "x64"],
  ["darwin", "arm64"],
  ["win32", "x64"],
])("npm installs exactly one `node` on %s %s, which is new enough for the server", (os, cpu) => {
  const nodes = Object.values(lock.packages).filter(({ bin }) => bin?.node !== undefined);
  const chosen = nodes.filter((found) => [undefined, os].includes(found.os) && [undefined, cpu].includes(found.cpu));
  expect(chosen).toHaveLength(1);
  const [major = 0, minor = 0] = (chosen[0]?.version ?? "").split(".").map(Number);
  expect(major * 100 + minor).toBeGreaterThanOrEqual(24 * 100 + 12);
});
