import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Interception, ProxiedConnection } from "./postgres/proxied-connection.ts";

export type { Interception } from "./postgres/proxied-connection.ts";

/** The state of the network: works; resets every connection at once; drops everything silently. */
type State = "whole" | "cut" | "stalled";

/** The network between clients and a PostgreSQL server on this machine, without TLS, controlled by the test. */
export class TcpProxy implements AsyncDisposable {
  /** How many statements, and how many answers to statements, were lost. */
  readonly lost = { requests: 0, answers: 0 };
  readonly #listener: Server;
  readonly #port: number;
  readonly #connections = new Set<ProxiedConnection>();
  readonly #late: (() => Promise<void>)[] = [];
  #targetPort: number;
  #state: State = "whole";
  #delayMs = 0;
  #onNext: ((connection: ProxiedConnection) => void) | undefined;
  #intercept: (statement: string) => Interception = () => "pass";

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

  /** @returns the same URL, through the proxy. */
  url(direct: string): string {
    const url = new URL(direct);
    url.port = String(this.#port);
    return url.href;
  }

  /** Sets the target of new connections; existing ones keep theirs. */
  pointTo(target: { readonly port: number }): void {
    this.#targetPort = target.port;
  }

  /** Sets the function that decides what happens to each later statement, on every connection. */
  intercept(intercept: (statement: string) => Interception): void {
    this.#intercept = intercept;
  }

  /** Sets the delay of each later chunk, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** How many statements wait for `deliverLate`. */
  get lateCount(): number {
    return this.#late.length;
  }

  /**
   * Sends the statements that were held by "deliver late" to the server, although their clients have lost the connections. Resolves when
   * they have been executed.
   */
  async deliverLate(): Promise<void> {
    await Promise.all(this.#late.splice(0).map((deliver) => deliver()));
  }

  /** Resets all connections, and each new one until `heal`. */
  cut(): void {
    this.#state = "cut";
    for (const connection of this.#connections) connection.reset();
  }

  /** Silently drops everything on all connections, old and new, until `heal`. */
  stall(): void {
    this.#state = "stalled";
    for (const connection of this.#connections) connection.stall();
  }

  /** The same for existing connections only; new ones work. */
  stallOpen(): void {
    for (const connection of this.#connections) connection.stall();
  }

  /** The same for the next connection only. Resolves when it has been accepted. */
  stallNext(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNext = (connection) => {
      connection.stall();
      resolve();
    };
    return promise;
  }

  /** Ends `cut` and `stall`, and forwards what was held back. */
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
      intercept: (statement) => this.#intercept(statement),
      delayMs: () => this.#delayMs,
      onLate: (deliver) => this.#late.push(deliver),
      onLost: (interception) => {
        this.lost[interception === "lose request" ? "requests" : "answers"] += 1;
      },
    });
    this.#connections.add(connection);
    client.on("close", () => this.#connections.delete(connection));
    if (this.#state === "stalled") connection.stall();
    this.#onNext?.(connection);
    this.#onNext = undefined;
  }
}
