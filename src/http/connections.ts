import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ClientShares } from "../limits/client-shares.ts";
import { type PeerReader, unknownPeer } from "./client.ts";
import { refuseConnection } from "./client-errors.ts";

interface ConnectionDeps {
  readonly peerOf: PeerReader;
  readonly newRequestId: () => string;
  readonly memoryBytes: number;
  /** 0: no limit. */
  readonly perClientMax: number;
  /** Called for each connection that is refused. */
  readonly onRefused: () => void;
}

/** The most memory of one connection before its body is counted: incomplete headers, and the start of the body. */
const connectionBytesMax = 48 * 1024;
/** Browsers open a connection or two ahead of a request. */
const perClientWithoutHeadersShare = 1 / 8;

/** The connections of all clients together: a quarter of the memory that the process may use, within bounds. */
function connectionsMax(memoryBytes: number): number {
  return Math.min(16_384, Math.max(1_024, Math.floor(memoryBytes / 4 / connectionBytesMax)));
}

/**
 * Limits the connections of each client and of all together, counted by the connection's own address before a byte is read:
 * the throttle counts only complete requests. Connections whose first headers are not complete have a smaller limit. A
 * trusted proxy is not a client: its connections are not counted.
 * @param servers share these limits.
 */
export function limitConnections(servers: readonly HttpServer[], deps: ConnectionDeps): void {
  const max = connectionsMax(deps.memoryBytes);
  const perClientMax = deps.perClientMax === 0 ? max : deps.perClientMax;
  const open = new ClientShares({ max, perClientMax });
  const withoutHeaders = new ClientShares({
    max,
    perClientMax: Math.ceil(perClientMax * perClientWithoutHeadersShare),
  });
  const onHeaders = new WeakMap<Socket, () => void>();

  const onConnection = (socket: Socket) => {
    const { key, trusted } = deps.peerOf(socket.remoteAddress ?? "") ?? unknownPeer;
    if (trusted) return;
    if (!open.take(key, 1)) return refuse(socket);
    if (!withoutHeaders.take(key, 1)) {
      open.release(key, 1);
      return refuse(socket);
    }
    onHeaders.set(socket, () => {
      onHeaders.delete(socket);
      withoutHeaders.release(key, 1);
    });
    socket.once("close", () => {
      onHeaders.get(socket)?.();
      open.release(key, 1);
    });
  };
  for (const server of servers) {
    server.on("connection", onConnection);
    server.prependListener("request", (request: IncomingMessage) => onHeaders.get(request.socket)?.());
  }

  function refuse(socket: Socket): void {
    deps.onRefused();
    refuseConnection(socket, deps.newRequestId());
  }
}
