import { minuteMs, secondMs } from "../base/clock.ts";
import type { WorkerEvents } from "../telemetry/events.ts";
import type { WorkerEnd, WorkerProcess } from "./worker-process.ts";

export interface SupervisorDeps {
  /** Workers that are to serve. */
  readonly count: number;
  readonly startWorker: () => WorkerProcess;
  /** Takes no more connections. */
  readonly stopListening: () => void;
  /** How long the workers and this process still take connections after they were told to stop. */
  readonly graceMs: number;
  /** How long a worker may take to end once it was told to, the grace included; then it is killed. */
  readonly drainMsMax: number;
  /** For the log: where they answer. */
  readonly where: { readonly host: string; readonly port: number; readonly version: string };
  readonly events: WorkerEvents;
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** One that ends sooner has hardly served: the next may fare no better, so it waits. */
const steadyMs = 10 * secondMs;
const restartMsMin = 100;
const restartMsMax = 5 * secondMs;
/** When so many starts in a row have failed and nobody serves, whoever watches this process must know. */
const failedStartsMax = 5;
const successorStartMsMax = 2 * minuteMs;

/** Keeps a number of workers serving, and exchanges or ends them without cutting a request. */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  /** All that have not ended, since when. */
  readonly #alive = new Map<WorkerProcess, number>();
  /** Those that are meant to serve: the end of any other is no loss. */
  readonly #serving = new Set<WorkerProcess>();
  readonly #ended = Promise.withResolvers<number>();
  #exitCode = 0;
  #quickEnds = 0;
  #stopping = false;
  #rolling = false;
  #rollAgain = false;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  /**
   * Starts one worker and, once it serves, the others: what a first start makes and says is made and said once. If that
   * one cannot start, nothing goes on.
   * @returns the exit code, when all workers have ended.
   */
  async run(): Promise<number> {
    const first = this.#start();
    if (!(await first.serving)) return codeOf(await first.ended);
    this.#adopt(first);
    await Promise.all(Array.from({ length: this.#deps.count - 1 }, () => this.#fill()));
    if (!this.#stopping) {
      this.#deps.events.serverStarted({ ...this.#deps.where, workers: this.#serving.size });
    }
    return await this.#ended.promise;
  }

  /**
   * All workers finish what runs, and end.
   * @param exitCode unless a worker has another one than 0. @returns false when they are stopping already.
   */
  stop(signal: string, exitCode = 0): boolean {
    if (this.#stopping) return false;
    this.#stopping = true;
    this.#exitCode = exitCode;
    this.#deps.events.serverStopping(signal);
    void this.#deps.pause(this.#deps.graceMs).then(this.#deps.stopListening);
    for (const worker of this.#alive.keys()) {
      worker.stop(signal);
      void this.#endInTime(worker);
    }
    this.#endIfAlone();
    return true;
  }

  /** One worker after the other is replaced by a new one that serves already. */
  async roll(): Promise<void> {
    this.#rollAgain = true;
    if (this.#rolling) return;
    this.#rolling = true;
    while (this.#rollAgain && !this.#stopping) {
      this.#rollAgain = false;
      await this.#rollOnce();
    }
    this.#rolling = false;
  }

  /** Ends all at once. */
  kill(): void {
    for (const worker of this.#alive.keys()) worker.kill();
  }

  #start(): WorkerProcess {
    const worker = this.#deps.startWorker();
    this.#alive.set(worker, this.#deps.monotonicMs());
    void worker.ended.then((end) => this.#onEnd(worker, end));
    return worker;
  }

  #adopt(worker: WorkerProcess): void {
    this.#serving.add(worker);
    this.#deps.events.workerStarted({ worker: worker.number, pid: worker.pid });
  }

  #onEnd(worker: WorkerProcess, end: WorkerEnd): void {
    const livedMs = this.#deps.monotonicMs() - (this.#alive.get(worker) ?? 0);
    this.#alive.delete(worker);
    const lost = this.#serving.delete(worker);
    if (this.#stopping) {
      this.#exitCode ||= codeOf(end);
      this.#endIfAlone();
    } else if (lost) {
      this.#quickEnds = livedMs < steadyMs ? this.#quickEnds + 1 : 0;
      this.#deps.events.workerLost({ worker: worker.number, ...end });
      void this.#fill();
    }
  }

  #endIfAlone(): void {
    if (this.#alive.size > 0) return;
    this.#deps.events.serverStopped({ workers: this.#deps.count });
    this.#ended.resolve(this.#exitCode);
  }

  /** Starts workers until one serves. */
  async #fill(): Promise<void> {
    for (let failedStarts = 0; ; ) {
      await this.#deps.pause(this.#restartMs());
      if (this.#stopping) return;
      const worker = this.#start();
      if (await worker.serving) return this.#adopt(worker);
      if (this.#stopping) return;
      const end = await worker.ended;
      failedStarts += 1;
      this.#quickEnds += 1;
      this.#deps.events.workerLost({ worker: worker.number, ...end });
      if (failedStarts >= failedStartsMax && this.#serving.size === 0) {
        this.stop("no worker can start", codeOf(end));
        return;
      }
    }
  }

  /** Nothing after the end of one that had long been well; then twice as long each time. */
  #restartMs(): number {
    return this.#quickEnds === 0 ? 0 : Math.min(restartMsMin * 2 ** (this.#quickEnds - 1), restartMsMax);
  }

  async #rollOnce(): Promise<void> {
    const { events } = this.#deps;
    const old = [...this.#serving];
    events.rollStarted({ workers: old.length });
    for (const worker of old) {
      // One that is lost meanwhile is replaced by a new one anyhow.
      if (!this.#serving.has(worker)) continue;
      const successor = this.#start();
      const serves = await Promise.race([successor.serving, this.#deps.pause(successorStartMsMax)]);
      if (this.#stopping) return;
      if (serves !== true) {
        successor.kill();
        events.rollFailed({ worker: successor.number });
        return;
      }
      this.#adopt(successor);
      const leaving = this.#serving.has(worker) ? worker : successor;
      this.#serving.delete(leaving);
      leaving.retire();
      await this.#endInTime(leaving);
      if (this.#stopping) return;
    }
    events.rollDone({ workers: old.length });
  }

  /** A worker ends by itself; one that hangs does not. */
  async #endInTime(worker: WorkerProcess): Promise<void> {
    const ended = worker.ended.then(() => true);
    const late = this.#deps.pause(this.#deps.drainMsMax).then(() => false);
    if (!(await Promise.race([ended, late]))) worker.kill();
    await ended;
  }
}

/** A signal to stop that reaches the whole group ends a worker that could not take it yet: as it was asked to. */
function codeOf({ exitCode, signal }: WorkerEnd): number {
  return exitCode ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1);
}
