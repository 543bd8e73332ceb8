import type { Socket } from "node:net";
import { ClientStatements, WireMessages } from "./wire-messages.ts";

/**
 * What happens to a statement of a client:
 * "pass": it is forwarded.
 * "lose request": it does not reach the server, and the connection is reset.
 * "lose answer": the server executes it, including a commit, and the connection is reset instead of forwarding the answer.
 * "refuse": it does not reach the server, and the client gets the error of a statement cancelled inside a transaction.
 * "deliver late": the client's connection is reset, and the server gets the statement when the test calls `deliverLate`.
 */
export type Interception = "pass" | "refuse" | "lose request" | "lose answer" | "deliver late";

export interface Wire {
  /** Called before each statement, including COMMIT. */
  readonly intercept: (statement: string) => Interception;
  /** Called when a statement or an answer was lost. */
  readonly onLost: (interception: "lose request" | "lose answer") => void;
  /** Called instead for "deliver late". @param deliver sends it to the server, and resolves when it has been executed. */
  readonly onLate: (deliver: () => Promise<void>) => void;
  /** The delay of each chunk, in each direction. */
  readonly delayMs: () => number;
}

/** ErrorResponse with the SQLSTATE of a cancelled statement, then ReadyForQuery in a failed transaction. */
const cancelledInTransaction = Buffer.concat([
  answer("E", "SERROR\0VERROR\0C57014\0Mcanceling statement\0\0"),
  answer("Z", "E"),
]);

function answer(type: string, content: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${content}`, "latin1");
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

interface HeldAnswer {
  readonly chunks: Buffer[];
  failed: boolean;
}

type Line = (chunk: Buffer | null) => void;

/** The connection of one client to the server, without TLS. */
export class ProxiedConnection {
  readonly clientGone: Promise<unknown>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #wire: Wire;
  #held: HeldAnswer | undefined;

  constructor(client: Socket, server: Socket, wire: Wire) {
    this.#client = client;
    this.#server = server;
    this.#wire = wire;
    this.clientGone = new Promise((resolve) => client.once("close", resolve));
    const fromClient = new WireMessages("client");
    const fromServer = new WireMessages("server");
    const statements = new ClientStatements();
    const toServer = this.#line(server);
    const toClient = this.#line(client);
    client.on("data", (chunk) => {
      for (const message of fromClient.take(chunk)) {
        const statement = statements.runBy(message);
        if (statement !== undefined && !this.#admits(statement, chunk)) return;
      }
      toServer(chunk);
    });
    server.on("data", (chunk) => {
      const held = this.#held;
      held?.chunks.push(chunk);
      for (const { type } of fromServer.take(chunk)) {
        if (held !== undefined && type === "E") held.failed = true;
        if (held !== undefined && type === "Z") this.#completeAnswer(held, toClient);
      }
      if (held === undefined) toClient(chunk);
    });
    client.on("end", () => toServer(null)).on("error", () => this.reset());
    server.on("end", () => toClient(null)).on("error", () => this.reset());
  }

  /** Closes both sides without a message of the protocol. */
  reset(): void {
    for (const side of [this.#client, this.#server]) {
      // While its end is being sent, Node cannot reset a socket, and would never report that it has closed.
      if (side.writableEnded) side.destroy();
      else side.resetAndDestroy();
    }
  }

  /** Forwards nothing more, without closing the connection. */
  stall(): void {
    this.#client.pause();
    this.#server.pause();
  }

  /** Forwards what was held back. */
  resume(): void {
    this.#client.resume();
    this.#server.resume();
  }

  #admits(statement: string, chunk: Buffer): boolean {
    const interception = this.#wire.intercept(statement);
    if (interception === "lose answer") this.#held = { chunks: [], failed: false };
    if (interception === "refuse") {
      this.#client.write(cancelledInTransaction);
      return false;
    }
    if (interception === "deliver late") {
      this.#client.resetAndDestroy();
      this.#wire.onLate(async () => {
        if (this.#server.closed) return;
        // The server closes the connection after it.
        const executed = new Promise<void>((resolve) => this.#server.once("close", () => resolve()));
        this.#server.end(chunk);
        await executed;
      });
      return false;
    }
    if (interception !== "lose request") return true;
    this.reset();
    this.#wire.onLost(interception);
    return false;
  }

  /** The server is ready for the next statement, so this one was executed or refused. */
  #completeAnswer(held: HeldAnswer, toClient: Line): void {
    this.#held = undefined;
    // Losing a refusal would equal losing the request, so the refusal is forwarded.
    if (held.failed) {
      for (const chunk of held.chunks) toClient(chunk);
      return;
    }
    this.reset();
    this.#wire.onLost("lose answer");
  }

  /** Forwards chunks in order, each after the delay that was set when it arrived; null: the end. */
  #line(to: Socket): Line {
    const waiting: { readonly dueAt: number; readonly chunk: Buffer | null }[] = [];
    const pass = (chunk: Buffer | null) => {
      if (!to.writable) return;
      if (chunk === null) to.end();
      else to.write(chunk);
    };
    // One timer at a time: of several, a later one may fire first.
    const passDue = () => {
      const now = performance.now();
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        if (first.dueAt > now) {
          setTimeout(passDue, first.dueAt - now);
          return;
        }
        waiting.shift();
        pass(first.chunk);
      }
    };
    return (chunk) => {
      const delayMs = this.#wire.delayMs();
      if (delayMs === 0 && waiting.length === 0) return pass(chunk);
      waiting.push({ dueAt: performance.now() + delayMs, chunk });
      if (waiting.length === 1) setTimeout(passDue, delayMs);
    };
  }
}
