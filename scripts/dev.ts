import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { join } from "node:path";
import { context } from "esbuild";
import { buildAssets, root, serverBundle, serverFile } from "./bundles.ts";

// Editors save several files at once; a restart waits until they are done.
const settleMs = 100;

let server: ChildProcess | undefined;
let asked = false;
let restarting = false;

async function stop(): Promise<void> {
  const running = server;
  server = undefined;
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  const exited = once(running, "exit");
  running.kill("SIGTERM");
  await exited;
}

function start(): void {
  const started = spawn(process.execPath, ["--enable-source-maps", serverFile, "serve", ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  started.on("exit", (code) => {
    if (started === server && code !== 0) console.error(`The server ended with code ${code}; waiting for a change.`);
  });
  server = started;
}

/** Restarts one at a time; changes during a restart cause one more. */
async function restart(): Promise<void> {
  asked = true;
  if (restarting) return;
  restarting = true;
  while (asked) {
    asked = false;
    try {
      await Promise.all([bundle.rebuild(), buildAssets({ removeOthers: false })]);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      continue;
    }
    await stop();
    start();
  }
  restarting = false;
}

const bundle = await context(serverBundle);
let settling: NodeJS.Timeout | undefined;
const watcher = watch(join(root, "src"), { recursive: true }, () => {
  clearTimeout(settling);
  settling = setTimeout(() => void restart(), settleMs);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    watcher.close();
    clearTimeout(settling);
    await Promise.all([stop(), bundle.dispose()]);
  });
}
await restart();
