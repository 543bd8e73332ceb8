import { minuteMs, secondMs } from "../base/clock.ts";
import type { WorkerEvents } from "../telemetry/events.ts";

export interface WorkerEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** A worker as the primary sees it. */
export interface WorkerProcess {
  readonly number: number;
  readonly pid: number | undefined;
  /** Resolves to true once the worker answers requests, to false if it ends before that. */
  readonly listening: Promise<boolean>;
  readonly ended: Promise<WorkerEnd>;
  /** It drains and ends; a worker that is still starting does so once it has started. */
  stop(signal: string): void;
  /** The same for a worker that has been replaced. */
  retire(): void;
  /** Ends it at once. */
  kill(): void;
}

export interface SupervisorDeps {
  /** The number of workers to keep. */
  readonly count: number;
  readonly startWorker: () => WorkerProcess;
  /** Accepts no more connections. */
  readonly stopListening: () => void;
  /** How long the workers and this process still accept connections after the signal to stop. */
  readonly graceMs: number;
  /** How long a worker may take to end, the grace period included; then it is killed. */
  readonly drainMsMax: number;
  /** For the log. */
  readonly address: { readonly host: string; readonly port: number; readonly version: string };
  readonly events: WorkerEvents;
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** The replacement of a worker that ends sooner is delayed: it may fail in the same way. */
const steadyMs = 10 * secondMs;
const restartMsMin = 100;
const restartMsMax = 5 * secondMs;
/** After this many failed starts in a row without any worker, the process ends, so that its supervisor notices. */
const failedStartsMax = 5;
const successorStartMsMax = 2 * minuteMs;

/** Keeps a number of workers running, and replaces or stops them without cutting a request. */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  /** Every worker that has not ended -> the time of its start. */
  readonly #alive = new Map<WorkerProcess, number>();
  /** Workers that answer requests and are not being replaced: only their end is a loss. */
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
   * Starts one worker and, once it listens, the others: the first start creates what all of them need. If it fails, no
   * other worker is started.
   * @returns the exit code, when all workers have ended.
   */
  async run(): Promise<number> {
    const first = this.#start();
    if (!(await first.listening)) return codeOf(await first.ended);
    this.#adopt(first);
    await Promise.all(Array.from({ length: this.#deps.count - 1 }, () => this.#fill()));
    if (!this.#stopping) {
      this.#deps.events.serverStarted({ ...this.#deps.address, workers: this.#serving.size });
    }
    return await this.#ended.promise;
  }

  /**
   * All workers finish running requests, and end.
   * @param exitCode used unless a worker ends with another code than 0. @returns false if they are stopping already.
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
    this.#endIfLast();
    return true;
  }

  /** Replaces one worker after the other; each new one listens before the old one drains. */
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

  /** Kills all workers. */
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
      this.#endIfLast();
    } else if (lost) {
      this.#quickEnds = livedMs < steadyMs ? this.#quickEnds + 1 : 0;
      this.#deps.events.workerLost({ worker: worker.number, ...end });
      void this.#fill();
    }
  }

  #endIfLast(): void {
    if (this.#alive.size > 0) return;
    this.#deps.events.serverStopped({ workers: this.#deps.count });
    this.#ended.resolve(this.#exitCode);
  }

  /** Starts workers until one listens. */
  async #fill(): Promise<void> {
    for (let failedStarts = 0; ; ) {
      await this.#deps.pause(this.#restartMs());
      if (this.#stopping) return;
      const worker = this.#start();
      if (await worker.listening) return this.#adopt(worker);
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

  /** No delay after the end of a worker that had been steady; then twice as long each time. */
  #restartMs(): number {
    return this.#quickEnds === 0 ? 0 : Math.min(restartMsMin * 2 ** (this.#quickEnds - 1), restartMsMax);
  }

  async #rollOnce(): Promise<void> {
    const { events } = this.#deps;
    const old = [...this.#serving];
    events.rollStarted({ workers: old.length });
    for (const worker of old) {
      // If it was lost meanwhile, it is replaced anyway.
      if (!this.#serving.has(worker)) continue;
      const successor = this.#start();
      const isListening = await Promise.race([successor.listening, this.#deps.pause(successorStartMsMax)]);
      if (this.#stopping) return;
      if (isListening !== true) {
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

  /** Waits for its end, and kills it if it hangs. */
  async #endInTime(worker: WorkerProcess): Promise<void> {
    const ended = worker.ended.then(() => true);
    const late = this.#deps.pause(this.#deps.drainMsMax).then(() => false);
    if (!(await Promise.race([ended, late]))) worker.kill();
    await ended;
  }
}

/** A signal to the whole group may end a worker before it handles signals: that counts as a regular end. */
function codeOf({ exitCode, signal }: WorkerEnd): number {
  return exitCode ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1);
}
