/** Field name (as the domain spells it, camelCase) -> what is wrong with it, one sentence each. */
export type FieldProblems = Readonly<Record<string, readonly string[]>>;

export type RefusalCode =
  | "invalid_request"
  | "not_authenticated"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "too_large"
  | "unsupported_media_type"
  | "invalid_fields"
  | "too_many_requests"
  | "unavailable";

/**
 * A refusal that the caller may hear of. Only `http/errors` knows which HTTP status a code becomes. Anything thrown
 * that is not an AppError is a bug and is answered as 500 without details.
 * `message` is safe to send: no secret, token, path or SQL may stand in it.
 */
export class AppError extends Error {
  readonly code: RefusalCode;
  /** Only for `invalid_fields`. */
  readonly fields: FieldProblems | undefined;
  /** Only for `too_many_requests` and `unavailable`: seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    more: { fields?: FieldProblems; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "AppError";
    this.code = code;
    this.fields = more.fields;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export function invalidFields(fields: FieldProblems): AppError {
  return new AppError("invalid_fields", "Some fields are not valid.", { fields });
}

export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError("unavailable", message, { retryAfterSeconds, cause });
}

/** For the last branch of a switch over a union: a new member fails to compile instead of falling through. */
export function unreachable(value: never): never {
  throw new Error(`Unexpected value of type ${typeof value}.`);
}
