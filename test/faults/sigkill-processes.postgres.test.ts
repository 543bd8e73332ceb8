import { expect, it } from "vitest";
import { newDataDir } from "../support/processes.ts";
import { PushLedger, type Target } from "../support/push-ledger.ts";
import { PushLoad } from "../support/push-load.ts";
import { roundsOf } from "../support/rounds.ts";
import { seededNumbers } from "../support/seeded-numbers.ts";
import { type ServerProcess, startServer } from "../support/server.ts";

const kills = roundsOf(10);
/** Each client pauses after a request: the other process goes on while one starts, and each of its pushes is retrieved again at the end. */
const pauseMs = 10;

/** A server process that can be killed and replaced. */
class ReplaceableServer implements Target {
  mayBreak = false;
  readonly #dataDir: string;
  #server: ServerProcess;

  constructor(dataDir: string, server: ServerProcess) {
    this.#dataDir = dataDir;
    this.#server = server;
  }

  static async open(dataDir: string): Promise<ReplaceableServer> {
    return new ReplaceableServer(dataDir, await startServer({ dataDir }));
  }

  get baseUrl(): string {
    return this.#server.baseUrl;
  }

  async killAndReplace(): Promise<void> {
    this.mayBreak = true;
    await this.#server.kill();
    this.#server = await startServer({ dataDir: this.#dataDir });
    this.mayBreak = false;
  }

  stop() {
    return this.#server.stop();
  }
}

it("loses no acknowledged push and exceeds no view limit when processes are killed 10 times next to others", {
  timeout: 600_000,
}, async () => {
  const random = seededNumbers(0x20c1);
  const dataDir = newDataDir();
  const servers = [await ReplaceableServer.open(dataDir), await ReplaceableServer.open(dataDir)];
  const ledger = new PushLedger(random);
  const load = new PushLoad(ledger, servers, 6, pauseMs);
  for (let kill = 0; kill < kills; kill += 1) {
    await load.more(50 + Math.floor(random() * 100));
    await servers[kill % servers.length]?.killAndReplace();
  }
  await load.stop();
  const [first, other] = servers;
  if (first === undefined || other === undefined) throw new Error("There are not two processes.");
  await ledger.verify(first.baseUrl, 0.5);
  await ledger.verify(other.baseUrl);
  expect(load.counts.cut).toBeGreaterThan(0);
  expect(await first.stop()).toEqual({ exitCode: 0, signal: null });
  expect(await other.stop()).toEqual({ exitCode: 0, signal: null });
  console.log(`${kills} kills of one of two processes: ${load.counts.done} requests done; ${ledger.summary}`);
});
