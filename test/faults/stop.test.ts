import { once } from "node:events";
import { existsSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { databaseFile } from "../support/database-file.ts";
import { withDatabaseOf } from "../support/database-of.ts";
import { createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { engine, settingsOfEngine } from "../support/engine.ts";
import { countRows } from "../support/engine-database.ts";
import { findDamage } from "../support/integrity-checks.ts";
import { newDataDir, spawnProgram } from "../support/processes.ts";
import { refusesConnections } from "../support/refuses-connections.ts";
import { type ServerProcess, startServer, startServerByNpm } from "../support/server.ts";

const payload = "sent in two halves";
const body = JSON.stringify({ push: { payload, expire_after_views: 1 } });

/** A request whose headers the server has read; it waits for the body. */
async function beginCreation(server: ServerProcess): Promise<ClientRequest> {
  const creation = request(`${server.baseUrl}/api/v2/pushes`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": body.length, expect: "100-continue" },
  });
  creation.flushHeaders();
  // The server sends "100 Continue" when it has started to handle the request.
  await once(creation, "continue");
  creation.write(body.slice(0, 20));
  return creation;
}

async function finishCreation(creation: ClientRequest) {
  creation.end(body.slice(20));
  const [answer] = (await once(creation, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  expect(answer.statusCode, text).toBe(201);
  const { url_token: urlToken } = JSON.parse(text) as { url_token: string };
  return { urlToken, payload, views: 1 };
}

/** Expects that the database was closed: its log was merged and deleted, or no connection is left. */
async function expectClosed(dataDir: string): Promise<void> {
  if (engine === "sqlite") {
    for (const ending of ["-wal", "-shm"]) expect(existsSync(`${databaseFile(dataDir)}${ending}`)).toBe(false);
  } else {
    const others = "datname = current_database() AND pid <> pg_backend_pid()";
    await withDatabaseOf(dataDir, (db) => expect.poll(() => countRows(db, "pg_stat_activity", others)).toBe(0));
  }
  expect(await findDamage(dataDir)).toEqual([]);
}

async function expectOpensOnce(dataDir: string, push: Awaited<ReturnType<typeof finishCreation>>): Promise<void> {
  const restarted = await startServer({ dataDir });
  expect(await retrieve(endpoints.apiV2, restarted.baseUrl, push)).toBe("payload");
  expect(await retrieve(endpoints.apiV2, restarted.baseUrl, push)).toBe("gone");
}

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
    const environment = { PORT: "0", DATA_DIR: dataDir, ...(await settingsOfEngine(dataDir, {})) };
    const preload = `data:text/javascript,${encodeURIComponent(blockAt(moment))}`;
    const child = spawnProgram(["serve"], { ...environment, NODE_OPTIONS: `--import=${preload}` });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await once(child.stdout ?? child, "data");
    child.kill("SIGTERM");
    child.stdin?.end("x");
    expect(await ended).toEqual([expect.any(Number), null]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "finishes running requests on %s, accepts no new ones and exits",
    async (signal) => {
      const dataDir = newDataDir();
      const server = await startServer({ dataDir });
      const creation = await beginCreation(server);
      process.kill(server.pid, signal);
      await server.logged("server_stopping");
      await refusesConnections(server.port);
      const push = await finishCreation(creation);
      expect(await server.ended).toEqual({ exitCode: 0, signal: null });
      expect(server.logLines.at(-1)).toContain('"event":"server_stopped"');
      await expectClosed(dataDir);
      await expectOpensOnce(dataDir, push);
    },
  );

  it("is not held up by connections without a request", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    await createPush(server.baseUrl, { payload: "kept alive", expire_after_views: 1 });
    const silent = connect(server.port, "127.0.0.1");
    await once(silent, "connect");
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    silent.destroy();
    await expectClosed(dataDir);
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

  it("exits if it is starting or has just started", async () => {
    const dataDir = newDataDir();
    for (let round = 0; round < 3; round += 1) {
      const server = await startServer({ dataDir });
      expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
      await expectClosed(dataDir);
    }
  });

  it("because its log output is closed, finishes running requests, says so and exits with an error", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ dataDir });
    const creation = await beginCreation(server);
    server.closeLog();
    // The log line of this request is the first that cannot be written.
    expect((await fetch(server.baseUrl)).status).toBe(200);
    await refusesConnections(server.port);
    const push = await finishCreation(creation);
    expect(await server.ended).toEqual({ exitCode: 1, signal: null });
    expect(server.logLines.filter((line) => !line.startsWith("{"))).toEqual([
      "The log cannot be written any more (EPIPE). The server finishes running requests and stops.",
    ]);
    await expectClosed(dataDir);
    await expectOpensOnce(dataDir, push);
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
