import type { ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { BackupLoad, openRestored } from "../support/backup-load.ts";
import { integrityOf } from "../support/database-file.ts";
import { createPush, endpoints, type KnownPush, retrieve } from "../support/endpoints.ts";
import { makeFolder } from "../support/folders.ts";
import { withFileBytesMax } from "../support/limits.ts";
import { preloaded } from "../support/preload.ts";
import { newDataDir, runProgram, spawnProgram } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { launchServer, type ServerProcess, startServer } from "../support/server.ts";

const anonymousFiles = { PWP__FILES__ALLOW_ANONYMOUS: "true" };

async function succeed(argv: readonly string[], dataDir: string): Promise<string> {
  const { exitCode, stdout, stderr } = await runProgram(argv, { DATA_DIR: dataDir });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

/** A data folder that contains only the master key of another one. */
function emptyFolder(backupDir: string, name: string, dataDir: string): string {
  const folder = join(backupDir, name);
  mkdirSync(folder, { mode: 0o700 });
  cpSync(join(dataDir, "master.key"), join(folder, "master.key"));
  return folder;
}

async function sendFile(server: ServerProcess, bytes: number): Promise<void> {
  const form = new FormData();
  form.append("push[files][]", new Blob([new Uint8Array(bytes)]), "large.bin");
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes`, { method: "POST", body: form });
  expect(answer.status, await answer.text()).toBe(201);
}

async function expectOpens(server: ServerProcess, push: KnownPush): Promise<void> {
  expect(await retrieve(endpoints.apiV2, server.baseUrl, push)).toBe("payload");
}

describe("a backup of two processes under load", () => {
  test("restores every push acknowledged before it, with views and files of a single point in time", async () => {
    const dataDir = newDataDir();
    const servers = [await startServer({ dataDir, environment: anonymousFiles })];
    servers.push(await startServer({ dataDir, environment: anonymousFiles }));
    const random = seededNumbers(20_261_121);
    const load = new BackupLoad(
      servers.map(({ baseUrl }) => baseUrl),
      6,
      random,
    );
    await load.answers(300);
    const backupDir = makeFolder();
    const places = ["first", "second.tar"].map((name) => join(backupDir, name));
    const sightings = [];
    for (const to of places) {
      sightings.push(
        await load.around(async () => {
          await succeed(["backup", "--to", to], dataDir);
        }),
      );
      await load.answers(100);
    }
    await load.stop();
    for (const server of servers) await server.stop();

    for (const [at, observed] of sightings.entries()) {
      const restored = emptyFolder(backupDir, `restored-${at}`, dataDir);
      await succeed(["restore", "--from", places[at] ?? "", "--keep-open"], restored);
      const server = await startServer({ dataDir: restored, environment: anonymousFiles });
      expect(await openRestored(server.baseUrl, observed)).toBeGreaterThan(30);
      await server.stop();
      expect(integrityOf(restored)).toEqual(["ok"]);
    }
    const ended = emptyFolder(backupDir, "ended", dataDir);
    await succeed(["restore", "--from", places[0] ?? "", "--end-all"], ended);
    const server = await startServer({ dataDir: ended, environment: anonymousFiles });
    const none = (sightings[0] ?? []).map(({ push, after }) => ({
      push: { ...push, limit: 0 },
      before: { delivered: 0, deletion: "none" as const },
      after,
    }));
    expect(await openRestored(server.baseUrl, none)).toBe(0);
  });
});

test("a backup can be written to a pipe and restored from one", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir, environment: anonymousFiles });
  const push = await createPush(server.baseUrl, { payload: "through the pipe", expire_after_views: 1 });
  await sendFile(server, 1_000_000);
  const backupDir = makeFolder();
  const restored = emptyFolder(backupDir, "restored", dataDir);
  const backup = spawnProgram(["backup", "--to", "-"], { DATA_DIR: dataDir });
  const restore = spawnProgram(["restore", "--from", "-", "--keep-open"], { DATA_DIR: restored });
  const ended = Promise.all(
    [backup, restore].map((child) => new Promise((done) => child.on("exit", (code) => done(code)))),
  );
  if (backup.stdout === null || restore.stdin === null) throw new Error("The commands are not piped.");
  await pipeline(backup.stdout, restore.stdin);
  expect(await ended).toEqual([0, 0]);
  expect(readdirSync(dataDir).filter((name) => name.startsWith("backup"))).toEqual([]);
  await expectOpens(await startServer({ dataDir: restored }), push);
});

test("a closed pipe ends the backup with one sentence and leaves nothing behind", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir, environment: anonymousFiles });
  await sendFile(server, 3_000_000);
  const backup = spawnProgram(["backup", "--to", "-"], { DATA_DIR: dataDir });
  backup.stdout?.destroy();
  let said = "";
  backup.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  expect(await new Promise((done) => backup.on("close", done))).toBe(1);
  expect(said).toBe("The standard output cannot be written (broken pipe).\n");
  expect(readdirSync(dataDir).filter((name) => name.startsWith("backup"))).toEqual([]);
});

/** Resolves once a matching path exists below the folder. */
async function appears(folder: string, shape: RegExp): Promise<void> {
  const there = () => readdirSync(folder, { recursive: true }).some((path) => shape.test(String(path)));
  await vi.waitUntil(there, { interval: 2, timeout: 60_000 });
}

/** The data folder of a stopped server, with a push and files that take nearly a hundred writes to copy. */
let large: { readonly dataDir: string; readonly push: KnownPush };
const largeEnds: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-"));
  largeEnds.push(async () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "data");
  const server = await launchServer({ dataDir, environment: anonymousFiles }, (end) => largeEnds.push(end));
  const push = await createPush(server.baseUrl, { payload: "outlives the kill", expire_after_views: 2 });
  for (let count = 0; count < 4; count += 1) await sendFile(server, 6_000_000);
  await server.stop();
  large = { dataDir, push };
});
afterAll(async () => {
  for (const end of largeEnds.reverse()) await end();
});

/** A copy of it. */
function largeDomain(): { dataDir: string; push: KnownPush } {
  const dataDir = newDataDir();
  cpSync(large.dataDir, dataDir, { recursive: true });
  return { dataDir, push: large.push };
}

describe("a backup that is interrupted", () => {
  test.each(["b", "b.tar"])("by SIGKILL leaves no %s and no file that could be mistaken for a backup", async (name) => {
    const { dataDir, push } = largeDomain();
    const server = await startServer({ dataDir });
    const backupDir = makeFolder();
    const interrupted = signalledWhileWriting(/partial-.*(blobs|archive\.tar)/, "SIGKILL");
    const backup = spawnProgram(["backup", "--to", join(backupDir, name)], { DATA_DIR: dataDir, ...interrupted });
    const ended = new Promise((done) => backup.on("exit", (_code, signal) => done(signal)));
    expect(await ended).toBe("SIGKILL");
    const [left = ""] = readdirSync(backupDir);
    expect(left).toMatch(/\.partial-[0-9a-f]{12}$/);
    const from = name === "b" ? join(backupDir, left) : join(backupDir, left, "archive.tar");
    const verified = await runProgram(["backup", "verify", "--from", from], { DATA_DIR: dataDir });
    expect(verified.exitCode).toBe(1);
    expect(verified.stderr).toMatch(/not complete|not completed|ends too early/);
    await expectOpens(server, push);
    await succeed(["backup", "--to", join(backupDir, name)], dataDir);
  });

  test("by SIGTERM cleans up and reports that nothing was written", async () => {
    const { dataDir } = largeDomain();
    await startServer({ dataDir });
    const backupDir = makeFolder();
    const interrupted = signalledWhileWriting(/partial-.*blobs/, "SIGTERM");
    const backup = spawnProgram(["backup", "--to", join(backupDir, "b")], { DATA_DIR: dataDir, ...interrupted });
    let said = "";
    backup.stderr?.on("data", (chunk) => {
      said += String(chunk);
    });
    const ended = new Promise((done) => backup.on("close", done));
    expect(await ended).toBe(1);
    expect(said).toContain("Interrupted (SIGTERM)");
    expect(readdirSync(backupDir)).toEqual([]);
  });
});

test("a restore interrupted by SIGKILL leaves a folder that servers and further restores refuse", async () => {
  const { dataDir, push } = largeDomain();
  const backupDir = makeFolder();
  await succeed(["backup", "--to", join(backupDir, "b")], dataDir);
  const restored = emptyFolder(backupDir, "restored", dataDir);
  const argv = ["restore", "--from", join(backupDir, "b"), "--keep-open"];
  const interrupted = signalledWhileWriting(/restore-unfinished\/.*blobs/, "SIGKILL");
  const restore = spawnProgram(argv, { DATA_DIR: restored, ...interrupted });
  const ended = new Promise((done) => restore.on("exit", (_code, signal) => done(signal)));
  expect(await ended).toBe("SIGKILL");

  for (const again of [["serve"], argv]) {
    const refused = await runProgram(again, { DATA_DIR: restored, PORT: "0" });
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout + refused.stderr).toContain("is running or was interrupted");
  }
  expect(existsSync(join(restored, "sealpush.sqlite3"))).toBe(false);
  const anew = emptyFolder(backupDir, "anew", dataDir);
  await succeed(argv, anew);
  await expectOpens(await startServer({ dataDir: anew }), push);
});

test("a restore that waits for the rest of a pipe ends with the first signal and leaves nothing behind", async () => {
  const { dataDir } = largeDomain();
  const backupDir = makeFolder();
  const archive = join(backupDir, "b.tar");
  await succeed(["backup", "--to", archive], dataDir);
  const restored = emptyFolder(backupDir, "restored", dataDir);
  const restoring = spawnProgram(["restore", "--from", "-", "--keep-open"], { DATA_DIR: restored });
  const answered = outputOf(restoring);
  const bytes = readFileSync(archive);
  // The command closes the pipe.
  restoring.stdin?.on("error", () => undefined).write(bytes.subarray(0, bytes.length / 2));
  await appears(restored, /restore-unfinished\/./);
  restoring.kill("SIGINT");
  expect(await answered.exitCode).toBe(1);
  expect(answered.text).toBe("Interrupted (SIGINT): nothing was done.\n");
  expect(readdirSync(restored)).toEqual(["master.key"]);
});

test("a server that has checked for a restore just before one begins does not serve beside it", async () => {
  const { dataDir } = largeDomain();
  const archive = join(makeFolder(), "b.tar");
  await succeed(["backup", "--to", archive], dataDir);
  const restored = newDataDir();
  const settings = { DATA_DIR: restored, PWPUSH_MASTER_KEY: readFileSync(join(dataDir, "master.key"), "utf8").trim() };
  const continued = join(makeFolder(), "continued");
  const paused = { NODE_OPTIONS: preloaded(pauseAfterCheck), CONTINUED: continued };
  const serving = spawnProgram(["serve"], { ...settings, ...paused, PORT: "0" });
  const served = outputOf(serving);
  await vi.waitUntil(() => served.text.includes("checked"), { interval: 2, timeout: 60_000 });
  const restoring = spawnProgram(["restore", "--from", "-", "--keep-open"], settings);
  const answered = outputOf(restoring);
  const bytes = readFileSync(archive);
  restoring.stdin?.write(bytes.subarray(0, bytes.length / 2));
  await appears(restored, /restore-unfinished\/./);

  writeFileSync(continued, "");
  expect(await served.exitCode).toBe(1);
  expect(served.text).toContain("is running or was interrupted");
  restoring.stdin?.end(bytes.subarray(bytes.length / 2));
  expect(await answered.exitCode).toBe(1);
  expect(answered.text).toContain("sealpush.sqlite3 exists already");
  expect(readdirSync(restored)).toEqual(["sealpush.sqlite3"]);
});

test("a restore onto another disk replaces no database that was created meanwhile", async () => {
  const dataDir = newDataDir();
  const server = await startServer({ dataDir });
  await createPush(server.baseUrl, { payload: "x", expire_after_views: 1 });
  const backupDir = makeFolder();
  await succeed(["backup", "--to", join(backupDir, "b")], dataDir);
  const restored = emptyFolder(backupDir, "restored", dataDir);
  const { exitCode, stderr } = await runProgram(["restore", "--from", join(backupDir, "b"), "--keep-open"], {
    DATA_DIR: restored,
    NODE_OPTIONS: preloaded(databaseOnAnotherDisk),
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("sealpush.sqlite3 exists already");
  expect(readdirSync(restored).toSorted()).toEqual(["master.key", "sealpush.sqlite3"]);
  expect(readFileSync(join(restored, "sealpush.sqlite3"), "utf8")).toBe("new");
});

/** The process gets the signal when it writes the 40th time to files whose paths match: from outside, it might be done already. */
function signalledWhileWriting(shape: RegExp, signal: NodeJS.Signals) {
  const module = `
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    const { open } = fs;
    let writes = 0;
    fs.open = async (path, ...options) => {
      const file = await open(path, ...options);
      if (!${shape}.test(String(path))) return file;
      const write = file.write.bind(file);
      file.write = (...content) => {
        writes += 1;
        if (writes === 40) process.kill(process.pid, "${signal}");
        return write(...content);
      };
      return file;
    };
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: preloaded(module) };
}

/** Waits for a file after the first look for an unfinished restore. */
const pauseAfterCheck = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    const exists = existsSync(path);
    if (String(path).endsWith("restore-unfinished")) {
      fs.existsSync = existsSync;
      syncBuiltinESMExports();
      fs.writeSync(1, "checked");
      while (!existsSync(process.env.CONTINUED)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
    return exists;
  };
  syncBuiltinESMExports();`;

/** The first link fails as between two disks, and the database is created at that moment. */
const databaseOnAnotherDisk = `
  import fs from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  const { link } = fs;
  fs.link = async (from, to) => {
    fs.link = link;
    syncBuiltinESMExports();
    await fs.writeFile(to, "new");
    throw Object.assign(new Error("EXDEV"), { code: "EXDEV", syscall: "link" });
  };
  syncBuiltinESMExports();`;

function outputOf(child: ChildProcess): { text: string; readonly exitCode: Promise<number | null> } {
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { text: "", exitCode: new Promise<number | null>((done) => child.on("close", done)) };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output.text += String(chunk);
    });
  }
  return output;
}

describe.runIf(process.platform === "linux")("a full disk", () => {
  test.each(["b", "b.tar"])("ends a backup to %s with one sentence and leaves nothing behind", async (name) => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment: anonymousFiles });
    await sendFile(server, 3_000_000);
    // First the files do not fit, then not even the database.
    for (const bytes of [2_000_000, 50_000]) {
      const backupDir = makeFolder();
      const argv = ["backup", "--to", join(backupDir, name)];
      const run = await runProgram(argv, { DATA_DIR: dataDir }, "", withFileBytesMax(bytes));
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toMatch(/^[A-Z/][^\n]+(file too large|SQLITE_\w+)\)\.\n$/);
      expect(readdirSync(backupDir)).toEqual([]);
    }
  });

  test("ends a restore with one sentence and leaves the data folder unchanged", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir, environment: anonymousFiles });
    await sendFile(server, 3_000_000);
    const backupDir = makeFolder();
    await succeed(["backup", "--to", join(backupDir, "b")], dataDir);
    const restored = emptyFolder(backupDir, "restored", dataDir);
    for (const bytes of [2_000_000, 50_000]) {
      const argv = ["restore", "--from", join(backupDir, "b"), "--keep-open"];
      const run = await runProgram(argv, { DATA_DIR: restored }, "", withFileBytesMax(bytes));
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toContain("file too large");
      expect([...filesIn(restored).keys()]).toEqual(["master.key"]);
    }
  });
});
