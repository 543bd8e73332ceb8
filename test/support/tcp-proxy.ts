import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { ProxiedConnection, type Verdict } from "./postgres/proxied-connection.ts";

export type { Verdict } from "./postgres/proxied-connection.ts";

/** How the network is: it works; every connection is reset at once; nothing arrives and nothing tells so. */
type State = "whole" | "cut" | "stalled";

/** The network between clients and a PostgreSQL server on this machine, in clear text, at the test's will. */
export class TcpProxy implements AsyncDisposable {
  /** How many were lost by verdict. */
  readonly lost = { requests: 0, answers: 0 };
  readonly #listener: Server;
  readonly #port: number;
  readonly #connections = new Set<ProxiedConnection>();
  #targetPort: number;
  #state: State = "whole";
  #delayMs = 0;
  #judge: (statement: string) => Verdict = () => "pass";

  private constructor(listener: Server, port: number, targetPort: number) {
    this.#listener = listener;
    this.#port = port;
    this.#targetPort = targetPort;
    listener.on("connection", (client) => this.#accept(client));
  }

  static async inFrontOf(target: { readonly port: number }): Promise<TcpProxy> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy listens on no port.");
    return new TcpProxy(listener, address.port, target.port);
  }

  /** @returns the same address, by way of the proxy. */
  url(direct: string): string {
    const url = new URL(direct);
    url.port = String(this.#port);
    return url.href;
  }

  /** Where new connections lead; those that stand stay where they are. */
  pointTo(target: { readonly port: number }): void {
    this.#targetPort = target.port;
  }

  /** What becomes of each statement from now on, on every connection. */
  judge(judge: (statement: string) => Verdict): void {
    this.#judge = judge;
  }

  /** How long each chunk takes from now on, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Resets all connections, and each new one until `heal`. */
  cut(): void {
    this.#state = "cut";
    for (const connection of this.#connections) connection.reset();
  }

  /** Until `heal` nothing arrives on any connection, old or new, and nothing tells so. */
  stall(): void {
    this.#state = "stalled";
    for (const connection of this.#connections) connection.stall();
  }

  /** What `cut` and `stall` did ends; what was stalled arrives. */
  heal(): void {
    this.#state = "whole";
    for (const connection of this.#connections) connection.resume();
  }

  /** Resolves when no connection is left. */
  async empty(): Promise<void> {
    while (this.#connections.size > 0) await Promise.all([...this.#connections].map(({ clientGone }) => clientGone));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, "close");
  }

  #accept(client: Socket): void {
    if (this.#state === "cut") {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#targetPort, "127.0.0.1");
    const connection = new ProxiedConnection(client, server, {
      judge: (statement) => this.#judge(statement),
      delayMs: () => this.#delayMs,
      onLost: (verdict) => {
        this.lost[verdict === "lose request" ? "requests" : "answers"] += 1;
      },
    });
    this.#connections.add(connection);
    client.on("close", () => this.#connections.delete(connection));
    if (this.#state === "stalled") connection.stall();
  }
}
