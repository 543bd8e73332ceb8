/** One phase of load, as the parent asks for it. */
export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** A whole request; "TOKEN" in it stands for a url_token. */
  readonly request: string;
  /** "same": one request over and over; the others: a fresh path each, tokens kept from an earlier job or made up. */
  readonly each: "same" | "kept_token" | "made_up_token";
  readonly madeUpTokens: readonly string[];
  /** Keep the url_tokens of the answers for a later job. */
  readonly keepTokens: boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  /** Status -> how many. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** CPU of the generator as a share of one core. */
  readonly clientShare: number;
  readonly keptTokens: number;
}
