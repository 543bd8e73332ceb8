import cluster from "node:cluster";
import { isToWorker, type Place, type ToPrimary } from "./messages.ts";

/** What a worker is told. */
export interface WorkerOrders {
  readonly onStop: (signal: string) => void;
  /** Another one listens in its place: it drains, and nobody is in a hurry. */
  readonly onRetire: () => void;
  /** The primary is gone; nobody hands over connections any more. */
  readonly onAlone: () => void;
}

/** A worker's end of the line to the primary that started it. */
export interface WorkerLink {
  /** From 1, in the order of starting; a worker that replaces another has a number of its own. */
  readonly number: number;
  /** Once this worker answers requests. */
  listens(place: Place): void;
  /** Once it does not listen any more: resolves when every connection that was handed to it has arrived. */
  handedOver(): Promise<void>;
  /** What this worker gives when one of them gathers. @param part something that JSON carries. */
  givePart(part: () => Promise<unknown>): void;
  /**
   * What all workers that listen give, this one included. Those that do not answer within two seconds are left out.
   * Empty when the primary is gone.
   */
  gather(): Promise<readonly unknown[]>;
}

/** undefined: this process is no worker. Orders are taken from now on. */
export function joinPrimary(orders: WorkerOrders): WorkerLink | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  const rounds = new Map<number, (parts: readonly unknown[]) => void>();
  const handedOver = Promise.withResolvers<void>();
  let lastRound = 0;
  let ownPart = async (): Promise<unknown> => null;

  const tell = (message: ToPrimary): void => {
    // The end of the line is an event of its own, so a message that missed it needs no other answer.
    if (worker.isConnected()) worker.send(message, (error) => void error);
  };
  worker.on("message", (message: unknown) => {
    if (!isToWorker(message)) return;
    switch (message.sealpush) {
      case "stop":
        return orders.onStop(message.signal);
      case "retire":
        return orders.onRetire();
      case "handed_over":
        return handedOver.resolve();
      case "give_part": {
        const { round } = message;
        void ownPart().then((part) => tell({ sealpush: "part", round, part }));
        return;
      }
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
    listens: (place) => tell({ sealpush: "listens", ...place }),
    async handedOver() {
      if (!worker.isConnected()) return;
      tell({ sealpush: "deaf" });
      await handedOver.promise;
    },
    givePart(part) {
      ownPart = part;
    },
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
