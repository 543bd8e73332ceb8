import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { beginCreation, expectClosed, expectOpensOnce, finishCreation } from "../support/begun-creation.ts";
import { newDataDir, spawnProgram } from "../support/processes.ts";
import { refusesConnections } from "../support/refuses-connections.ts";
import { startServer, startServerByNpm } from "../support/server.ts";

/** Blocks the server's thread until it reads a byte: before it loads its program, or where that replaces the first listener to SIGTERM. */
const blockAt = (moment: "program" | "replacement") => `
  import { readSync, writeSync } from "node:fs";
  const block = () => {
    writeSync(1, "blocked\\n");
    for (const lock = new Int32Array(new SharedArrayBuffer(4)); ; Atomics.wait(lock, 0, 0, 10)) {
      try {
        return readSync(0, Buffer.alloc(1));
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
  };
  let listeners = 0;
  process.on("newListener", (name) => {
    if ("${moment}" === "program" && name === "SIGUSR1") queueMicrotask(block);
    if ("${moment}" === "replacement" && name === "SIGTERM" && (listeners += 1) === 2) block();
  });`;

describe("a server that receives a stop signal", () => {
  it.each([
    ["before its program is loaded", "program"],
    ["while its program replaces the first listener", "replacement"],
  ] as const)("%s ends by itself", async (_when, moment) => {
    const dataDir = newDataDir();
    const environment = { PORT: "0", DATA_DIR: dataDir };
    const preload = `data:text/javascript,${encodeURIComponent(blockAt(moment))}`;
    const child = spawnProgram(["serve"], { ...environment, NODE_OPTIONS: `--import=${preload}` });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await once(child.stdout ?? child, "data");
    child.kill("SIGTERM");
    child.stdin?.end("x");
    expect(await ended).toEqual([expect.any(Number), null]);
  });

  it("treats two signals in quick succession as one", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const creation = await beginCreation(server);
    process.kill(server.pid, "SIGTERM");
    process.kill(server.pid, "SIGINT");
    await server.logged("server_stopping");
    await finishCreation(creation);
    expect(await server.ended).toEqual({ exitCode: 0, signal: null });
    await expectClosed(dataDir);
  });

  it("whose log reader exits on the same signal stops normally", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const creation = await beginCreation(server);
    process.kill(server.pid, "SIGTERM");
    await server.logged("server_stopping");
    server.closeLog();
    await finishCreation(creation);
    expect(await server.ended).toEqual({ exitCode: 0, signal: null });
    await expectClosed(dataDir);
  });

  it("through npm alone, as on a container's stop, drains in the same way", async () => {
    const dataDir = newDataDir();
    const server = await startServerByNpm({ dataDir });
    process.kill(server.pid, "SIGTERM");
    await server.logged("server_stopped");
    await server.ended;
    await expectClosed(dataDir);
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "in a process group with npm, on %s, drains in the same way",
    async (signal) => {
      const dataDir = newDataDir();
      const server = await startServerByNpm({ dataDir });
      const creation = await beginCreation(server);
      // As a terminal's Ctrl-C and a supervisor do: all processes of the group get the signal.
      process.kill(-server.pid, signal);
      await server.logged("server_stopping");
      await refusesConnections(server.port);
      const push = await finishCreation(creation);
      await server.ended;
      expect(server.logLines.some((line) => line.includes('"event":"server_stopped"'))).toBe(true);
      await expectClosed(dataDir);
      await expectOpensOnce(dataDir, push);
    },
  );
});
