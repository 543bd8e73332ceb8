import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { databaseFile, filesIn } from "../support/database-file.ts";
import { createPush, doors, read } from "../support/doors.ts";
import { boundByPermissions, withFileBytesMax } from "../support/limits.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

const keys = { one: "11".repeat(32), other: "22".repeat(32) };

/** A data folder as a server leaves it, with one push in it. */
async function makeData(environment: Readonly<Record<string, string>> = {}) {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir, environment });
  const push = await createPush(server.baseUrl, { payload: "still there", expire_after_views: 1 });
  await server.stop();
  return { dataDir, push };
}

interface RefusedStart {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly launcher?: readonly string[];
}

/** The start ends with exit code 1 and one sentence on standard error; @returns the sentence. */
async function refusedStart({ dataDir, environment = {}, launcher = [] }: RefusedStart): Promise<string> {
  const run = await runProgram(["serve"], { PORT: "0", DATA_DIR: dataDir, ...environment }, "", launcher);
  expect(run.exitCode, run.stderr).toBe(1);
  expect(run.stdout).not.toContain("server_started");
  expect(run.stderr).toMatch(/^\S[^\n]*\.\n$/);
  expect(run.stderr).not.toMatch(/\bat \S+:\d+/);
  return run.stderr;
}

/** As `refusedStart`, and not one byte in the data folder differs afterwards. */
async function refusedUntouched(start: RefusedStart): Promise<string> {
  const before = filesIn(start.dataDir);
  const sentence = await refusedStart(start);
  expect(filesIn(start.dataDir)).toEqual(before);
  return sentence;
}

async function expectIntact(dataDir: string, push: Awaited<ReturnType<typeof createPush>>): Promise<void> {
  const server = await startServer({ dataDir });
  expect(await read(doors.apiV2, server.baseUrl, push)).toBe("payload");
}

describe("a start", () => {
  it("from nothing leads to a first answer", async () => {
    const begun = performance.now();
    const server = await startServer({ dataDir: newDataDir() });
    const answer = await fetch(`${server.baseUrl}/up`);
    const firstAnswerMs = performance.now() - begun;
    expect(answer.status).toBe(200);
    console.log(`listening after ${Math.round(server.startMs)} ms, first answer after ${Math.round(firstAnswerMs)} ms`);
  });

  it("with wrong settings names every mistake at once and makes nothing", async () => {
    const dataDir = newDataDir();
    const run = await runProgram(["serve"], {
      DATA_DIR: dataDir,
      PORT: "many",
      PWP__ALLOW_ANONYMOUS: "perhaps",
      PWPUSH_MASTER_KEY: "abc",
      PWP__PW__EXPIRE_AFTER_DAYS_MAX: "0",
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    for (const name of ["PORT", "PWP__ALLOW_ANONYMOUS", "PWPUSH_MASTER_KEY", "PWP__PW__EXPIRE_AFTER_DAYS_MAX"]) {
      expect(run.stderr).toMatch(new RegExp(`^${name}:? .*\\.$`, "m"));
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it("with another master key is refused and changes nothing", async () => {
    const { dataDir } = await makeData({ PWPUSH_MASTER_KEY: keys.one });
    const sentence = await refusedUntouched({ dataDir, environment: { PWPUSH_MASTER_KEY: keys.other } });
    expect(sentence).toMatch(/^The database is sealed under the master key with id [0-9a-f]{8}, which is not among/);
    expect(sentence).not.toContain(keys.other);
  });

  it("without the master.key of its database is refused and makes no new one", async () => {
    const { dataDir, push } = await makeData();
    const kept = join(dataDir, "..", "kept");
    renameSync(join(dataDir, "master.key"), kept);
    expect(await refusedUntouched({ dataDir })).toContain("the master.key that belongs to it is not: restore it");
    renameSync(kept, join(dataDir, "master.key"));
    await expectIntact(dataDir, push);
  });

  it("with a damaged master.key is refused", async () => {
    const { dataDir } = await makeData();
    writeFileSync(join(dataDir, "master.key"), "damaged");
    expect(await refusedUntouched({ dataDir })).toContain("does not hold a master key (64 hex digits)");
  });

  it("on a database of a newer version is refused and changes nothing", async () => {
    const { dataDir } = await makeData();
    const db = new Database(databaseFile(dataDir));
    db.pragma("user_version = 999");
    db.close();
    expect(await refusedUntouched({ dataDir })).toMatch(/^The database has schema version 999, this program knows \d+/);
  });

  it("on a file that is no database is refused and changes nothing", async () => {
    const { dataDir } = await makeData();
    writeFileSync(databaseFile(dataDir), "This is a diary. ".repeat(1_000));
    expect(await refusedUntouched({ dataDir })).toMatch(/^The database cannot be used \(SQLITE_NOTADB\)/);
  });

  it("on a port that is taken is refused", async () => {
    const { dataDir, push } = await makeData();
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      taken.close();
    });
    await new Promise((resolve) => taken.once("listening", resolve));
    const address = taken.address();
    if (address === null || typeof address === "string") throw new Error("The port is not known.");
    expect(await refusedStart({ dataDir, environment: { PORT: String(address.port) } })).toBe(
      `The server cannot listen on 127.0.0.1 port ${address.port} (another process listens there already): check HOST and PORT.\n`,
    );
    await expectIntact(dataDir, push);
  });

  it("in a place where no folder can be made is refused", async () => {
    const file = newDataDir();
    writeFileSync(file, "");
    expect(await refusedStart({ dataDir: file })).toBe(`${file} is not a folder: check DATA_DIR.\n`);
    expect(await refusedStart({ dataDir: join(file, "data") })).toContain("cannot be made (ENOTDIR): check DATA_DIR.");
  });

  it.runIf(process.platform === "linux")("in a file system that takes none is refused at once", async () => {
    expect(await refusedStart({ dataDir: "/proc/sealpush" })).toContain("cannot be made (ENOENT): check DATA_DIR.");
  });

  it("in a new folder that cannot be written is refused", async () => {
    const dataDir = newDataDir();
    mkdirSync(dataDir, { mode: 0o500 });
    expect(await refusedStart({ dataDir, launcher: boundByPermissions })).toContain(
      "master.key cannot be made (EACCES)",
    );
    const environment = { PWPUSH_MASTER_KEY: keys.one };
    expect(await refusedStart({ dataDir, environment, launcher: boundByPermissions })).toBe(
      `${databaseFile(dataDir)} cannot be used (EACCES).\n`,
    );
    expect(filesIn(dataDir).size).toBe(0);
  });

  it("on data that cannot be written is refused, and goes well once it can", async () => {
    const { dataDir, push } = await makeData();
    chmodSync(dataDir, 0o500);
    const readOnlyFolder = await refusedUntouched({ dataDir, launcher: boundByPermissions });
    expect(readOnlyFolder).toMatch(/^The database cannot be used \(SQLITE_\w+\): /);
    chmodSync(databaseFile(dataDir), 0o400);
    chmodSync(dataDir, 0o700);
    const readOnlyFile = await refusedStart({ dataDir, launcher: boundByPermissions });
    expect(readOnlyFile).toMatch(/\(SQLITE_READONLY\w*\)/);
    chmodSync(databaseFile(dataDir), 0o600);
    await expectIntact(dataDir, push);
  });

  it.runIf(process.platform === "linux")("on a full disk is refused, and goes well once there is room", async () => {
    const { dataDir, push } = await makeData();
    const sentence = await refusedStart({ dataDir, launcher: withFileBytesMax(0) });
    expect(sentence).toMatch(/^The database cannot be used \(SQLITE_(?:IOERR|FULL)\w*\): /);
    await expectIntact(dataDir, push);
  });
});
