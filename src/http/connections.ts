import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { secondMs } from "../base/clock.ts";
import { networksOf } from "../limits/client-shares.ts";
import { type PeerReader, unknownPeer } from "./client.ts";
import { refuseConnection } from "./client-errors.ts";

interface ConnectionDeps {
  readonly peerOf: PeerReader;
  readonly newRequestId: () => string;
  readonly memoryBytes: number;
  /** 0: no limit. */
  readonly perClientMax: number;
  readonly monotonicMs: () => number;
  /** Called for each connection that is refused. */
  readonly onRefused: () => void;
}

/** The most memory of one connection before its body is counted: incomplete headers, and the start of the body. */
const connectionBytesMax = 48 * 1024;
/** Browsers open a connection or two ahead of a request, and clients on slow networks need a second for its headers. */
const silentMs = 2 * secondMs;
/** The share of all connections that clients above their own limit do not get. */
const keptShare = 1 / 8;

/** The connections of all clients together: a quarter of the memory that the process may use, within bounds. */
function connectionsMax(memoryBytes: number): number {
  return Math.min(16_384, Math.max(1_024, Math.floor(memoryBytes / 4 / connectionBytesMax)));
}

/**
 * Limits the connections of all clients together, counted by the connection's own address before a byte is read: the throttle
 * counts only complete requests. A trusted proxy is not a client: its connections are not counted.
 *
 * Many people may share an address, so its own limit refuses nobody: beyond it, each new connection closes the one of the same
 * client that has been silent for the longest time. Where all are in use, it gets more, but not the last eighth of all.
 * @param servers share these limits.
 */
export function limitConnections(servers: readonly HttpServer[], deps: ConnectionDeps): void {
  const connections = new Connections(connectionsMax(deps.memoryBytes), deps);

  const onConnection = (socket: Socket) => {
    const { key, trusted } = deps.peerOf(socket.remoteAddress ?? "") ?? unknownPeer;
    if (trusted) return;
    if (connections.admit(socket, key)) {
      socket.once("close", () => connections.remove(socket));
      return;
    }
    deps.onRefused();
    refuseConnection(socket, deps.newRequestId());
  };
  for (const server of servers) {
    server.on("connection", onConnection);
    server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      connections.begin(socket);
      response.once("close", () => connections.end(socket));
    });
  }
}

interface Connection {
  /** Its client, the larger networks around it, and all clients. */
  readonly names: readonly string[];
  /** Requests that are not answered yet. */
  requests: number;
}

const allClients = "";

class Connections {
  readonly #max: number;
  readonly #perClientMax: number;
  readonly #monotonicMs: () => number;
  readonly #open = new Map<Socket, Connection>();
  /** Name -> how many are open. */
  readonly #held = new Map<string, number>();
  /** Name -> connections without a request, and since when; the first one is silent for the longest time. */
  readonly #silent = new Map<string, Map<Socket, number>>();

  constructor(max: number, { perClientMax, monotonicMs }: Pick<ConnectionDeps, "perClientMax" | "monotonicMs">) {
    this.#max = max;
    this.#perClientMax = perClientMax === 0 ? max : perClientMax;
    this.#monotonicMs = monotonicMs;
  }

  /** @param client a client's key. @returns false: it has to be refused. */
  admit(socket: Socket, client: string): boolean {
    const networks = networksOf(client);
    const exceeded = networks.find(({ name, shares }) => this.#heldBy(name) >= this.#perClientMax * shares);
    const isFull = this.#open.size >= (exceeded === undefined ? this.#max : this.#max * (1 - keptShare));
    // A client above its limit closes only connections of its own.
    if (exceeded !== undefined || isFull) {
      const isClosed = this.#closeSilent(exceeded?.name ?? allClients);
      if (isFull && !isClosed) return false;
    }
    const names = [...networks.map(({ name }) => name), allClients];
    for (const name of names) this.#held.set(name, this.#heldBy(name) + 1);
    const connection = { names, requests: 0 };
    this.#open.set(socket, connection);
    this.#setSilent(socket, connection);
    return true;
  }

  remove(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#open.delete(socket);
    this.#setBusy(socket, connection);
    for (const name of connection.names) {
      const left = this.#heldBy(name) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    }
  }

  /** The headers of a request are complete. Until then the connection counts as silent, however many bytes it sends. */
  begin(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    this.#setBusy(socket, connection);
  }

  /** A request is answered. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.requests -= 1;
    if (connection.requests === 0) this.#setSilent(socket, connection);
  }

  /** Closes the connection of this name that has been silent for the longest time, if for long enough. */
  #closeSilent(name: string): boolean {
    const [oldest] = this.#silent.get(name) ?? [];
    if (oldest === undefined) return false;
    const [socket, since] = oldest;
    if (this.#monotonicMs() - since < silentMs) return false;
    this.remove(socket);
    socket.destroy();
    return true;
  }

  #setSilent(socket: Socket, { names }: Connection): void {
    const since = this.#monotonicMs();
    for (const name of names) {
      const silent = this.#silent.get(name) ?? new Map<Socket, number>();
      this.#silent.set(name, silent.set(socket, since));
    }
  }

  #setBusy(socket: Socket, { names }: Connection): void {
    for (const name of names) {
      const silent = this.#silent.get(name);
      silent?.delete(socket);
      if (silent?.size === 0) this.#silent.delete(name);
    }
  }

  #heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }
}
