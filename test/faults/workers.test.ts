import { describe, expect, it } from "vitest";
import { keepAsking } from "../support/keep-asking.ts";
import { newDataDir } from "../support/processes.ts";
import { type ServerProcess, startWorkers } from "../support/server.ts";

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
  return linesOf(server, "worker_started").map(({ pid = 0 }) => pid);
}

describe("workers of one primary", () => {
  it("are replaced one after the other without a request that fails", async () => {
    const server = await startWorkers(2, { dataDir: newDataDir() });
    const before = pidsOf(server);
    const load = keepAsking({ port: server.port, keptAlive: 4, fresh: 2 });
    await load.more(50);
    process.kill(server.pid, "SIGHUP");
    await server.logged("roll_done");
    await load.more(50);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(pidsOf(server).length).toBe(4);
    expect(before.every((pid) => isGone(pid))).toBe(true);
    expect(await server.stop()).toEqual({ exitCode: 0, signal: null });
  });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
