/**
 * Splits a stream of bytes into the messages of PostgreSQL's protocol 3, without TLS. Source: PostgreSQL's manual,
 * "Message Formats": one byte for the type, four bytes for the length including themselves, the content.
 */
export class WireMessages {
  #rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no type byte. */
  #startsBare: boolean;

  constructor(from: "client" | "server") {
    this.#startsBare = from === "client";
  }

  /** @returns the messages that this chunk completes. */
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
  /** The type byte; "" for the first message of a client. */
  readonly type: string;
  readonly content: Buffer;
}

/** Finds the statement that a client's messages execute, including named statements and portals. */
export class ClientStatements {
  readonly #texts = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  /** @returns the text of the statement if the message executes one. */
  runBy({ type, content }: WireMessage): string | undefined {
    const [first = "", second = ""] = content.toString("utf8").split("\0", 2);
    if (type === "P") this.#texts.set(first, second);
    if (type === "B") this.#portals.set(first, this.#texts.get(second) ?? "");
    if (type === "E") return this.#portals.get(first);
    return type === "Q" ? first : undefined;
  }
}
