import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { assetsDir, buildServerInto, root } from "../../scripts/bundles.ts";
import { createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { makeFolder } from "../support/folders.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { cheapCostsInBuild } from "../support/run/cheap-costs.ts";
import { program } from "../support/run/program.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

/** A made-up next release: its schema has a second version. */
const withSecondVersion: Plugin = {
  name: "second-version",
  setup(build) {
    const added = JSON.stringify("ALTER TABLE users ADD COLUMN invented TEXT");
    build.onLoad({ filter: /\/schema\/versions\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replace(
        "= [version1];",
        `= [version1, { sqlite: ${added}, postgres: ${added} }];`,
      ),
    }));
  },
};

/** Starts the next release in the place of this one. */
let next: readonly string[];

beforeAll(async () => {
  const folder = join(root, "dist-test/next");
  const built = await buildServerInto(folder, [cheapCostsInBuild, withSecondVersion]);
  if (!existsSync(join(folder, "assets"))) symlinkSync(relative(folder, assetsDir), join(folder, "assets"));
  next = ["bash", "--norc", "-c", `exec "\${@/#${program.replaceAll("/", "\\/")}/${built}}"`, "next"];
});

async function succeed(argv: readonly string[], dataDir: string, launcher: readonly string[] = []): Promise<void> {
  const { exitCode, stderr } = await runProgram(argv, { DATA_DIR: dataDir }, "", launcher);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
}

const create = (server: ServerProcess, payload: string) =>
  createPush(server.baseUrl, { payload, expire_after_views: 1 });

/** A data folder that contains only the master key of another one. */
function emptyFolder(dataDir: string): string {
  const folder = newDataDir();
  mkdirSync(folder, { mode: 0o700 });
  cpSync(join(dataDir, "master.key"), join(folder, "master.key"));
  return folder;
}

test("after an upgrade of the schema the older program stops, and the backup from before leads back to it", async () => {
  const dataDir = newDataDir();
  const older = await startServer({ dataDir });
  const [kept, opened] = [await create(older, "kept"), await create(older, "opened")];
  const backup = join(makeFolder(), "before-the-upgrade.tar");
  await succeed(["backup", "--to", backup], dataDir);
  await older.stop();

  const newer = await startServer({ dataDir, launcher: next });
  expect(await retrieve(endpoints.apiV2, newer.baseUrl, opened)).toBe("payload");
  const since = await create(newer, "made since");
  await newer.stop();

  const refused = await runProgram(["serve"], { DATA_DIR: dataDir, PORT: "0" });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("The database has schema version 2, this program knows 1: start a newer version.");
  // The refusal has changed nothing: the newer program continues.
  const again = await startServer({ dataDir, launcher: next });
  expect(await retrieve(endpoints.apiV2, again.baseUrl, since)).toBe("payload");
  await again.stop();

  const restored = emptyFolder(dataDir);
  await succeed(["restore", "--from", backup, "--keep-open"], restored);
  const back = await startServer({ dataDir: restored });
  expect(await retrieve(endpoints.apiV2, back.baseUrl, kept)).toBe("payload");
  expect(await retrieve(endpoints.apiV2, back.baseUrl, since)).toBe("gone");
});

test("a backup of the older version is restored by the newer program, which upgrades it", async () => {
  const dataDir = newDataDir();
  const older = await startServer({ dataDir });
  const push = await create(older, "kept");
  const backup = join(makeFolder(), "older.tar");
  await succeed(["backup", "--to", backup], dataDir);
  await older.stop();
  const restored = emptyFolder(dataDir);
  await succeed(["restore", "--from", backup, "--keep-open"], restored, next);
  const newer = await startServer({ dataDir: restored, launcher: next });
  expect(await retrieve(endpoints.apiV2, newer.baseUrl, push)).toBe("payload");
  await newer.stop();
  const upgraded = await runProgram(["serve"], { DATA_DIR: restored, PORT: "0" });
  expect(upgraded.stderr).toContain("The database has schema version 2");
});
