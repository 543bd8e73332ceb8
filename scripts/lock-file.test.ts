import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

test("installing compiles nothing: the SQLite driver brings its binaries, and npm would look for Python to make others", () => {
  const lock: { packages: Record<string, { gypfile?: boolean }> } = JSON.parse(
    readFileSync(resolve(root, "package-lock.json"), "utf8"),
  );
  // npm drops the line when it rewrites the file, although the package declares it.
  expect(lock.packages["node_modules/better-sqlite3"]?.gypfile).toBe(false);
});
