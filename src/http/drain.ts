import type { ServerResponse as HttpResponse, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { stopListening } from "../base/stop-listening.ts";
import { ServerResponse } from "./node-http.ts";

export interface DrainTimes {
  /** The server reports not ready but still accepts connections, because a load balancer needs time to notice. */
  readonly graceMs: number;
  /** How long a connection without a request stays open: its next request may be on the way. */
  readonly idleMs: number;
}

/** Waits only for running requests. */
export const drainAtOnce: DrainTimes = { graceMs: 0, idleMs: 20 };

/** Requests that still run after this time are cut, so that the database is closed before a supervisor kills the process. */
const runningMsMax = 25_000;

/**
 * Stops the servers of this process without cutting a request. Node's own `close` cuts connections that seem idle, including those whose request
 * is in transit or whose answer is not completely sent. It also waits for connections without a single byte, which browsers
 * open in advance.
 */
export function createDrain(servers: readonly HttpServer[]) {
  const sockets = new Set<Socket>();
  let begun = false;
  let allClosed: PromiseWithResolvers<void> | undefined;
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        if (sockets.size === 0) allClosed?.resolve();
      });
    });
  }

  /** Makes each further answer close its connection. */
  function disableKeepAlive(): void {
    for (const server of servers) {
      server.prependListener("request", (_request, response) => {
        response.shouldKeepAlive = false;
      });
    }
    for (const socket of sockets) {
      const answer = answerOn(socket);
      if (answer !== undefined) answer.shouldKeepAlive = false;
    }
  }

  /** Closes connections without a request that have sent no byte for `idleMs`; resolves when no connection is left. */
  async function closeConnections(idleMs: number): Promise<void> {
    allClosed = Promise.withResolvers();
    const bytesReadBefore = new Map<Socket, number>();
    const closeIdle = () => {
      for (const socket of sockets) {
        if (answerOn(socket) !== undefined) continue;
        const before = bytesReadBefore.get(socket);
        if (before === undefined) bytesReadBefore.set(socket, socket.bytesRead);
        else if (before === socket.bytesRead) socket.destroySoon();
      }
    };
    closeIdle();
    const interval = setInterval(closeIdle, idleMs);
    const limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, runningMsMax);
    if (sockets.size > 0) await allClosed.promise;
    clearInterval(interval);
    clearTimeout(limit);
  }

  return {
    /** Whether new requests should go to another process. */
    get begun() {
      return begun;
    },
    /** Resolves when no connection is left. */
    async run({ graceMs, idleMs }: DrainTimes): Promise<void> {
      begun = true;
      await sleep(graceMs);
      await Promise.all(servers.map(stopListening));
      // Stop listening first: a client whose connection is closed reconnects at once.
      disableKeepAlive();
      await closeConnections(idleMs);
    },
  };
}

function answerOn(socket: Socket): HttpResponse | undefined {
  const current: unknown = Reflect.get(socket, "_httpMessage");
  return current instanceof ServerResponse ? current : undefined;
}
