/** What the bare statements are asked to run in one phase. */
export interface DatabaseJob {
  readonly what: "create" | "claim";
  /** Each runs one statement after the other. */
  readonly connections: number;
  readonly durationMs: number;
}

/** How long the parts of a row are, as the product has written them. */
export interface RowShape {
  readonly dataKeyBytes: number;
  readonly payloadBytes: number;
}

/** Where and what the process works with, as its first message. */
export interface DatabasePlace {
  readonly url: string;
  readonly connectionsMax: number;
  readonly shape: RowShape;
}

export interface DatabaseResult {
  /** Whole creates, or whole claims: the reading and the write. */
  readonly done: number;
  readonly elapsedMs: number;
}
