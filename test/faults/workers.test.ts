import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { settingsOfEngine } from "../support/engine.ts";
import { newDataDir } from "../support/processes.ts";
import { longIdleGrace, startRequestLoad } from "../support/request-load.ts";
import { runWorkers, type ServerProcess, startWorkers } from "../support/server.ts";

interface Line {
  readonly event: string;
  readonly worker?: number;
  readonly pid?: number;
  readonly signal?: string | null;
}

function linesOf(server: ServerProcess, event: string): readonly Line[] {
  return server.logLines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.event === event);
}

function pidsOf(server: ServerProcess): readonly number[] {
  return linesOf(server, "worker_started").map(({ pid }) => {
    if (pid === undefined) throw new Error("A worker logged no process id.");
    return pid;
  });
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Error codes that a client gets from a killed process. */
const cut = ["ECONNRESET", "EPIPE"];

describe("workers", () => {
  it("are replaced one after the other without a failed request", async () => {
    const server = await startWorkers(2, { dataDir: newDataDir(), environment: longIdleGrace });
    const before = pidsOf(server);
    const load = startRequestLoad({ port: server.port, keptAlive: 4, fresh: 2 });
    await load.more(50);
    for (const rolls of [1, 2]) {
      process.kill(server.pid, "SIGHUP");
      await server.logged("roll_done", rolls);
      await load.more(50);
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(new Set(pidsOf(server)).size).toBe(6);
    expect(before.filter(runs)).toEqual([]);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
  });

  it("that die are replaced while the others continue", async () => {
    const server = await startWorkers(3, { dataDir: newDataDir() });
    const load = startRequestLoad({ port: server.port, keptAlive: 4, fresh: 2, expected: cut });
    for (let kill = 1; kill <= 4; kill += 1) {
      await load.more(30);
      const victim = pidsOf(server).find(runs);
      if (victim === undefined) throw new Error("There is no worker.");
      process.kill(victim, "SIGKILL");
      await server.logged("worker_started", 3 + kill);
    }
    await load.more(100);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(linesOf(server, "worker_lost").map(({ signal }) => signal)).toEqual(Array(4).fill("SIGKILL"));
    expect(pidsOf(server).filter(runs)).toHaveLength(3);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stopped by %s all finish their running requests", async (signal) => {
    const server = await startWorkers(2, { dataDir: newDataDir(), environment: longIdleGrace });
    const load = startRequestLoad({ port: server.port, keptAlive: 6, fresh: 0, expected: ["ECONNREFUSED"] });
    await load.more(50);
    const creations = await Promise.all(Array.from({ length: 4 }, () => beginCreation(server.port)));
    process.kill(server.pid, signal);
    await server.logged("server_stopping");
    expect(await Promise.all(creations.map(finishCreation))).toEqual([201, 201, 201, 201]);
    expect(await server.ended).toEqual({ exitCode: 0, signal: null });
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(linesOf(server, "worker_stopped").map(({ worker }) => worker)).toEqual(expect.arrayContaining([1, 2]));
    expect(pidsOf(server).filter(runs)).toEqual([]);
  });

  it("stopped one by one finish their running requests and are replaced", async () => {
    const server = await startWorkers(2, { dataDir: newDataDir(), environment: longIdleGrace });
    const load = startRequestLoad({ port: server.port, keptAlive: 4, fresh: 2 });
    await load.more(30);
    process.kill(pidsOf(server)[0] ?? 0, "SIGTERM");
    await server.logged("worker_started", 3);
    await load.more(30);
    await load.stop();
    expect(load.failures).toEqual([]);
  });

  it("whose primary was killed finish their running requests and exit", async () => {
    const server = await startWorkers(2, { dataDir: newDataDir() });
    const creation = await beginCreation(server.port);
    process.kill(server.pid, "SIGKILL");
    // An idle worker ends now, the other one after its request.
    await server.logged("worker_stopped");
    expect(await finishCreation(creation)).toBe(201);
    // Settles when all processes have closed the outputs.
    await server.ended;
    expect(linesOf(server, "worker_stopped")).toHaveLength(2);
  });

  it("share one boot code, one master key and one warning about settings", async () => {
    const server = await startWorkers(4, { dataDir: newDataDir(), environment: { PWP__NO_SUCH_SETTING: "1" } });
    for (const event of ["boot_code_made", "master_key_made", "setting_warning", "server_started"]) {
      expect(linesOf(server, event), event).toHaveLength(1);
    }
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
    expect(new Set(linesOf(server, "worker_stopped").map(({ worker }) => worker))).toEqual(new Set([1, 2, 3, 4]));
  });

  it("report a failed start once, in one sentence", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      taken.close();
    });
    await once(taken, "listening");
    const address = taken.address();
    if (address === null || typeof address === "string") throw new Error("The port is not known.");
    const dataDir = newDataDir();
    const environment = { ...(await settingsOfEngine(dataDir)), DATA_DIR: dataDir, PORT: String(address.port) };
    const inUse = await runWorkers(4, environment);
    expect(inUse.exitCode).toBe(1);
    expect(inUse.stderr).toBe(
      `The server cannot listen on 127.0.0.1 port ${address.port} (another process already listens there): check HOST and PORT.\n`,
    );
    const misspelled = await runWorkers(4, { ...environment, PORT: "0", PWP__ALLOW_ANONYMOUS: "perhaps" });
    expect(misspelled).toMatchObject({ exitCode: 2, stdout: "" });
    expect(misspelled.stderr).toMatch(/^PWP__ALLOW_ANONYMOUS [^\n]*\.\n$/);
  });
});

const body = JSON.stringify({ push: { payload: "sent in two halves", expire_after_views: 1 } });

/** A request whose headers a worker has read; it waits for the body. */
async function beginCreation(port: number): Promise<ClientRequest> {
  const creation = request(`http://127.0.0.1:${port}/api/v2/pushes`, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", "content-length": body.length, expect: "100-continue" },
  });
  creation.flushHeaders();
  await once(creation, "continue");
  creation.write(body.slice(0, 20));
  return creation;
}

/** @returns the status. */
async function finishCreation(creation: ClientRequest): Promise<number | undefined> {
  creation.end(body.slice(20));
  const [answer] = (await once(creation, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
