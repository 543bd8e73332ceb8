import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** What still runs then is cut off, so that the database is closed before a supervisor loses its patience. */
const runningMsMax = 25_000;

/**
 * Lets a closing server come to its end: answers under way are finished and are the last on their connections; all
 * other connections are cut. Node itself waits for those that have not sent a byte yet, as browsers open them ahead of
 * need, and for those whose answer invited to a next request.
 */
export function drainOnClose(server: FastifyInstance): void {
  const sockets = new Set<Socket>();
  let closing = false;
  server.server.on("connection", (socket: Socket) => {
    if (closing) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.addHook("preClose", (done) => {
    closing = true;
    for (const socket of sockets) endAfterAnswer(socket);
    setTimeout(() => server.server.closeAllConnections(), runningMsMax).unref();
    done();
  });
}

function endAfterAnswer(socket: Socket): void {
  const current: unknown = Reflect.get(socket, "_httpMessage");
  if (!(current instanceof ServerResponse)) {
    socket.destroy();
    return;
  }
  current.shouldKeepAlive = false;
  current.once("close", () => socket.destroySoon());
}
