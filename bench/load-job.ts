/** One phase of load, requested by the parent process. */
export interface LoadJob {
  /** Connections are spread over them. */
  readonly ports: readonly number[];
  readonly connections: number;
  readonly durationMs: number;
  /** Ends the phase instead of the time. */
  readonly requestsMax?: number | undefined;
  /** A complete request; "TOKEN" in it is replaced by a url_token. */
  readonly request: string;
  /** "same": one repeated request; the others: another path each, with tokens of an earlier job or made-up tokens. */
  readonly each: "same" | "kept_token" | "made_up_token";
  /** Kept tokens in no order. Those that are not sent remain for the next job. */
  readonly shuffles?: boolean;
  readonly madeUpTokens: readonly string[];
  /** Keep the url_tokens of the answers for a later job. */
  readonly keepTokens: boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  /** Status -> number of answers. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** CPU of the generator as a share of one core. */
  readonly clientShare: number;
  readonly keptTokens: number;
}
