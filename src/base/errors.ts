/** Field name (camelCase, as in the domain) -> what is wrong with it, one sentence each. */
export type FieldProblems = Readonly<Record<string, readonly string[]>>;

export type RefusalCode =
  | "invalid_request"
  | "not_authenticated"
  | "forbidden"
  /** This server requires a second factor, and the user has none. */
  | "factor_required"
  | "not_found"
  /** What is to be changed has ended. */
  | "ended"
  /** Another request changed it at the same time. */
  | "conflict"
  | "method_not_allowed"
  | "too_large"
  | "too_slow"
  | "unsupported_media_type"
  | "invalid_fields"
  | "too_many_requests"
  /** The bytes of new pushes that an account or a client has a day. */
  | "bytes_used_up"
  | "unavailable";

/**
 * A refusal that may be shown to the caller. Only `http/errors` maps codes to HTTP statuses. Any other thrown error is a bug
 * and is answered with 500 without details.
 * `message` is sent to the client: it must not contain secrets, tokens, paths or SQL.
 */
export class AppError extends Error {
  readonly code: RefusalCode;
  /** Only for `invalid_fields`. */
  readonly fields: FieldProblems | undefined;
  /** Only for `too_many_requests`, `bytes_used_up` and `unavailable`: seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  /** Only for `not_found`: one sentence that says why, where that reveals nothing. */
  readonly explanation: string | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    more: { fields?: FieldProblems; retryAfterSeconds?: number; explanation?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "AppError";
    this.code = code;
    this.fields = more.fields;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.explanation = more.explanation;
  }
}

/** The code of an error of Node, the system or a driver, such as ENOENT; undefined: it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function invalidFields(fields: FieldProblems): AppError {
  return new AppError("invalid_fields", "Some fields are not valid.", { fields });
}

export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError("unavailable", message, { retryAfterSeconds, cause });
}

/** For the last branch of a switch over a union: a new member does not compile. */
export function unreachable(value: never): never {
  throw new Error(`Unexpected value of type ${typeof value}.`);
}
