import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * SIGKILL does not prove durability, because what the process has written survives in the system's cache. So this traces
 * the system calls of a real server: between the last write to the write-ahead log and each acknowledging answer, the log
 * must have been synced. As a control, the same trace of a server without syncs must report unsynced answers.
 */

const root = resolve(import.meta.dirname, "../..");
const requests = 40;
const startSeconds = 30;

interface SyncReport {
  readonly answers: number;
  readonly unsynced: number;
}

async function observe(preload: readonly string[]): Promise<SyncReport> {
  const folder = mkdtempSync(join(tmpdir(), "sealpush-durability-"));
  const trace = join(folder, "trace");
  const server = spawn(
    "strace",
    [
      "-D",
      "-f",
      "-y",
      "-s",
      "40",
      "-e",
      "trace=pwrite64,fdatasync,fsync,write,writev,sendto",
      "-o",
      trace,
      process.execPath,
      ...preload,
      join(root, "dist/main.js"),
      "serve",
    ],
    {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        PORT: "0",
        DATA_DIR: join(folder, "data"),
        PWP__DISK__FREE_MIN_BYTES: "0",
        PWP__THROTTLING__MINUTE: "unlimited",
        PWP__THROTTLING__SECOND: "unlimited",
      },
    },
  );
  try {
    const port = await listeningPort(server);
    for (let request = 0; request < requests; request += 1) await createAndOpen(port);
    const closed = once(server, "close");
    server.kill("SIGTERM");
    await closed;
    return analyse(readFileSync(trace, "utf8"));
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listeningPort(server: ChildProcess): Promise<number> {
  const alarm = AbortSignal.timeout(startSeconds * 1_000);
  let output = "";
  if (server.stdout === null) throw new Error("The server has no output.");
  server.stdout.setEncoding("utf8");
  while (!output.includes("server_started")) {
    const [chunk] = await once(server.stdout, "data", { signal: alarm });
    output += String(chunk);
  }
  server.stdout.resume();
  const port = /"event":"server_started".*?"port":(\d+)/.exec(output)?.[1];
  if (port === undefined) throw new Error("The server logged no port.");
  return Number(port);
}

async function createAndOpen(port: number): Promise<void> {
  const base = `http://127.0.0.1:${port}/api/v2/pushes`;
  const created = await fetch(base, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ push: { payload: "durable", expire_after_views: 1 } }),
  });
  if (created.status !== 201) throw new Error(`Creating was answered ${created.status}.`);
  const { url_token: token } = (await created.json()) as { url_token: string };
  const opened = await fetch(`${base}/${token}`);
  if (opened.status !== 200) throw new Error(`Retrieving was answered ${opened.status}.`);
  await opened.arrayBuffer();
}

/**
 * `-y` shows the file behind each descriptor: the log is the one whose name ends in `-wal`. A sync covers what was written
 * before it began, once it has returned. It runs in another thread, so its line may be split in two.
 */
function analyse(trace: string): SyncReport {
  let written = 0;
  let synced = 0;
  let answers = 0;
  let unsynced = 0;
  const writtenAtStart = new Map<string, number>();
  for (const line of trace.split("\n")) {
    const thread = line.slice(0, line.indexOf(" "));
    if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) written += 1;
    else if (/(?:fdatasync|fsync)\(\d+<[^>]*-wal> <unfinished/.test(line)) writtenAtStart.set(thread, written);
    else if (/(?:fdatasync|fsync)\(\d+<[^>]*-wal>\) += 0/.test(line)) synced = written;
    else if (/<\.\.\. (?:fdatasync|fsync) resumed>\) += 0/.test(line)) {
      synced = Math.max(synced, writtenAtStart.get(thread) ?? 0);
      writtenAtStart.delete(thread);
    } else if (/(?:write|writev|sendto)\(\d+<.*HTTP\/1\.1 20[01]/.test(line)) {
      answers += 1;
      if (written > synced) unsynced += 1;
    }
  }
  return { answers, unsynced };
}

const durable = await observe([]);
console.log(`with syncs:    ${durable.answers} answers, ${durable.unsynced} before the log was synced`);
const withoutSync = await observe(["--import", join(root, "test/support/synchronous-off.ts")]);
console.log(`without syncs: ${withoutSync.answers} answers, ${withoutSync.unsynced} before the log was synced`);

const expected = 2 * requests;
if (durable.answers < expected || durable.unsynced > 0)
  throw new Error("An answer was sent before its commit was durable.");
if (withoutSync.answers < expected || withoutSync.unsynced === 0)
  throw new Error("The proof did not detect missing syncs.");
console.log("Every answer was sent after its commit was synced, and the proof detects missing syncs.");
