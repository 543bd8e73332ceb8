import cluster from "node:cluster";
import type { Server as HttpServer } from "node:http";
import { Socket } from "node:net";
import { isToWorker, type ToPrimary } from "./messages.ts";

/** The primary's orders to this worker. */
export interface WorkerOrders {
  readonly onStop: (signal: string) => void;
  /** Another worker has replaced this one, so its drain may take longer. */
  readonly onRetire: () => void;
  /** The primary has ended; no more connections arrive. */
  readonly onPrimaryLost: () => void;
}

export type WorkerLink = NonNullable<ReturnType<typeof joinPrimary>>;

/** Rounds are numbered from 1. */
const noRound = 0;

/**
 * Connects this worker to its primary: orders are received from now on.
 * @returns undefined if this process is not a worker.
 */
export function joinPrimary(orders: WorkerOrders) {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  const rounds = new Map<number, (metrics: readonly unknown[]) => void>();
  const allConnectionsSent = Promise.withResolvers<void>();
  let lastRound = 0;
  let ownMetrics = async (): Promise<unknown> => null;
  let serveOn: ((socket: Socket) => void) | undefined;

  const send = (message: ToPrimary): void => {
    // The end of the channel is an event of its own, so a failed message needs no handling.
    if (worker.isConnected()) worker.send(message, (error) => void error);
  };
  const report = async (round: number): Promise<void> => {
    send({ sealpush: "metrics", round, metrics: await ownMetrics() });
  };
  const onConnection = (socket: unknown): void => {
    // Acknowledged before a byte of it is read: from here on it cannot be sent to another worker.
    send({ sealpush: "ack" });
    // Undefined if the client closed it on the way.
    if (socket instanceof Socket) serveOn?.(socket);
  };
  worker.on("message", (message: unknown, socket: unknown) => {
    if (!isToWorker(message)) return;
    switch (message.sealpush) {
      case "stop":
        return orders.onStop(message.signal);
      case "retire":
        return orders.onRetire();
      case "connection":
        return onConnection(socket);
      case "all-connections-sent":
        return allConnectionsSent.resolve();
      case "report-metrics":
        return void report(message.round);
      case "collected-metrics":
        rounds.get(message.round)?.(message.metrics);
        rounds.delete(message.round);
    }
  });
  worker.on("disconnect", () => {
    // Otherwise Node would end this process at once, and cut running requests.
    worker.exitedAfterDisconnect = true;
    allConnectionsSent.resolve();
    for (const resolve of rounds.values()) resolve([]);
    rounds.clear();
    orders.onPrimaryLost();
  });
  send({ sealpush: "ready" });

  return {
    /** From 1, in the order of starting; a worker that replaces another has a number of its own. */
    number: worker.id,
    /** From now on the server gets the connections that the primary sends. It must be ready, and not listen. */
    serve(server: HttpServer): void {
      serveOn = acceptConnections(server);
      send({ sealpush: "listening" });
    },
    /** Resolves when the primary sends no more connections and all it has sent have arrived. */
    async drainConnections(): Promise<void> {
      if (!worker.isConnected()) return;
      send({ sealpush: "draining" });
      await allConnectionsSent.promise;
    },
    /** The log cannot be written any more. The primary then stops all workers. @param code the system's error code. */
    logLost: (code: string): void => send({ sealpush: "log-lost", code }),
    /** @param read returns this worker's metrics, as something that JSON can carry. */
    provideMetrics(read: () => Promise<unknown>): void {
      ownMetrics = read;
    },
    /** Sends this worker's metrics unasked: before it ends, so that its counts are kept. */
    reportMetrics: (): Promise<void> => report(noRound),
    /**
     * The metrics of all workers, this one included, and the counts of those that have ended. For a worker that does not
     * answer within two seconds, its previous metrics. Empty if the primary has ended.
     */
    async collectMetrics(): Promise<readonly unknown[]> {
      if (!worker.isConnected()) return [];
      lastRound += 1;
      const collected = Promise.withResolvers<readonly unknown[]>();
      rounds.set(lastRound, collected.resolve);
      send({ sealpush: "collect-metrics", round: lastRound });
      return await collected.promise;
    },
  };
}

/**
 * Lets a server that does not listen answer on connections that another process accepted.
 * @returns the function that takes such a connection.
 */
export function acceptConnections(server: HttpServer): (socket: Socket) => void {
  // Node starts the timeouts of requests at this event.
  server.emit("listening");
  return (socket) => {
    // Node sets it for connections that an HTTP server accepts.
    socket.allowHalfOpen = true;
    server.emit("connection", socket);
  };
}
