import { type Reply, refuse } from "./replies.ts";

/** The faults of one request. */
export type Fault =
  /** No response. */
  | "silent"
  /** The connection breaks before the request is executed. */
  | "reset"
  /** The request is executed, then the connection breaks. */
  | "lost_answer"
  /** 500 without executing the request. */
  | "error"
  /** The request is executed and answered with 500. */
  | "error_after"
  | "slow_down"
  | "denied"
  /** The bytes were modified on the network, and the store noticed. */
  | "damaged"
  /** The store reports a digest of other bytes. */
  | "wrong_digest"
  /** The store reports another size. */
  | "wrong_size"
  /** The response arrives in many small chunks. */
  | "slow"
  /** The connection breaks during the response. */
  | "cut"
  /** The response ends in the middle without an error. */
  | "short"
  /** Another range than requested, with its correct Content-Range. */
  | "wrong_range"
  /** 200, with an error where the result should be. */
  | "error_in_success"
  | "gone"
  /** Success in a bucket with versioning. */
  | "versioned"
  /** The object has other bytes than were stored. */
  | "rotten";

export interface Asked {
  readonly operation: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

export type FaultPlan = (asked: Asked) => Fault | undefined;

/** Every odd occurrence of a request fails. */
export function everyOther(fault: Fault, ...operations: readonly string[]): FaultPlan {
  const seen = new Map<string, number>();
  return ({ operation, path, query }) => {
    if (operations.length > 0 && !operations.includes(operation)) return undefined;
    const name = `${operation} ${path} ${query.get("partNumber")}`;
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times % 2 === 0 ? fault : undefined;
  };
}

/** These operations always fail; without names, all do. */
export function always(fault: Fault, ...operations: readonly string[]): FaultPlan {
  return ({ operation }) => (operations.length === 0 || operations.includes(operation) ? fault : undefined);
}

/** @param act executes the request and returns the correct response. */
export function faultOf(fault: Fault | undefined, act: () => Reply): Reply | "silence" | "reset" {
  switch (fault) {
    case undefined:
      return act();
    case "silent":
      return "silence";
    case "reset":
      return "reset";
    case "lost_answer":
      act();
      return "reset";
    case "error":
      return refuse(500, "InternalError");
    case "error_after":
      act();
      return refuse(500, "InternalError");
    case "slow_down":
      return refuse(503, "SlowDown");
    case "denied":
      return refuse(403, "AccessDenied");
    case "damaged":
      return refuse(400, "BadDigest");
    case "gone":
      return refuse(404, "NoSuchUpload");
    case "error_in_success":
      return { ...refuse(200, "InternalError") };
    case "wrong_digest":
      return withWrongDigest(act());
    case "wrong_size":
      return withHeaders(act(), { "content-length": "1" });
    case "slow":
      return { ...act(), ends: "slowly" };
    case "cut":
      return { ...act(), ends: "cut" };
    case "short":
      return { ...act(), ends: "unannounced" };
    case "versioned":
      return withHeaders(act(), { "x-amz-version-id": "3HL4kqtJvjVBH40Nrjfkd" });
    case "rotten": {
      const reply = act();
      const body = Buffer.from(reply.body ?? []);
      return { ...reply, body: body.fill(7, body.length >> 1) };
    }
    case "wrong_range":
      return withHeaders(act(), { "content-range": "bytes 1-1/2" });
  }
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** In the header, and in the answer about an object of several parts. */
function withWrongDigest(reply: Reply): Reply {
  const zeros = "0".repeat(32);
  const body = Buffer.from(String(reply.body ?? "").replace(/[0-9a-f]{32}(?=-\d)/, zeros));
  return withHeaders({ ...reply, body }, { etag: `"${zeros}"` });
}
