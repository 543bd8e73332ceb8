/** One phase of bare statements. */
export interface DatabaseJob {
  readonly what: "create" | "claim";
  /** Each connection runs one statement after the other. */
  readonly connections: number;
  readonly durationMs: number;
}

/** The lengths of the parts of a row that the product writes. */
export interface RowShape {
  readonly rowSecretBytes: number;
  readonly payloadBytes: number;
}

/** The first message to the process: its database and data. */
export interface DatabasePlace {
  readonly url: string;
  readonly connectionsMax: number;
  readonly shape: RowShape;
}

export interface DatabaseResult {
  /** Complete creates, or complete claims: a read and a write. */
  readonly done: number;
  readonly elapsedMs: number;
}
