/** The route of every request that matches none. */
export const unmatchedRoute = "unmatched";

/**
 * The parts of a request that may be logged and counted. A client chooses none of them except `address` and the ids of
 * `caller`, which have a fixed form. Path, query, host, headers and body are not included, so they cannot be logged.
 */
export interface AnsweredRequest {
  readonly requestId: string;
  /** A common method, or "other". */
  readonly method: string;
  /** The route's pattern, e.g. `/api/v2/pushes/:url_token`, or `unmatchedRoute`. */
  readonly route: string;
  /** 499: the connection ended before the whole answer was sent. */
  readonly status: number;
  /** From the start of the request to the end of its answer. */
  readonly durationMs: number;
  readonly https: boolean;
  /** The client's address, from trusted proxies if there are any. */
  readonly address: string;
  /** The span of a trusted proxy (W3C Trace Context); undefined: none. */
  readonly caller: TraceParent | undefined;
}

export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly flags: number;
}

/** The observers of each answered request. */
export interface RequestWatch {
  readonly count?: (request: AnsweredRequest) => void;
  /** @returns the id of the request's trace; undefined: it was not sampled. */
  readonly trace?: (request: AnsweredRequest) => string | undefined;
  readonly log?: (request: AnsweredRequest, traceId: string | undefined) => void;
}
