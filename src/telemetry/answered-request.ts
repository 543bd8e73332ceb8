/** The name of whatever no route stands for: one for all, since strangers choose the addresses. */
export const unmatchedRoute = "unmatched";

/**
 * A request as it may be told of: nothing in it is of a stranger's choosing but `address` and the ids of `caller`, which
 * have a fixed shape. Its path, query, host, headers and body stand nowhere here, so nobody can log them.
 */
export interface AnsweredRequest {
  readonly requestId: string;
  /** One of few; anything unusual is "other". */
  readonly method: string;
  /** The route's pattern, e.g. `/api/v2/pushes/:url_token`, or `unmatchedRoute`. */
  readonly route: string;
  /** 499: the connection ended before the whole answer was sent. */
  readonly status: number;
  /** From the first look at the request to the end of its answer. */
  readonly durationMs: number;
  readonly https: boolean;
  /** The client's, as trusted proxies tell it. */
  readonly address: string;
  /** The span that a trusted proxy works in (W3C Trace Context), undefined: none. */
  readonly caller: TraceParent | undefined;
}

export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly flags: number;
}

/** What is made of each answered request; all that is absent costs nothing. */
export interface RequestWatch {
  readonly count?: (request: AnsweredRequest) => void;
  /** @returns the id of the trace that the request's span stands in; undefined: it was not sampled. */
  readonly trace?: (request: AnsweredRequest) => string | undefined;
  readonly log?: (request: AnsweredRequest, traceId: string | undefined) => void;
}
