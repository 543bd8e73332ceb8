import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";

/**
 * Lets a server that does not listen answer on connections that come from elsewhere, as on those it accepts itself.
 * @returns what takes such a connection.
 */
export function serveGiven(server: HttpServer): (socket: Socket) => void {
  // Node watches how long requests take only from this event on: without it, one that never ends would stay.
  server.emit("listening");
  return (socket) => {
    // As Node sets it for those that it accepts for such a server.
    socket.allowHalfOpen = true;
    server.emit("connection", socket);
  };
}
