/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export type RequestedRange =
  /** No range was asked for, or one we may ignore (RFC 9110, 14.2): several, another transaction, malformed. */
  | { readonly wanted: "all" }
  | { readonly wanted: "from"; readonly start: number; readonly end: number | undefined }
  | { readonly wanted: "last"; readonly bytes: number };

export function parseRange(header: string | undefined): RequestedRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "");
  const [first, last] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (first === "") return last === "" ? { wanted: "all" } : { wanted: "last", bytes: Number(last) };
  const start = Number(first);
  const end = last === "" ? undefined : Number(last);
  return end !== undefined && end < start ? { wanted: "all" } : { wanted: "from", start, end };
}

/** @returns undefined when nothing of the range lies within `sizeBytes` (416). */
export function rangeWithin(requested: RequestedRange, sizeBytes: number): ByteRange | undefined {
  const last = sizeBytes - 1;
  switch (requested.wanted) {
    case "all":
      return { start: 0, end: last };
    case "from":
      return requested.start > last
        ? undefined
        : { start: requested.start, end: Math.min(requested.end ?? last, last) };
    case "last":
      return requested.bytes === 0 || sizeBytes === 0
        ? undefined
        : { start: Math.max(0, sizeBytes - requested.bytes), end: last };
  }
}
