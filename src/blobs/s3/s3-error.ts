import { reasonOfCode } from "../../base/system-error.ts";
import { BlobStoreError } from "../blob-store.ts";

/** The store refused an operation, or sent no valid response. */
export class S3Error extends BlobStoreError {
  override readonly name = "S3Error";
  /** undefined: no response. */
  readonly status: number | undefined;
  /** The same request may succeed shortly. */
  readonly passing: boolean;

  constructor(
    message: string,
    code: string,
    more: { readonly status?: number | undefined; readonly passing?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, code, more.cause === undefined ? {} : { cause: more.cause });
    this.status = more.status;
    this.passing = more.passing ?? false;
  }
}

const passingStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Temporary errors with other statuses. After a digest mismatch the bytes, changed in transit, are sent again. */
const passingCodes: ReadonlySet<string> = new Set([
  "RequestTimeout",
  "SlowDown",
  "InternalError",
  "ServiceUnavailable",
  "OperationAborted",
  "BadDigest",
  "XAmzContentSHA256Mismatch",
  "IncompleteBody",
]);

/** @param code from the store, so it may be any text. */
export function refusal(operation: string, status: number, code: string | undefined): S3Error {
  const known = code !== undefined && /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : `HTTP_${status}`;
  return new S3Error(`The object store answered ${operation} with ${status} (${known}).`, known, {
    status,
    passing: passingStatuses.has(status) || passingCodes.has(known),
  });
}

/** A connection that could not be opened, broke or became silent. */
export function noAnswer(operation: string, cause: unknown): S3Error {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "NO_ANSWER";
  return new S3Error(`The object store gave no answer to ${operation} (${reasonOfCode(code) ?? code}).`, code, {
    passing: true,
    cause,
  });
}

/** The response violates the protocol: it is too short, has another range or another checksum. */
export function brokenAnswer(operation: string, what: string): S3Error {
  return new S3Error(`The object store's answer to ${operation} ${what}.`, "BROKEN_ANSWER", { passing: true });
}
