import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buildAssets, buildServer, findModifiedMs, root, serverFile } from "./bundles.ts";

const parentCheckMs = 250;

/** The newest time among the sources, so that a command always runs the current source. */
async function sourcesModifiedMs(): Promise<number> {
  const folders = ["src", "packages/age/src", "packages/client/src", "packages/import-password-pusher/src"];
  const lists = folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }));
  const entries = (await Promise.all(lists)).flat();
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const times = await Promise.all([...files, join(root, "package.json")].map(findModifiedMs));
  return Math.max(...times.map((time) => time ?? 0));
}

async function isBuilt(): Promise<boolean> {
  const builtMs = await findModifiedMs(serverFile);
  return builtMs !== undefined && builtMs >= (await sourcesModifiedMs());
}

// A server may be running from the same folder: its assets are kept.
if (!(await isBuilt())) await Promise.all([buildServer({ removeOthers: false }), buildAssets({ removeOthers: false })]);

// A debugger could read the keys. After "--": Node would treat --env-file as its own option.
const command = spawn(process.execPath, ["--disable-sigusr1", "--", serverFile, ...process.argv.slice(2)], {
  stdio: "inherit",
});
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
for (const signal of signals) process.on(signal, () => command.kill(signal));
// npm sends signals to its shell, which may end without passing them on. Then this process has another parent.
const shell = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === shell) return;
  clearInterval(watch);
  command.kill("SIGTERM");
}, parentCheckMs);
command.on("exit", (code, signal) => {
  clearInterval(watch);
  for (const name of signals) process.removeAllListeners(name);
  if (signal === null) process.exitCode = code ?? 1;
  else process.kill(process.pid, signal);
});
