import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { WorkerEvents } from "../telemetry/events.ts";
import { Supervisor } from "./supervisor.ts";
import type { WorkerEnd, WorkerProcess } from "./worker-process.ts";

/** A worker whose life the test decides. */
class FakeWorker implements WorkerProcess {
  readonly number: number;
  readonly pid: number;
  readonly #serving = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<WorkerEnd>();
  readonly serving = this.#serving.promise;
  readonly ended = this.#ended.promise;
  readonly told: string[] = [];

  constructor(number: number) {
    this.number = number;
    this.pid = 1_000 + number;
  }

  serve(): void {
    this.#serving.resolve(true);
  }

  end(exitCode: number | null, signal: string | null = null): void {
    this.#serving.resolve(false);
    this.#ended.resolve({ exitCode, signal });
  }

  stop(signal: string): void {
    this.told.push(signal);
  }

  retire(): void {
    this.told.push("retire");
  }

  kill(): void {
    this.told.push("kill");
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
    stopListening: () => log.push("deaf"),
    ...{ graceMs, drainMsMax, events },
    where: { host: "127.0.0.1", port: 5100, version: "1.2.3" },
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
    ...{ supervisor, workers, worker, log, pauses },
    pass: (ms: number) => {
      now += ms;
    },
    /** Lets the oldest pause of this length be over. */
    async wake(ms: number) {
      const index = pauses.findIndex((pause) => pause.ms === ms);
      pauses.splice(index, 1)[0]?.over();
      await settled();
    },
    async serve(...numbers: number[]) {
      for (const number of numbers) {
        worker(number).serve();
        await settled();
      }
    },
  };
}

async function running(count: number) {
  const world = supervise(count);
  const exitCode = world.supervisor.run();
  await world.serve(...Array.from({ length: count }, (_, index) => index + 1));
  return { ...world, exitCode };
}

describe("workers", () => {
  it("start after the first of them serves, so that what a first start makes is made once", async () => {
    const { supervisor, workers, serve, log } = supervise(3);
    void supervisor.run();
    await settled();
    expect(workers).toHaveLength(1);
    await serve(1);
    expect(workers).toHaveLength(3);
    await serve(3, 2);
    expect(log.at(-1)).toBe('started {"host":"127.0.0.1","port":5100,"version":"1.2.3","workers":3}');
  });

  it("of which the first cannot start end the whole with its exit code", async () => {
    const { supervisor, workers, worker, log } = supervise(3);
    const exitCode = supervisor.run();
    worker(1).end(2);
    expect(await exitCode).toBe(2);
    expect(workers).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it("that end unasked are replaced: at once after a long life, ever later while they die young", async () => {
    const { worker, workers, serve, pass, wake, pauses, log } = await running(2);
    pass(60_000);
    worker(1).end(null, "SIGKILL");
    await settled();
    expect(workers).toHaveLength(3);
    await serve(3);
    for (const [number, ms] of [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000].entries()) {
      worker(3 + number).end(1);
      await settled();
      expect(pauses.map((pause) => pause.ms)).toEqual([ms]);
      await wake(ms);
      await serve(4 + number);
    }
    expect(log).toContain("lost 1");
    expect(worker(2).told).toEqual([]);
  });

  it("that cannot start any more, when none is left, end the whole so that somebody notices", async () => {
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

  it("are told to stop once, and nobody new is let in after the grace", async () => {
    const { supervisor, worker, wake, exitCode, log } = await running(2);
    supervisor.stop("SIGTERM");
    supervisor.stop("SIGINT");
    expect([worker(1).told, worker(2).told]).toEqual([["SIGTERM"], ["SIGTERM"]]);
    expect(log).not.toContain("deaf");
    await wake(graceMs);
    expect(log).toContain("deaf");
    worker(1).end(0);
    worker(2).end(null, "SIGTERM");
    expect(await exitCode).toBe(0);
    expect(log.filter((line) => line.startsWith("lost"))).toEqual([]);
  });

  it("that hang are killed, and the exit code says so", async () => {
    const { supervisor, worker, wake, exitCode } = await running(2);
    supervisor.stop("SIGTERM");
    worker(1).end(0);
    await wake(drainMsMax);
    await wake(drainMsMax);
    expect(worker(2).told).toEqual(["SIGTERM", "kill"]);
    expect(await exitCode).toBe(1);
  });

  it("that still start when the stop comes are told too, and none follows", async () => {
    const { supervisor, worker, workers } = supervise(3);
    const exitCode = supervisor.run();
    supervisor.stop("SIGTERM");
    expect(worker(1).told).toEqual(["SIGTERM"]);
    worker(1).serve();
    await settled();
    worker(1).end(0);
    expect(await exitCode).toBe(0);
    expect(workers).toHaveLength(1);
  });

  it("are killed at once by whoever does not want to wait", async () => {
    const { supervisor, worker } = await running(2);
    supervisor.kill();
    expect([worker(1).told, worker(2).told]).toEqual([["kill"], ["kill"]]);
  });
});

describe("a roll", () => {
  it("retires a worker when its successor serves, one after the other", async () => {
    const { supervisor, worker, workers, serve, log } = await running(2);
    const roll = supervisor.roll();
    expect(workers).toHaveLength(3);
    expect(worker(1).told).toEqual([]);
    await serve(3);
    expect(worker(1).told).toEqual(["retire"]);
    expect(workers).toHaveLength(3);
    worker(1).end(0);
    await settled();
    await serve(4);
    expect(worker(2).told).toEqual(["retire"]);
    worker(2).end(0);
    await roll;
    expect(log.at(-1)).toBe("roll done");
    expect(log.filter((line) => line.startsWith("lost"))).toEqual([]);
  });

  it("leaves the old ones when a new one cannot start", async () => {
    const { supervisor, worker, workers, log } = await running(2);
    const roll = supervisor.roll();
    worker(3).end(1);
    await roll;
    expect(log.at(-1)).toBe("roll failed 3");
    expect([worker(1).told, worker(2).told]).toEqual([[], []]);
    expect(workers).toHaveLength(3);
  });

  it("leaves the old ones when a new one hangs", async () => {
    const { supervisor, worker, wake, log } = await running(1);
    const roll = supervisor.roll();
    await wake(120_000);
    await roll;
    expect(worker(2).told).toEqual(["kill"]);
    expect(worker(1).told).toEqual([]);
    expect(log.at(-1)).toBe("roll failed 2");
  });

  it("that is asked for during one follows it, however often it was", async () => {
    const { supervisor, worker, serve, log } = await running(1);
    const roll = supervisor.roll();
    await supervisor.roll();
    await supervisor.roll();
    await serve(2);
    worker(1).end(0);
    await settled();
    await serve(3);
    worker(2).end(0);
    await roll;
    expect(log.filter((line) => line === "roll done")).toHaveLength(2);
  });

  it("does not replace twice what was lost meanwhile", async () => {
    const { supervisor, worker, workers, serve, pass } = await running(2);
    pass(60_000);
    const roll = supervisor.roll();
    worker(1).end(null, "SIGKILL");
    worker(2).end(null, "SIGKILL");
    await settled();
    // 3 is the successor of 1; 4 and 5 stand in for those that were lost, so 3 is one too many.
    await serve(4, 5, 3);
    expect(worker(3).told).toEqual(["retire"]);
    worker(3).end(0);
    await roll;
    expect(workers).toHaveLength(5);
    expect([worker(4).told, worker(5).told]).toEqual([[], []]);
  });

  it("ends with the stop", async () => {
    const { supervisor, worker, workers, serve, exitCode } = await running(2);
    const roll = supervisor.roll();
    supervisor.stop("SIGTERM");
    await serve(3);
    await roll;
    expect(worker(3).told).toEqual(["SIGTERM"]);
    for (const number of [1, 2, 3]) worker(number).end(0);
    expect(await exitCode).toBe(0);
    expect(workers).toHaveLength(3);
  });
});
