import { spawn } from "node:child_process";
import { buildAssets, buildServer, isBuilt, serverFile } from "./bundles.ts";

const parentCheckMs = 250;

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
