import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { engine } from "../support/engine.ts";
import { freePort } from "../support/free-port.ts";
import { boundByPermissions } from "../support/limits.ts";
import { composeEnvironment, digestOf } from "../support/password-pusher/compose.ts";
import { expected } from "../support/password-pusher/expected.ts";
import {
  changeDatabase,
  type Installation,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { addManyPushes, manyTokenOf } from "../support/password-pusher/many-pushes.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";
import { changeSource, linkOf } from "../support/password-pusher/source-changes.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { runToItsEnd, spawnProgram } from "../support/processes.ts";
import { environmentOf, startObjectStore } from "../support/s3/object-store.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

type Environment = Readonly<Record<string, string>>;

const { totals } = expected.production;
const addedPushes = 10;
const all = { users: totals.users, pushes: totals.pushes + addedPushes };
const withMore = (count = addedPushes) => installProduction((connection) => addManyPushes(connection, count));

/** Password Pusher's image with its name changed: its environment and its volume, and our data folder in this volume. */
async function swap(installation: Installation, more: Environment = {}) {
  const dataDir = join(installation.storageFolder, "sealpush");
  const own: Environment = engine === "postgres" ? { SEALPUSH_DATABASE_URL: (await makePostgresDatabase()).url } : {};
  const before = digestOf(installation);
  const environmentOf = (wanted: "yes" | "no" | undefined, others: Environment = {}): Environment => ({
    ...composeEnvironment,
    PORT: "0",
    DATA_DIR: dataDir,
    ...(wanted !== undefined && { SEALPUSH_MOVE_IN: wanted, ...own }),
    ...more,
    ...others,
  });
  return {
    dataDir,
    environmentOf,
    own,
    run: (wanted?: "yes" | "no", others?: Environment) =>
      runToItsEnd(spawnProgram(["serve"], environmentOf(wanted, others))),
    serve: (wanted: "yes" | "no") =>
      startServer({ dataDir, environment: { ...environmentOf(wanted), DATABASE_URL: more.DATABASE_URL ?? "" } }),
    expectUnchanged: () => expect(digestOf(installation)).toBe(before),
  };
}

async function expectMoved(server: ServerProcess, number = 1): Promise<void> {
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(number)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
}

const page = (found: string) =>
  new RegExp(
    `found the data of a Password Pusher(?:.|\\n)*Nothing was changed(?:.|\\n)*${found}(?:.|\\n)*SEALPUSH_MOVE_IN=yes(?:.|\\n)*SEALPUSH_MOVE_IN=no`,
  );

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

  it("is imported with SEALPUSH_MOVE_IN=yes, and later starts serve at once", async () => {
    const installation = withMore();
    const swapped = await swap(installation);
    const first = await swapped.serve("yes");
    await expectMoved(first);
    const report = first.logLines.join("\n");
    expect(report).toContain(`"event":"import_progress","table":"pushes","read":${all.pushes},"total":${all.pushes}}`);
    expect(report).toContain("PWPUSH_MASTER_KEY is Password Pusher's while SEALPUSH_MOVE_IN is set.");
    await first.stop();
    const events = first.logLines.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    const ending = events.find(({ event }) => event === "import_finished");
    expect(ending).toMatchObject({
      outcome: "with_problems",
      suppressedCount: 0,
      report: expect.stringContaining(join(swapped.dataDir, "import-")),
      counts: { there: { users: all.users, pushes: all.pushes } },
      msg: expect.stringContaining("`sealpush import verify`"),
    });
    const problems = events.filter(({ event }) => event === "import_problem");
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(Object.keys(problem).sort()).toEqual(["effect", "event", "id", "level", "reason", "table", "time"]);
    }
    swapped.expectUnchanged();
    const ownKey = readFileSync(join(swapped.dataDir, "master.key"), "utf8").trim();
    expect(ownKey).toMatch(/^[0-9a-f]{64}$/);
    expect(ownKey).not.toBe(composeEnvironment.PWPUSH_MASTER_KEY);

    renameSync(installation.databasePath, `${installation.databasePath}.old`);
    const second = await swapped.serve("yes");
    await expectMoved(second, 2);
    expect(second.logLines.join("\n")).not.toContain("import_progress");
    await second.stop();

    const oldKey = await swapped.run(undefined, { DATABASE_URL: swapped.own.SEALPUSH_DATABASE_URL ?? "" });
    expect(oldKey.exitCode).toBe(1);
    expect(oldKey.stderr).toContain("set SEALPUSH_MOVE_IN=yes again, or remove PWPUSH_MASTER_KEY");

    // The old variables are gone: the new key and database are found without them.
    renameSync(`${installation.databasePath}.old`, installation.databasePath);
    const { SEALPUSH_DATABASE_URL: url = "" } = swapped.own;
    const third = await startServer({ dataDir: swapped.dataDir, environment: { DATABASE_URL: url } });
    await expectMoved(third, 4);
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

test("a database that holds data already is not moved into, and one that a server has only started on is", async () => {
  const swapped = await swap(withMore());
  const server = await swapped.serve("no");
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload: "made here" } }),
  });
  expect(answer.status).toBe(201);
  await server.stop();
  const refused = await swapped.run("yes");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("is in use already, so nothing was imported into it. SEALPUSH_MOVE_IN=no serves it");

  const unused = await swap(withMore());
  await (await unused.serve("no")).stop();
  await expectMoved(await unused.serve("yes"));
});

/** The addresses of databases that do not have the imported data. */
async function emptyDatabases(dataDir: string): Promise<readonly string[]> {
  if (engine === "postgres") return [(await makePostgresDatabase()).url, `sqlite:${join(dataDir, "other.sqlite3")}`];
  return [`sqlite:${join(dataDir, "other.sqlite3")}`];
}

test("a complete import is not repeated into another database", async () => {
  const swapped = await swap(withMore());
  await (await swapped.serve("yes")).stop();
  const record = join(swapped.dataDir, "moved-in");
  const former = readFileSync(record, "utf8").trim();
  for (const url of await emptyDatabases(swapped.dataDir)) {
    const { exitCode, stderr } = await swapped.run("yes", { SEALPUSH_DATABASE_URL: url });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`were imported before, into the database ${former}`);
    expect(stderr).toContain("`sealpush move`");
  }
  // As after a restore into a new folder.
  rmSync(record);
  const server = await swapped.serve("yes");
  await expectMoved(server);
  expect(server.logLines.join("\n")).not.toContain("import_progress");
  expect(readFileSync(record, "utf8").trim()).toBe(former);
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
  const server = await startServer({ dataDir, environment: { DATABASE_URL: swapped.own.SEALPUSH_DATABASE_URL ?? "" } });
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

    const others = {
      DATA_DIR: join(installation.storageFolder, "sealpush-2"),
      SEALPUSH_DATABASE_URL: engine === "postgres" ? (await makePostgresDatabase()).url : "",
    };
    const undecided = await swapped.run(undefined, { ...others, SEALPUSH_DATABASE_URL: "" });
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
      /"move_not_marked".*moved-to-sealpush\.txt cannot be written \(EACCES\)\. Keep /,
    );
    expect(existsSync(markOf(installation))).toBe(false);
  });
});

/** Starts the import and kills it when it has read this many pushes. @returns false if it has ended before. */
async function killAfter(pushes: number, environment: Environment): Promise<boolean> {
  const child = spawnProgram(["serve"], environment);
  onTestFinished(() => void child.kill("SIGKILL"));
  const run = runToItsEnd(child);
  const port = await progressPort(child.stdout);
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/up`);
    const progress = await answer.json();
    if (answer.status !== 503 || progress.pushes?.read >= pushes) break;
  }
  child.kill("SIGKILL");
  return (await run).exitCode === null;
}

async function progressPort(log: NodeJS.ReadableStream | null): Promise<number> {
  return Number(await lineOf(log, /\/up on port (\d+) answers 503/));
}

/** What the pattern's group matches in the first such line. */
async function lineOf(output: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  if (output === null) throw new Error("The output is not piped.");
  return await new Promise((resolve) => {
    createInterface(output).on("line", (line) => {
      const [, found] = pattern.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}

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

test("while it imports, /up answers 503 with the progress, and a killed import continues", async () => {
  /** Enough to be killed between them. */
  const manyPushes = 300;
  const installation = withMore(manyPushes);
  const swapped = await swap(installation);
  for (const pushes of [1, 120]) expect(await killAfter(pushes, swapped.environmentOf("yes"))).toBe(true);

  const undecided = await swapped.run();
  // With PostgreSQL, nothing but the variable says where the begun import is.
  expect(undecided.stderr).toMatch(page("pushes"));
  const other = await swapped.run("no");
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain("SEALPUSH_MOVE_IN=yes finishes it");

  const away = join(installation.folder, "sealpush");
  renameSync(swapped.dataDir, away);
  const withoutSource = await swapped.run(undefined, {
    DATA_DIR: away,
    DATABASE_URL: swapped.own.SEALPUSH_DATABASE_URL ?? "",
    PWPUSH_MASTER_KEY: "",
    PWPUSH_MASTER_KEY_PREVIOUS: "",
  });
  expect(withoutSource.exitCode).toBe(1);
  expect(withoutSource.stderr).toContain("was begun and is not complete: start again with SEALPUSH_MOVE_IN=yes");
  renameSync(away, swapped.dataDir);

  const child = spawnProgram(["serve"], swapped.environmentOf("yes"));
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await progressPort(child.stdout);
  const json = await fetch(`http://127.0.0.1:${port}/up`);
  expect(json.status).toBe(503);
  expect(json.headers.get("cache-control")).toBe("no-store");
  expect(await json.json()).toMatchObject({ status: "moving_in" });
  const text = await fetch(`http://127.0.0.1:${port}/p/anything`, { headers: { accept: "text/html" } });
  expect([text.status, text.headers.get("content-type")]).toEqual([503, "text/plain; charset=utf-8"]);
  expect(await text.text()).toMatch(/^This server is importing the data of Password Pusher: .*users.*pushes/);
  child.kill("SIGTERM");
  await runToItsEnd(child);

  const server = await swapped.serve("yes");
  for (const number of [1, 121, manyPushes - 1]) await expectMoved(server, number);
  await server.stop();
  swapped.expectUnchanged();
});

/** An address of this machine that is not recognised as one: as in a compose file, the server is asked for TLS first. */
function asOnAnotherMachine(database: string): string {
  return Object.assign(new URL(database), { hostname: "[::ffff:127.0.0.1]" }).href;
}

describe("DATABASE_URL of Password Pusher", () => {
  it("is found and imported: PostgreSQL without TLS on another machine, with the files of the volume", async () => {
    const installation = await installProductionOnPostgres();
    rmSync(installation.databasePath);
    // The start uses the real time, at which others of the fixture have expired.
    await changeSource(installation, (run) => run("UPDATE pushes SET expire_after_days = 36500 WHERE id = 57"));
    const swapped = await swap(installation, { DATABASE_URL: asOnAnotherMachine(installation.database) });
    const undecided = await swapped.run();
    expect(undecided.exitCode).toBe(2);
    expect(undecided.stderr).toMatch(page(`${totals.users} users, ${totals.pushes} pushes`));
    expect(undecided.stderr).not.toContain(installation.database);
    const server = await swapped.serve("yes");
    expect(server.logLines.join("\n")).toMatch(/"move_not_marked".*it is on a server and only read\. Keep /);
    const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${linkOf(57)}`);
    const { files } = (await answer.json()) as { files: readonly { url: string }[] };
    expect(files).toHaveLength(3);
    for (const { url } of files) expect((await fetch(url)).status).toBe(200);
    swapped.expectUnchanged();
  });

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
    await lineOf(child.stdout, /"database_awaited".*(ECONNREFUSED).*The start waits for it/);
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
