import { Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** More than the 511 that the backlog holds; a bound, so that a stream of new connections cannot prevent the stop. */
const turnsMax = 600;

/**
 * Accepts the connections that are already in the backlog, which closing would reset, and then stops listening. Open
 * connections are kept: `close` of an HTTP server would close those that seem idle.
 */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return;
  // Node accepts one connection per turn of the event loop.
  let taken = false;
  const onConnection = () => {
    taken = true;
  };
  server.on("connection", onConnection);
  for (let turn = 0; turn < turnsMax; turn += 1) {
    taken = false;
    await nextTurn();
    if (!taken) break;
  }
  server.off("connection", onConnection);
  Server.prototype.close.call(server);
}
