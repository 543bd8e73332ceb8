import cluster, { type Worker } from "node:cluster";
import { Gathering } from "./gathering.ts";
import { isToPrimary, type Place, type ToWorker } from "./messages.ts";
import type { WorkerEnd, WorkerProcess } from "./worker-process.ts";

/** How workers are started: by default as this process was. */
export interface WorkerProgram {
  /** Path of the program. */
  readonly exec: string;
  readonly args: readonly string[];
}

/**
 * Starts workers by node:cluster: the listening socket is the primary's, which hands each connection to one worker after
 * the other. So no connection is lost while workers come and go, as long as one of them listens.
 * @returns a function that starts one.
 */
export function createClusterWorkers(program?: WorkerProgram): () => WorkerProcess {
  // Where it is not the default: the system's own choice piles connections up on few workers.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  if (program !== undefined) cluster.setupPrimary({ exec: program.exec, args: [...program.args] });
  const gathering = new Gathering();
  return () => startWorker(gathering);
}

function startWorker(gathering: Gathering): WorkerProcess {
  const worker = cluster.fork();
  const { pid } = worker.process;
  const listening = Promise.withResolvers<Place | undefined>();
  const hears = Promise.withResolvers<void>();
  const send = (message: ToWorker): void => tell(worker, message);
  worker.on("message", (message: unknown) => {
    if (!isToPrimary(message)) return;
    switch (message.sealpush) {
      case "hears":
        return hears.resolve();
      case "listens":
        gathering.join(worker.id, send);
        return listening.resolve({ host: message.host, port: message.port });
      case "deaf":
        return send({ sealpush: "handed_over" });
      case "gather":
        return gathering.begin(worker.id, message.round);
      case "part":
        return gathering.take(worker.id, message.round, message.part);
    }
  });
  const ended = endOf(worker, pid !== undefined).finally(() => {
    gathering.leave(worker.id);
    listening.resolve(undefined);
  });
  // What is said before it listens to us would be lost.
  const sendWhenHeard = (message: ToWorker): void => void hears.promise.then(() => send(message));
  return {
    number: worker.id,
    pid,
    listening: listening.promise,
    ended,
    stop: (signal) => sendWhenHeard({ sealpush: "stop", signal }),
    retire: () => sendWhenHeard({ sealpush: "retire" }),
    kill: () => void worker.process.kill("SIGKILL"),
  };
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
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, (error) => void error);
}
