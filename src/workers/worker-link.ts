import cluster from "node:cluster";
import type { Server as HttpServer } from "node:http";
import { Socket } from "node:net";
import { serveGiven } from "./given-connections.ts";
import { isToWorker, type ToPrimary } from "./messages.ts";

/** What a worker is told. */
export interface WorkerOrders {
  readonly onStop: (signal: string) => void;
  /** Another one stands in its place: it drains, and nobody is in a hurry. */
  readonly onRetire: () => void;
  /** The primary is gone; nobody hands over connections any more. */
  readonly onAlone: () => void;
}

/** A worker's end of the line to the primary that started it. */
export interface WorkerLink {
  /** From 1, in the order of starting; a worker that replaces another has a number of its own. */
  readonly number: number;
  /** From now on the server gets the connections that the primary hands over. It must be ready, and not listen. */
  serve(server: HttpServer): void;
  /** Resolves when the primary hands over no more, and all it has handed over have arrived. */
  handedOver(): Promise<void>;
  /** The log cannot be written any more. The primary then tells all of them to stop. @param code the system's. */
  logLost(code: string): void;
  /** What this worker gives when one of them gathers. @param part makes something that JSON carries. */
  givePart(part: () => Promise<unknown>): void;
  /** Gives it now, unasked: before this worker ends, so that what it counted stays. */
  leavePart(): Promise<void>;
  /**
   * What all workers that serve give, this one included, and what those left that have ended. Of those that do not
   * answer within two seconds it is what they gave before. Empty when the primary is gone.
   */
  gather(): Promise<readonly unknown[]>;
}

/** Rounds are numbered from 1. */
const outsideRounds = 0;

/** undefined: this process is no worker. Orders are taken from now on. */
export function joinPrimary(orders: WorkerOrders): WorkerLink | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  const rounds = new Map<number, (parts: readonly unknown[]) => void>();
  const handedOver = Promise.withResolvers<void>();
  let lastRound = 0;
  let ownPart = async (): Promise<unknown> => null;
  let serveOn: ((socket: Socket) => void) | undefined;

  const tell = (message: ToPrimary): void => {
    // The end of the line is an event of its own, so a message that missed it needs no other answer.
    if (worker.isConnected()) worker.send(message, (error) => void error);
  };
  const give = async (round: number): Promise<void> => tell({ sealpush: "part", round, part: await ownPart() });
  const take = (socket: unknown): void => {
    // Before a byte of it is read: from here on it cannot be given to another.
    tell({ sealpush: "taken" });
    // There is none when it was cut on its way.
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
        return take(socket);
      case "handed_over":
        return handedOver.resolve();
      case "give_part":
        return void give(message.round);
      case "parts":
        rounds.get(message.round)?.(message.parts);
        rounds.delete(message.round);
    }
  });
  worker.on("disconnect", () => {
    // Else Node would end this process at once, with the requests that run.
    worker.exitedAfterDisconnect = true;
    handedOver.resolve();
    for (const gathered of rounds.values()) gathered([]);
    rounds.clear();
    orders.onAlone();
  });
  tell({ sealpush: "hears" });

  return {
    number: worker.id,
    serve(server) {
      serveOn = serveGiven(server);
      tell({ sealpush: "serves" });
    },
    async handedOver() {
      if (!worker.isConnected()) return;
      tell({ sealpush: "leaves" });
      await handedOver.promise;
    },
    logLost: (code) => tell({ sealpush: "log_lost", code }),
    givePart(part) {
      ownPart = part;
    },
    leavePart: () => give(outsideRounds),
    async gather() {
      if (!worker.isConnected()) return [];
      lastRound += 1;
      const gathered = Promise.withResolvers<readonly unknown[]>();
      rounds.set(lastRound, gathered.resolve);
      tell({ sealpush: "gather", round: lastRound });
      return await gathered.promise;
    },
  };
}
