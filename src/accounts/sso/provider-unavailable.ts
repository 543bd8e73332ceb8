/** The provider did not answer, was too slow or is misconfigured. Says nothing about the user who signs in. */
export class ProviderUnavailableError extends Error {
  /** For the log, which contains no error messages. */
  readonly code:
    | "PROVIDER_TARGET"
    | "PROVIDER_STATUS"
    | "PROVIDER_ANSWER"
    | "PROVIDER_LENGTH"
    | "PROVIDER_ISSUER"
    | "PROVIDER_KEYS";

  constructor(code: ProviderUnavailableError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "ProviderUnavailableError";
    this.code = code;
  }
}
