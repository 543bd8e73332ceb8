import { Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** More than the 511 that the system holds at most; whoever comes without end must not keep us from going. */
const turnsMax = 600;

/**
 * Takes the connections that the system holds for us already, which closing would cut, and then no more. What stands is
 * left alone: `close` of an HTTP server would cut connections that look idle.
 */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return;
  // Node takes one connection a turn.
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
