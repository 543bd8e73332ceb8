import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";

/** The name under which clients know the deployment. */
export const publicHost = "push.example.com";

/** Names the process that has answered, as its index. In a request, the process that shall answer out of turn. */
export const processHeader = "x-process";

/** Headers of one connection (RFC 9110, 7.6.1), and those that the proxy sets itself. */
const replaced = new Set([
  ...["connection", "keep-alive", "proxy-connection", "upgrade", "te"],
  ...["host", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", processHeader],
]);

/**
 * A proxy that ends TLS for `publicHost` in front of several processes: each request gets a connection of its own, to the
 * next process in turn. It repeats a request with another process only if no connection was established. A request that
 * brings `X-Forwarded-For` comes from that client.
 */
export class AlternatingProxy implements AsyncDisposable {
  readonly origin: string;
  readonly #listener: Server;
  readonly #targets: readonly { readonly port: number }[];
  #next = 0;
  #leftOut: number | undefined;

  private constructor(listener: Server, port: number, targets: readonly { readonly port: number }[]) {
    this.origin = `http://127.0.0.1:${port}`;
    this.#listener = listener;
    this.#targets = targets;
    listener.on("request", (incoming, outgoing) => {
      this.#forward(incoming, outgoing).catch((error: Error) => outgoing.destroy(error));
    });
  }

  /** @param targets read for each request, so that a process that was replaced is found. */
  static async inFrontOf(targets: readonly { readonly port: number }[]): Promise<AlternatingProxy> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy listens on no port.");
    return new AlternatingProxy(listener, address.port, targets);
  }

  /** The next request goes to this process, the one after it to the next. */
  continueWith(index: number): void {
    this.#next = index;
  }

  /** Sends requests in turn to the other processes only; undefined: to all again. */
  leaveOut(index: number | undefined): void {
    this.#leftOut = index;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#listener.closeAllConnections();
    await once(this.#listener, "close");
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const connected = await this.#connect(incoming.headers[processHeader]);
    if (connected === undefined) {
      outgoing.writeHead(502).end();
      return;
    }
    const { socket, index } = connected;
    const { method = "GET", url: path = "/" } = incoming;
    const headers = [...kept(incoming), ...forwarded(incoming)];
    const upstream = request({ createConnection: () => socket, method, path, headers });
    let isAnswered = false;
    upstream.on("response", (answer) => {
      isAnswered = true;
      outgoing.writeHead(answer.statusCode ?? 502, [...kept(answer), processHeader, String(index)]);
      answer.on("error", () => outgoing.destroy()).pipe(outgoing);
    });
    // A server may answer, and close, before it has read the body.
    upstream.on("error", () => {
      if (!isAnswered) outgoing.destroy();
    });
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  }

  async #connect(wish: unknown): Promise<{ socket: Socket; index: number } | undefined> {
    const first = wish === undefined ? this.#inTurn() : Number(wish);
    for (let tried = 0; tried < this.#targets.length; tried += 1) {
      const index = (first + tried) % this.#targets.length;
      const socket = await connectedTo(this.#targets[index]?.port ?? 0);
      if (socket !== undefined) return { socket, index };
    }
    return undefined;
  }

  #inTurn(): number {
    const count = this.#targets.length;
    const index = this.#next === this.#leftOut ? (this.#next + 1) % count : this.#next;
    this.#next = (index + 1) % count;
    return index;
  }
}

/** The process that answered, as its index. */
export function processOf(answer: Response): number {
  return Number(answer.headers.get(processHeader) ?? Number.NaN);
}

function connectedTo(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** Names and values in turn. */
function kept({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.filter((_, at) => !replaced.has((rawHeaders[at - (at % 2)] ?? "").toLowerCase()));
}

/** As docs/operations.md demands of a proxy. */
function forwarded({ headers, socket }: IncomingMessage): readonly string[] {
  const clients = [headers["x-forwarded-for"] ?? [], socket.remoteAddress ?? []].flat().join(", ");
  return [
    ...["host", publicHost],
    ...["x-forwarded-for", clients],
    ...["x-forwarded-host", publicHost],
    ...["x-forwarded-proto", "https"],
  ];
}
