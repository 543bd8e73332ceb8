import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { WorkerEvents } from "../telemetry/events.ts";
import { Supervisor, type WorkerEnd, type WorkerProcess } from "./supervisor.ts";

/** A worker that listens and ends when the test says so. */
class FakeWorker implements WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly #listening = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<WorkerEnd>();
  readonly listening = this.#listening.promise;
  readonly ended = this.#ended.promise;
  readonly orders: string[] = [];

  constructor(number: number) {
    this.number = number;
    this.pid = 1_000 + number;
  }

  listen(): void {
    this.#listening.resolve(true);
  }

  end(exitCode: number | null, signal: string | null = null): void {
    this.#listening.resolve(false);
    this.#ended.resolve({ exitCode, signal });
  }

  stop(signal: string): void {
    this.orders.push(signal);
  }

  retire(): void {
    this.orders.push("retire");
  }

  kill(): void {
    this.orders.push("kill");
    this.end(null, "SIGKILL");
  }
}

const graceMs = 7_000;
const drainMsMax = 39_000;

function supervise(count: number) {
  const workers: FakeWorker[] = [];
  const log: string[] = [];
  const pauses: { readonly ms: number; readonly over: () => void }[] = [];
  let now = 0;
  const say =
    (event: string) =>
    (about: object | string): void => {
      log.push(`${event} ${JSON.stringify(about)}`);
    };
  const events: WorkerEvents = {
    serverStarted: say("started"),
    serverStopping: say("stopping"),
    serverStopped: say("stopped"),
    workerStarted: ({ worker }) => log.push(`worker ${worker}`),
    workerLost: ({ worker }) => log.push(`lost ${worker}`),
    rollStarted: () => log.push("roll"),
    rollDone: () => log.push("roll done"),
    rollFailed: ({ worker }) => log.push(`roll failed ${worker}`),
  };
  const supervisor = new Supervisor({
    count,
    startWorker: () => {
      const worker = new FakeWorker(workers.length + 1);
      workers.push(worker);
      return worker;
    },
    stopListening: () => log.push("listening stopped"),
    graceMs,
    drainMsMax,
    events,
    address: { host: "127.0.0.1", port: 5100, version: "1.2.3" },
    monotonicMs: () => now,
    pause: (ms) => {
      if (ms === 0) return Promise.resolve();
      return new Promise((resolve) => pauses.push({ ms, over: resolve }));
    },
  });
  const worker = (number: number): FakeWorker => {
    const found = workers[number - 1];
    if (found === undefined) throw new Error(`There is no worker ${number}.`);
    return found;
  };
  return {
    supervisor,
    workers,
    worker,
    log,
    pauses,
    pass: (ms: number) => {
      now += ms;
    },
    /** Ends the oldest pause of this length. */
    async wake(ms: number) {
      const index = pauses.findIndex((pause) => pause.ms === ms);
      pauses.splice(index, 1)[0]?.over();
      await settled();
    },
    async listen(...numbers: number[]) {
      for (const number of numbers) {
        worker(number).listen();
        await settled();
      }
    },
  };
}

async function running(count: number) {
  const fixture = supervise(count);
  const exitCode = fixture.supervisor.run();
  await fixture.listen(...Array.from({ length: count }, (_, index) => index + 1));
  return { ...fixture, exitCode };
}

describe("workers", () => {
  it("start after the first one listens, so that the first start alone creates shared data", async () => {
    const { supervisor, workers, listen, log } = supervise(3);
    void supervisor.run();
    await settled();
    expect(workers).toHaveLength(1);
    await listen(1);
    expect(workers).toHaveLength(3);
    await listen(3, 2);
    expect(log.at(-1)).toBe('started {"host":"127.0.0.1","port":5100,"version":"1.2.3","workers":3}');
  });

  it("are not started if the first one fails, whose exit code is returned", async () => {
    const { supervisor, workers, worker, log } = supervise(3);
    const exitCode = supervisor.run();
    worker(1).end(2);
    expect(await exitCode).toBe(2);
    expect(workers).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it("are replaced if they end unexpectedly: at once after a long life, with growing delays after short ones", async () => {
    const { worker, workers, listen, pass, wake, pauses, log } = await running(2);
    pass(60_000);
    worker(1).end(null, "SIGKILL");
    await settled();
    expect(workers).toHaveLength(3);
    await listen(3);
    for (const [number, ms] of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000].entries()) {
      worker(3 + number).end(1);
      await settled();
      expect(pauses.map((pause) => pause.ms)).toEqual([ms]);
      await wake(ms);
      await listen(4 + number);
    }
    expect(log).toContain("lost 1");
    expect(worker(2).orders).toEqual([]);
  });

  it("end the process after repeated failed starts if no worker is left", async () => {
    const { worker, workers, wake, pauses, exitCode, log } = await running(1);
    worker(1).end(1);
    await settled();
    for (let start = 2; start <= 6; start += 1) {
      await wake(pauses[0]?.ms ?? 0);
      worker(start).end(78);
      await settled();
    }
    expect(await exitCode).toBe(78);
    expect(workers).toHaveLength(6);
    expect(log.at(-1)).toBe('stopped {"workers":1}');
  });

  it("are stopped once, and the primary stops listening after the grace period", async () => {
    const { supervisor, worker, wake, exitCode, log } = await running(2);
    supervisor.stop("SIGTERM");
    supervisor.stop("SIGINT");
    expect([worker(1).orders, worker(2).orders]).toEqual([["SIGTERM"], ["SIGTERM"]]);
    expect(log).not.toContain("listening stopped");
    await wake(graceMs);
    expect(log).toContain("listening stopped");
    worker(1).end(0);
    worker(2).end(null, "SIGTERM");
    expect(await exitCode).toBe(0);
    expect(log.filter((line) => line.startsWith("lost"))).toEqual([]);
  });

  it("are killed if they hang, and the exit code is 1", async () => {
    const { supervisor, worker, wake, exitCode } = await running(2);
    supervisor.stop("SIGTERM");
    worker(1).end(0);
    await wake(drainMsMax);
    await wake(drainMsMax);
    expect(worker(2).orders).toEqual(["SIGTERM", "kill"]);
    expect(await exitCode).toBe(1);
  });

  it("are stopped even while they start, and no other is started", async () => {
    const { supervisor, worker, workers } = supervise(3);
    const exitCode = supervisor.run();
    supervisor.stop("SIGTERM");
    expect(worker(1).orders).toEqual(["SIGTERM"]);
    worker(1).listen();
    await settled();
    worker(1).end(0);
    expect(await exitCode).toBe(0);
    expect(workers).toHaveLength(1);
  });

  it("can all be killed at once", async () => {
    const { supervisor, worker } = await running(2);
    supervisor.kill();
    expect([worker(1).orders, worker(2).orders]).toEqual([["kill"], ["kill"]]);
  });
});

describe("a rolling restart", () => {
  it("retires each worker after its successor listens, one after the other", async () => {
    const { supervisor, worker, workers, listen, log } = await running(2);
    const roll = supervisor.roll();
    expect(workers).toHaveLength(3);
    expect(worker(1).orders).toEqual([]);
    await listen(3);
    expect(worker(1).orders).toEqual(["retire"]);
    expect(workers).toHaveLength(3);
    worker(1).end(0);
    await settled();
    await listen(4);
    expect(worker(2).orders).toEqual(["retire"]);
    worker(2).end(0);
    await roll;
    expect(log.at(-1)).toBe("roll done");
    expect(log.filter((line) => line.startsWith("lost"))).toEqual([]);
  });

  it("keeps the old workers if a new one cannot start", async () => {
    const { supervisor, worker, workers, log } = await running(2);
    const roll = supervisor.roll();
    worker(3).end(1);
    await roll;
    expect(log.at(-1)).toBe("roll failed 3");
    expect([worker(1).orders, worker(2).orders]).toEqual([[], []]);
    expect(workers).toHaveLength(3);
  });

  it("keeps the old workers if a new one hangs", async () => {
    const { supervisor, worker, wake, log } = await running(1);
    const roll = supervisor.roll();
    await wake(120_000);
    await roll;
    expect(worker(2).orders).toEqual(["kill"]);
    expect(worker(1).orders).toEqual([]);
    expect(log.at(-1)).toBe("roll failed 2");
  });

  it("follows another one, once, if it is requested during that one", async () => {
    const { supervisor, worker, listen, log } = await running(1);
    const roll = supervisor.roll();
    await supervisor.roll();
    await supervisor.roll();
    await listen(2);
    worker(1).end(0);
    await settled();
    await listen(3);
    worker(2).end(0);
    await roll;
    expect(log.filter((line) => line === "roll done")).toHaveLength(2);
  });

  it("does not replace a worker twice that is lost meanwhile", async () => {
    const { supervisor, worker, workers, listen, pass } = await running(2);
    pass(60_000);
    const roll = supervisor.roll();
    worker(1).end(null, "SIGKILL");
    worker(2).end(null, "SIGKILL");
    await settled();
    // 3 is the successor of 1; 4 and 5 replace those that were lost, so 3 is one too many.
    await listen(4, 5, 3);
    expect(worker(3).orders).toEqual(["retire"]);
    worker(3).end(0);
    await roll;
    expect(workers).toHaveLength(5);
    expect([worker(4).orders, worker(5).orders]).toEqual([[], []]);
  });

  it("ends when the server stops", async () => {
    const { supervisor, worker, workers, listen, exitCode } = await running(2);
    const roll = supervisor.roll();
    supervisor.stop("SIGTERM");
    await listen(3);
    await roll;
    expect(worker(3).orders).toEqual(["SIGTERM"]);
    for (const number of [1, 2, 3]) worker(number).end(0);
    expect(await exitCode).toBe(0);
    expect(workers).toHaveLength(3);
  });
});
