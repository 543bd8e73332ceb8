import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { boundByPermissions } from "../support/limits.ts";
import { composeEnvironment } from "../support/password-pusher/compose.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  changeDatabase,
  type Installation,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import { all, expectMoved, lineOf, page, swap, totals, withMore } from "../support/password-pusher/swapped.ts";
import { spawnProgram } from "../support/processes.ts";
import { environmentOf, startObjectStore } from "../support/s3/object-store.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

describe("a volume of Password Pusher", () => {
  it("stops the start with a page on what was found, and nothing is changed", async () => {
    const installation = installProduction();
    const swapped = await swap(installation);
    const { exitCode, stdout, stderr } = await swapped.run();
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(page(`${installation.databasePath}\\n +${totals.users} users, ${totals.pushes} pushes`));
    expect(stderr).not.toContain(composeEnvironment.PWPUSH_MASTER_KEY);
    expect(existsSync(swapped.dataDir)).toBe(false);
    swapped.expectUnchanged();
  });

  it("is left alone with SEALPUSH_MOVE_IN=no, and the server starts empty", async () => {
    const swapped = await swap(withMore());
    const server = await swapped.serve("no");
    expect((await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(1)}`)).status).toBe(404);
    expect(server.logLines.join("\n")).toContain("boot_code_made");
    await server.stop();
    swapped.expectUnchanged();
  });
});

test("a volume of Password Pusher that is the data folder itself is noticed and imported", async () => {
  const installation = withMore();
  const dataDir = installation.storageFolder;
  const swapped = await swap(installation, { DATA_DIR: dataDir });
  expect((await swapped.run()).stderr).toMatch(page(`${installation.databasePath}\\n +${all.users} users`));
  expect(existsSync(join(dataDir, "master.key"))).toBe(false);
  for (const url of ["", "sqlite3:storage/db/production.sqlite3"]) {
    const environment = { ...swapped.environmentOf("yes"), DATABASE_URL: url };
    const server = await startServer({ dataDir, environment });
    await expectMoved(server, url === "" ? 1 : 2);
    await server.stop();
  }
  // Password Pusher's variables are gone.
  const server = await startServer({ dataDir, environment: { DATABASE_URL: "" } });
  await expectMoved(server, 4);
});

describe("a complete import from a SQLite file", () => {
  const markOf = ({ databasePath }: Installation) => `${databasePath}.moved-to-sealpush.txt`;

  it("leaves a mark beside the file, which a container with another data folder respects", async () => {
    const installation = installProduction();
    const swapped = await swap(installation);
    await (await swapped.serve("yes")).stop();
    const mark = readFileSync(markOf(installation), "utf8");
    const where = readFileSync(join(swapped.dataDir, "moved-in"), "utf8").trim();
    expect(mark).toMatch(/moved to Sealpush on 20\d\d-/);
    expect(mark).toContain(`Database: ${where}\nData folder: ${swapped.dataDir}\n`);
    swapped.expectUnchanged();

    const others = { DATA_DIR: join(installation.storageFolder, "sealpush-2") };
    const undecided = await swapped.run(undefined, others);
    expect(undecided.stderr).toMatch(page(`moved to a Sealpush before, which ${markOf(installation)} names`));
    const again = await swapped.run("yes", others);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain(`were moved before: ${markOf(installation)} says where to`);
    expect(existsSync(others.DATA_DIR)).toBe(false);
    rmSync(markOf(installation));
    const server = await startServer({
      dataDir: others.DATA_DIR,
      environment: { ...swapped.environmentOf("yes", others), DATABASE_URL: "" },
    });
    await server.stop();
    expect(readFileSync(markOf(installation), "utf8")).toContain(`Data folder: ${others.DATA_DIR}\n`);
  });

  it("is also marked by the next start if it was killed before its marks", async () => {
    const installation = installProduction();
    const swapped = await swap(installation);
    await (await swapped.serve("yes")).stop();
    rmSync(markOf(installation));
    rmSync(join(swapped.dataDir, "moved-in"));
    await (await swapped.serve("yes")).stop();
    expect(existsSync(markOf(installation))).toBe(true);
  });

  it("says so if the file's folder cannot be written", async () => {
    const installation = installProduction();
    const swapped = await swap(installation);
    mkdirSync(swapped.dataDir);
    chmodSync(dirname(installation.databasePath), 0o555);
    const environment = { ...swapped.environmentOf("yes"), DATABASE_URL: "" };
    const server = await startServer({ dataDir: swapped.dataDir, environment, launcher: boundByPermissions });
    expect(server.logLines.join("\n")).toMatch(
      /"move_not_marked".*moved-to-sealpush\.txt cannot be written \(permission denied\)\. Keep /,
    );
    expect(existsSync(markOf(installation))).toBe(false);
  });
});

test("files in a bucket are moved into the data folder, and the bucket is only read", async () => {
  const store = await startObjectStore();
  const push = expected.production.pushes.find(({ tag }) => tag === "file-three-unicode");
  const installation = installProduction((connection) => {
    connection.prepare("UPDATE active_storage_blobs SET service_name = 'minio'").run();
    // The server's clock is the real one.
    const created = new Date().toISOString().replace("T", " ").replace("Z", "000");
    connection.prepare("UPDATE pushes SET created_at = ?, expire_after_days = 90 WHERE id = ?").run(created, push?.id);
  });
  const { storageFolder } = installation;
  for (const path of readdirSync(storageFolder, { recursive: true, encoding: "utf8" })) {
    const key = basename(path);
    if (!/^[0-9a-z]{28}$/.test(key)) continue;
    store.objects.set(key, readFileSync(join(storageFolder, path)));
    rmSync(join(storageFolder, path));
  }
  const objects = new Map(store.objects);
  const swapped = await swap(installation, { ...environmentOf(store), PWP__FILES__STORAGE: "minio" });
  const expectFiles = async (server: ServerProcess) => {
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${push?.url_token}`);
    const { files } = (await answer.json()) as { files: readonly { url: string }[] };
    const contents = await Promise.all(files.map(async ({ url }) => await (await fetch(url)).bytes()));
    const keys = push?.files.map(({ key }) => key) ?? [];
    expect(keys).toHaveLength(3);
    expect(contents.map((bytes) => Buffer.from(bytes))).toEqual(keys.map((key) => objects.get(key)));
  };

  const first = await swapped.serve("yes");
  await expectFiles(first);
  await first.stop();
  expect([new Set(store.operations), store.objects]).toEqual([new Set(["GetObject"]), objects]);
  swapped.expectUnchanged();

  await store.close();
  await expectFiles(await swapped.serve("yes"));
});

describe("DATABASE_URL of Password Pusher", () => {
  it.each([
    [
      "the absolute path of the file in the volume",
      async () => {
        const installation = installProduction();
        return { installation, url: `sqlite3:${installation.databasePath}` };
      },
    ],
    [
      "a server, beside a file that is not used any more",
      async () => {
        const { database: url } = await installProductionOnPostgres();
        return { installation: installProduction(), url };
      },
    ],
  ])("stops an undecided start with the page: %s", async (_what, install) => {
    const { installation, url } = await install();
    const swapped = await swap(installation, { DATABASE_URL: url });
    const { exitCode, stderr } = await swapped.run();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(page(`${totals.users} users, ${totals.pushes} pushes`));
    swapped.expectUnchanged();
  });

  it("is waited for if its server starts later", async () => {
    const installation = await installProductionOnPostgres();
    rmSync(installation.databasePath);
    const { port, hostname } = new URL(installation.database);
    const laterPort = await freePort();
    const url = Object.assign(new URL(installation.database), { hostname: "127.0.0.1", port: laterPort });
    const swapped = await swap(installation, { DATABASE_URL: url.href });
    const child = spawnProgram(["serve"], swapped.environmentOf("yes"));
    onTestFinished(() => void child.kill("SIGKILL"));
    await lineOf(child.stdout, /"database_awaited".*(connection refused).*The start waits for it/);
    const server = createServer((inward) => {
      const outward = connect(Number(port), hostname);
      inward.on("error", () => outward.destroy()).pipe(outward);
      outward.on("error", () => inward.destroy()).pipe(inward);
    }).listen(laterPort, "127.0.0.1");
    onTestFinished(() => void server.close());
    const imported = new RegExp(`"import_progress","table":"pushes","read":(${totals.pushes}),`);
    expect(await lineOf(child.stdout, imported)).toBe(String(totals.pushes));
  });

  it("is found and imported: a relative path, which starts at Password Pusher's folder", async () => {
    const installation = withMore();
    const swapped = await swap(installation, { DATABASE_URL: "sqlite3:storage/db/production.sqlite3" });
    expect((await swapped.run()).stderr).toMatch(page(installation.databasePath));
    await expectMoved(await swapped.serve("yes"));
    swapped.expectUnchanged();
  });

  it("stops the import with its name if it cannot be used, and nothing is marked", async () => {
    const installation = withMore();
    const swapped = await swap(installation);
    const nowhere = await swapped.run("yes", { DATABASE_URL: "sqlite:/nowhere/there" });
    expect(nowhere).toMatchObject({ exitCode: 1 });
    expect(nowhere.stderr).toContain("/nowhere/there is not a file: DATABASE_URL must name the SQLite database.");
    const nonsense = await swapped.run("yes", { DATABASE_URL: "oracle://db/x" });
    expect(nonsense).toMatchObject({ exitCode: 2 });
    expect(nonsense.stderr).toContain("DATABASE_URL cannot be used: it must be sqlite:PATH");
    const wrongKey = await swapped.run("yes", { PWPUSH_MASTER_KEY: "0".repeat(64), PWPUSH_MASTER_KEY_PREVIOUS: "" });
    expect(wrongKey.exitCode).toBe(2);
    expect(wrongKey.stderr).toContain("from the environment");
    await expectMoved(await swapped.serve("yes"));
  });
});

test("SEALPUSH_MOVE_IN=yes without a Password Pusher is refused", async () => {
  const installation = installProduction();
  changeDatabase(installation.databasePath, () => undefined);
  rmSync(installation.databasePath);
  const { exitCode, stderr } = await (await swap(installation)).run("yes");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("there is no Password Pusher: DATABASE_URL is not set");
});

describe.runIf(mariadbProgram !== undefined)("DATABASE_URL of Password Pusher on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it("is found and imported", async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    const installation = await installProductionOnMysql(mariadb);
    rmSync(installation.databasePath);
    const swapped = await swap(installation, { DATABASE_URL: installation.database });
    expect((await swapped.run()).stderr).toMatch(page(`${totals.users} users, ${totals.pushes} pushes`));
    const server = await swapped.serve("yes");
    expect(server.logLines.join("\n")).toContain(
      `"event":"import_progress","table":"pushes","read":${totals.pushes},"total":${totals.pushes}}`,
    );
  });
});
