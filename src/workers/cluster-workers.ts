import cluster, { type Worker } from "node:cluster";
import { createServer, type Server, type Socket } from "node:net";
import { stopListening } from "../base/stop-listening.ts";
import { Distribution } from "./distribution.ts";
import { isToPrimary, type ToWorker } from "./messages.ts";
import { MetricsCollection } from "./metrics-collection.ts";
import type { WorkerEnd, WorkerProcess } from "./supervisor.ts";

/** The program of a worker; by default the program of this process with its arguments. */
export interface WorkerProgram {
  readonly exec: string;
  readonly args: readonly string[];
}

/**
 * Workers of node:cluster. The primary itself listens and sends connections to them (decision 0027): with the listening of
 * node:cluster, a connection on its way to a worker that dies is never closed, and the port closes with the last worker.
 */
export class ClusterWorkers {
  readonly #metrics = new MetricsCollection();
  readonly #distribution = new Distribution<Socket>({
    drop: (socket) => socket.destroy(),
    // The worker has a handle of its own, so this closes only the handle.
    release: (socket) => socket.destroy(),
  });
  readonly #server: Server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) =>
    this.#distribution.offer(socket),
  );
  readonly #logLost = Promise.withResolvers<string>();
  #stoppedListening: Promise<void> | undefined;

  constructor(program?: WorkerProgram) {
    if (program !== undefined) cluster.setupPrimary({ exec: program.exec, args: [...program.args] });
  }

  /** Resolves when a worker cannot write the log, with the system's error code. */
  get logLost(): Promise<string> {
    return this.#logLost.promise;
  }

  /** Connections wait until a worker listens. @returns the port. @throws the system's error. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(address, () => {
        const bound = this.#server.address();
        resolve(typeof bound === "object" && bound !== null ? bound.port : address.port);
      });
    });
  }

  /** Workers that drain from now on finish once all accepted connections have been sent. */
  stopListening(): void {
    this.#stoppedListening ??= stopListening(this.#server).then(() => this.#distribution.allSent());
  }

  start(): WorkerProcess {
    const worker = cluster.fork();
    const { pid } = worker.process;
    const listening = Promise.withResolvers<boolean>();
    const ready = Promise.withResolvers<void>();
    const send = (message: ToWorker, socket?: Socket): void => sendTo(worker, message, socket);
    worker.on("message", (message: unknown) => {
      if (!isToPrimary(message)) return;
      switch (message.sealpush) {
        case "ready":
          return ready.resolve();
        case "listening":
          this.#distribution.add(worker.id, (socket) => send({ sealpush: "connection" }, socket));
          this.#metrics.add(worker.id, send);
          return listening.resolve(true);
        case "ack":
          return this.#distribution.acknowledge(worker.id);
        case "draining":
          return void this.#drain(worker.id).then(() => send({ sealpush: "all-connections-sent" }));
        case "log-lost":
          return this.#logLost.resolve(message.code);
        case "collect-metrics":
          return this.#metrics.begin(worker.id, message.round);
        case "metrics":
          return this.#metrics.receive(worker.id, message.round, message.metrics);
      }
    });
    const ended = endOf(worker, pid !== undefined).finally(() => {
      this.#distribution.remove(worker.id);
      this.#metrics.remove(worker.id);
      listening.resolve(false);
    });
    // Messages sent earlier would be lost.
    const sendWhenReady = (message: ToWorker): void => void ready.promise.then(() => send(message));
    return {
      number: worker.id,
      pid,
      listening: listening.promise,
      ended,
      stop: (signal) => sendWhenReady({ sealpush: "stop", signal }),
      retire: () => sendWhenReady({ sealpush: "retire" }),
      kill: () => void worker.process.kill("SIGKILL"),
    };
  }

  async #drain(worker: number): Promise<void> {
    await this.#stoppedListening;
    this.#distribution.drain(worker);
  }
}

function endOf(worker: Worker, started: boolean): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    worker.on("exit", (exitCode: number | null, signal: string | null) => resolve({ exitCode, signal }));
    // Without a process there is no exit event. Other errors concern the channel, whose end has an event of its own.
    worker.on("error", () => {
      if (!started) resolve({ exitCode: 1, signal: null });
    });
  });
}

/** Does nothing for a worker that has just ended; its end is an event of its own. */
function sendTo(worker: Worker, message: ToWorker, socket?: Socket): void {
  if (!worker.isConnected()) return;
  const onSent = (error: Error | null) => void error;
  if (socket === undefined) worker.send(message, onSent);
  else worker.send(message, socket, { keepOpen: true }, onSent);
}
