/**
 * Cuts a stream of bytes into the messages of PostgreSQL's protocol 3, in clear text. Source: PostgreSQL's manual,
 * "Message Formats": a byte that tells the type, four bytes that tell the length with themselves, the content.
 */
export class WireMessages {
  #rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no byte that tells its type. */
  #startsBare: boolean;

  constructor(from: "client" | "server") {
    this.#startsBare = from === "client";
  }

  /** @returns the messages that are whole with this chunk. */
  take(chunk: Buffer): readonly WireMessage[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: WireMessage[] = [];
    for (;;) {
      const typeBytes = this.#startsBare ? 0 : 1;
      if (this.#rest.length < typeBytes + 4) return messages;
      const end = typeBytes + this.#rest.readUInt32BE(typeBytes);
      if (this.#rest.length < end) return messages;
      const type = this.#rest.toString("latin1", 0, typeBytes);
      messages.push({ type, content: this.#rest.subarray(typeBytes + 4, end) });
      this.#rest = this.#rest.subarray(end);
      this.#startsBare = false;
    }
  }
}

export interface WireMessage {
  /** One email; "" for the first of a client. */
  readonly type: string;
  readonly content: Buffer;
}

/** Tells which statement a client's messages ask the server to run, named ones and portals looked up. */
export class ClientStatements {
  readonly #texts = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  /** @returns the text when the message runs a statement. */
  runBy({ type, content }: WireMessage): string | undefined {
    const [first = "", second = ""] = content.toString("utf8").split("\0", 2);
    if (type === "P") this.#texts.set(first, second);
    if (type === "B") this.#portals.set(first, this.#texts.get(second) ?? "");
    if (type === "E") return this.#portals.get(first);
    return type === "Q" ? first : undefined;
  }
}
