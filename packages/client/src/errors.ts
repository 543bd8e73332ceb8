/** What went wrong, in a form that programs can decide by. */
export type ClientErrorCode =
  /** The server gave no answer: a broken connection, a timeout, or a name that cannot be resolved. */
  | "unreachable"
  /** The answer is not one of this API: another program answers at this address, or the address is incomplete. */
  | "not_this_api"
  | "redirected"
  | "unauthorized"
  | "wrong_passphrase"
  | "forbidden"
  | "not_found"
  | "invalid"
  | "too_large"
  | "too_many_requests"
  | "unavailable";

/**
 * The message is one sentence for people. It contains neither a secret, a passphrase or a token nor the link of a push.
 */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  /** What is wrong with each field, if the server named fields. */
  readonly fields: Readonly<Record<string, readonly string[]>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The age text of an end-to-end push that was retrieved and that the passphrase does not open: its view is spent. */
  readonly sealedText: string | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    more: {
      readonly status?: number;
      readonly fields?: ClientError["fields"];
      readonly retryAfterSeconds?: number;
      readonly sealedText?: string;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.status = more.status;
    this.fields = more.fields;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.sealedText = more.sealedText;
  }
}

const sentenceCharactersMax = 300;

/** A text of the server as a part of one line: other servers' texts may have any length and control characters. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
  return line.length > sentenceCharactersMax ? `${line.slice(0, sentenceCharactersMax)}...` : line;
}
