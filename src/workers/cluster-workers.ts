import cluster, { type Worker } from "node:cluster";
import { createServer, type Server, type Socket } from "node:net";
import { stopListening } from "../base/stop-listening.ts";
import { Distribution } from "./distribution.ts";
import { Gathering } from "./gathering.ts";
import { isToPrimary, type ToWorker } from "./messages.ts";
import type { WorkerEnd, WorkerProcess } from "./worker-process.ts";

/** What is started as a worker: by default this process' own program, as it was started. */
export interface WorkerProgram {
  readonly exec: string;
  readonly args: readonly string[];
}

/**
 * Workers by node:cluster. The connections are handed out by ourselves and not by its listening: there, a connection that
 * was on its way to a worker when that died stays open for ever, and when the last worker ends, nobody listens.
 */
export class ClusterWorkers {
  readonly #gathering = new Gathering();
  readonly #distribution = new Distribution<Socket>({
    drop: (socket) => socket.destroy(),
    // The worker has its own handle of it: this one only closes.
    release: (socket) => socket.destroy(),
  });
  readonly #server: Server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) =>
    this.#distribution.offer(socket),
  );
  readonly #logLost = Promise.withResolvers<string>();
  #nobodyNew: Promise<void> | undefined;

  constructor(program?: WorkerProgram) {
    if (program !== undefined) cluster.setupPrimary({ exec: program.exec, args: [...program.args] });
  }

  /** Settles when a worker could not write the log, with the system's code. */
  get logLost(): Promise<string> {
    return this.#logLost.promise;
  }

  /** Connections wait until a worker serves. @returns the port. @throws the system's error. */
  listen(place: { readonly host: string; readonly port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(place, () => {
        const address = this.#server.address();
        resolve(typeof address === "object" && address !== null ? address.port : place.port);
      });
    });
  }

  /** Workers that leave from now on leave when all that came before has been handed out. */
  stopListening(): void {
    this.#nobodyNew ??= stopListening(this.#server).then(() => this.#distribution.allGiven());
  }

  start(): WorkerProcess {
    const worker = cluster.fork();
    const { pid } = worker.process;
    const serving = Promise.withResolvers<boolean>();
    const hears = Promise.withResolvers<void>();
    const send = (message: ToWorker, socket?: Socket): void => tell(worker, message, socket);
    worker.on("message", (message: unknown) => {
      if (!isToPrimary(message)) return;
      switch (message.sealpush) {
        case "hears":
          return hears.resolve();
        case "serves":
          this.#distribution.join(worker.id, (socket) => send({ sealpush: "connection" }, socket));
          this.#gathering.join(worker.id, send);
          return serving.resolve(true);
        case "taken":
          return this.#distribution.taken(worker.id);
        case "leaves":
          return void this.#letGo(worker.id).then(() => send({ sealpush: "handed_over" }));
        case "log_lost":
          return this.#logLost.resolve(message.code);
        case "gather":
          return this.#gathering.begin(worker.id, message.round);
        case "part":
          return this.#gathering.take(worker.id, message.round, message.part);
      }
    });
    const ended = endOf(worker, pid !== undefined).finally(() => {
      this.#distribution.lose(worker.id);
      this.#gathering.leave(worker.id);
      serving.resolve(false);
    });
    // What is said before it hears would be lost.
    const sendWhenHeard = (message: ToWorker): void => void hears.promise.then(() => send(message));
    return {
      number: worker.id,
      pid,
      serving: serving.promise,
      ended,
      stop: (signal) => sendWhenHeard({ sealpush: "stop", signal }),
      retire: () => sendWhenHeard({ sealpush: "retire" }),
      kill: () => void worker.process.kill("SIGKILL"),
    };
  }

  async #letGo(worker: number): Promise<void> {
    await this.#nobodyNew;
    this.#distribution.leave(worker);
  }
}

function endOf(worker: Worker, started: boolean): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    worker.on("exit", (exitCode: number | null, signal: string | null) => resolve({ exitCode, signal }));
    // Without a process there is no exit. Other errors are of the line between us, and its end has an event.
    worker.on("error", () => {
      if (!started) resolve({ exitCode: 1, signal: null });
    });
  });
}

/** A worker that has just ended hears nothing; its end is an event of its own. */
function tell(worker: Worker, message: ToWorker, socket?: Socket): void {
  if (!worker.isConnected()) return;
  const onSent = (error: Error | null) => void error;
  if (socket === undefined) worker.send(message, onSent);
  else worker.send(message, socket, { keepOpen: true }, onSent);
}
