import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newDataDir } from "../support/processes.ts";
import { type ServerProcess, startByNpm, startServerByCommand } from "../support/server.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(resolve(root, path), "utf8");

/** Shell commands that start the server, as shipped except for the path of the program. */
const shipped = {
  "the systemd unit": `exec ${/^ExecStart=(.*)$/m.exec(read("deploy/systemd/sealpush.service"))?.[1]}`
    .replaceAll("/opt/sealpush/node/bin/node", process.execPath)
    .replaceAll("/opt/sealpush/", `${root}/`),
  "the container": read("deploy/container/sealpush").replaceAll("/app/", `${root}/`).replaceAll('"$@"', "serve"),
  "npm run sealpush": "exec npm run -s sealpush -- serve",
  "npm start": `exec ${startByNpm.join(" ")}`,
};

/** Processes of this group that run the program. */
function programsOfGroup(group: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [stat = "", command = ""] = ["stat", "cmdline"].map((file) => textOf(`/proc/${pid}/${file}`));
      const [, groupOf] = /\) \S \d+ (\d+) /.exec(stat) ?? [];
      return Number(groupOf) === group && /\0\S*dist\/main\.js\0/.test(command) && !command.includes("npm");
    });
}

/** "" if the process has just ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return "";
    throw error;
  }
}

/** The option `--disable-sigusr1` blocks the signal, also while the program is being loaded. */
function expectBlocked(pids: readonly number[]): void {
  for (const pid of pids) {
    const [, blocked = ""] = /^SigBlk:\s*(\w+)$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
    expect((BigInt(`0x${blocked}`) >> 9n) & 1n, `whether ${pid} blocks SIGUSR1`).toBe(1n);
  }
}

/** @param stop ends the server, so that its output is complete. */
async function expectNoDebugger(
  server: ServerProcess,
  pids: readonly number[],
  stop: () => Promise<unknown>,
): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGUSR1");
  expect((await fetch(`${server.baseUrl}/up`)).status).toBe(200);
  await stop();
  const isDebugger = (line: string) => line.includes("Debugger listening");
  expect(server.logLines.filter(isDebugger)).toEqual([]);
}

test.each(Object.entries(shipped))("SIGUSR1 opens no debugger in a server started by %s", async (_by, command) => {
  const server = await startServerByCommand(["bash", "-c", command], { dataDir: newDataDir() });
  onTestFinished(() => {
    for (const pid of programsOfGroup(server.pid)) process.kill(pid, "SIGKILL");
  });
  const pids = programsOfGroup(server.pid);
  expect(pids).toHaveLength(1);
  expectBlocked(pids);
  await expectNoDebugger(server, pids, () => {
    for (const pid of pids) process.kill(pid, "SIGTERM");
    return server.ended;
  });
});

test("SIGUSR1 opens no debugger in a server started without Node's option", async () => {
  const byHand = [process.execPath, "dist/main.js", "serve"] as const;
  const server = await startServerByCommand(byHand, { dataDir: newDataDir() });
  await expectNoDebugger(server, [server.pid], server.stop);
});
