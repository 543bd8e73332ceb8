import type { TraceParent } from "../telemetry/answered-request.ts";

const noId = /^0+$/;

/** W3C Trace Context, level 1, 3.2: undefined for whatever is not a valid `traceparent`. */
export function readTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Only versions to come may say more, and the last number is none.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (noId.test(traceId) || noId.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
