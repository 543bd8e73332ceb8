import { type Server as HttpServer, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { stopListening } from "../base/stop-listening.ts";

/** How much time a server that ends leaves to others. */
export interface DrainTimes {
  /** It says that it is not ready and still takes connections: a load balancer needs time to notice. */
  readonly graceMs: number;
  /** A connection without a request is kept for a last one, which may be on its way already. */
  readonly idleMs: number;
  /** Where another process takes the connections for this one: waits until it hands over no more. */
  readonly handedOver?: () => Promise<void>;
}

/** Nobody is waited for but requests that run. */
export const drainAtOnce: DrainTimes = { graceMs: 0, idleMs: 20 };

/** The end of a server, without cutting a request. */
export interface Drain {
  /** Whether nobody should send anything new. */
  readonly begun: boolean;
  /** Resolves when no connection is left. */
  run(times: DrainTimes): Promise<void>;
}

/** What still runs then is cut off, so that the database is closed before a supervisor loses its patience. */
const runningMsMax = 25_000;

/**
 * Node's own closing cuts connections that look idle: also those whose request is on its way, and those whose answer
 * has ended but has not left yet. It waits for those that have not sent a byte, as browsers open them ahead of need.
 */
export function createDrain(server: HttpServer): Drain {
  const sockets = new Set<Socket>();
  let begun = false;
  let left: PromiseWithResolvers<void> | undefined;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) left?.resolve();
    });
  });

  /** Every answer from now on is the last on its connection. */
  function sayGoodbye(): void {
    server.prependListener("request", (_request, response) => {
      response.shouldKeepAlive = false;
    });
    for (const socket of sockets) {
      const answer = answerOn(socket);
      if (answer !== undefined) answer.shouldKeepAlive = false;
    }
  }

  /** A connection that has not sent a byte since the last look, and has nothing to wait for, is closed. */
  async function closeSilent(idleMs: number): Promise<void> {
    left = Promise.withResolvers();
    const bytesReadBefore = new Map<Socket, number>();
    const look = () => {
      for (const socket of sockets) {
        if (answerOn(socket) !== undefined) continue;
        const before = bytesReadBefore.get(socket);
        if (before === undefined) bytesReadBefore.set(socket, socket.bytesRead);
        else if (before === socket.bytesRead) socket.destroySoon();
      }
    };
    look();
    const looks = setInterval(look, idleMs);
    const limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, runningMsMax);
    if (sockets.size > 0) await left.promise;
    clearInterval(looks);
    clearTimeout(limit);
  }

  return {
    get begun() {
      return begun;
    },
    async run({ graceMs, idleMs, handedOver }) {
      begun = true;
      await sleep(graceMs);
      await stopListening(server);
      await handedOver?.();
      // Not before nobody listens: whoever is told goes and opens another connection.
      sayGoodbye();
      await closeSilent(idleMs);
    },
  };
}

function answerOn(socket: Socket): ServerResponse | undefined {
  const current: unknown = Reflect.get(socket, "_httpMessage");
  return current instanceof ServerResponse ? current : undefined;
}
