import { BlobStoreError } from "../blob-store.ts";

/** The store's answer to one operation was a refusal, or there was no good answer. */
export class S3Error extends BlobStoreError {
  override readonly name = "S3Error";
  /** undefined: no answer came. */
  readonly status: number | undefined;
  /** The same request may well succeed in a moment. */
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
/** Answered with other statuses. The digests: the bytes changed on their way, and are sent again. */
const passingCodes: ReadonlySet<string> = new Set([
  ...["RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "OperationAborted"],
  ...["BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody"],
]);

/** @param code as the store gave it: anything may stand there. */
export function refusal(operation: string, status: number, code: string | undefined): S3Error {
  const known = code !== undefined && /^[A-Za-z0-9.]{1,64}$/.test(code) ? code : `HTTP_${status}`;
  return new S3Error(`The object store answered ${operation} with ${status} (${known}).`, known, {
    status,
    passing: passingStatuses.has(status) || passingCodes.has(known),
  });
}

/** A connection that could not be made, broke or fell silent. */
export function noAnswer(operation: string, cause: unknown): S3Error {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "NO_ANSWER";
  return new S3Error(`The object store gave no answer to ${operation} (${code}).`, code, { passing: true, cause });
}

/** The answer is not what the protocol promises: too short, of another range, with another checksum. */
export function brokenAnswer(operation: string, what: string): S3Error {
  return new S3Error(`The object store's answer to ${operation} ${what}.`, "BROKEN_ANSWER", { passing: true });
}
