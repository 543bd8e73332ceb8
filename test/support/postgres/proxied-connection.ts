import type { Socket } from "node:net";
import { ClientStatements, WireMessages } from "./wire-messages.ts";

/**
 * What becomes of a statement that a client asks for: "pass"; "lose request": it never comes to the server, and the
 * connection is reset; "lose answer": the server does it, its commit included, and the connection is reset in the place
 * of the answer; "refuse": it never reaches the server, and the client gets an error as if it was cancelled inside a transaction.
 */
export type Verdict = "pass" | "refuse" | "lose request" | "lose answer";

export interface Wire {
  /** Asked before each statement; commands such as COMMIT among them. */
  readonly judge: (statement: string) => Verdict;
  /** Told when it has happened. */
  readonly onLost: (verdict: Exclude<Verdict, "pass" | "refuse">) => void;
  /** How long each chunk takes, in each direction. */
  readonly delayMs: () => number;
}

/** ErrorResponse with the SQLSTATE of a statement that was cancelled, then ReadyForQuery of a transaction that has failed. */
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

/** One client and its connection to the server, in clear text. */
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
        if (statement !== undefined && !this.#admits(statement)) return;
      }
      toServer(chunk);
    });
    server.on("data", (chunk) => {
      const held = this.#held;
      held?.chunks.push(chunk);
      for (const { type } of fromServer.take(chunk)) {
        if (held !== undefined && type === "E") held.failed = true;
        if (held !== undefined && type === "Z") this.#judgeAnswer(held, toClient);
      }
      if (held === undefined) toClient(chunk);
    });
    client.on("end", () => toServer(null)).on("error", () => this.reset());
    server.on("end", () => toClient(null)).on("error", () => this.reset());
  }

  /** Both sides see that the other has gone, without a word. */
  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  /** Nothing moves any more, and nothing tells so. */
  stall(): void {
    this.#client.pause();
    this.#server.pause();
  }

  /** What was under way arrives after all. */
  resume(): void {
    this.#client.resume();
    this.#server.resume();
  }

  #admits(statement: string): boolean {
    const verdict = this.#wire.judge(statement);
    if (verdict === "lose answer") this.#held = { chunks: [], failed: false };
    if (verdict === "refuse") {
      this.#client.write(cancelledInTransaction);
      return false;
    }
    if (verdict !== "lose request") return true;
    this.reset();
    this.#wire.onLost(verdict);
    return false;
  }

  /** The server is ready for the next statement, so this one is committed or refused. */
  #judgeAnswer(held: HeldAnswer, toClient: Line): void {
    this.#held = undefined;
    // A refusal that is lost would only be another lost request: the client may as well see it.
    if (held.failed) {
      for (const chunk of held.chunks) toClient(chunk);
      return;
    }
    this.reset();
    this.#wire.onLost("lose answer");
  }

  /** Passes on in order, each chunk after the delay that held when it came; null: the end. */
  #line(to: Socket): Line {
    const waiting: { readonly dueAt: number; readonly chunk: Buffer | null }[] = [];
    const pass = (chunk: Buffer | null) => {
      if (!to.writable) return;
      if (chunk === null) to.end();
      else to.write(chunk);
    };
    // One timer at a time: of several, one that was set later may go off first.
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
