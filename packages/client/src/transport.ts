import { ClientError, type ClientErrorCode, oneLine } from "./errors.ts";

/** A body that can be made again for another attempt. */
export interface RequestBody {
  readonly content: string | FormData | ReadableStream<Uint8Array>;
  readonly type?: string;
  /** What reading the content failed with; undefined: nothing. */
  readonly failure?: () => unknown;
}

/**
 * Whether a request may be sent again if its answer was lost, so that nobody knows what it did.
 * - `always`: doing it twice is doing it once.
 * - `with_key`: it has an Idempotency-Key, which only some servers know.
 * - `never`.
 * A refusal (429, 503 with Retry-After) did nothing, so it is always followed by another attempt.
 */
type Repetition = "always" | "with_key" | "never";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** From the root of the server. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => RequestBody | Promise<RequestBody>;
  readonly repetition: Repetition;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly value: unknown;
}

export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly token: string | undefined;
  /** The address without a slash at its end. */
  readonly server: string;
  readonly attemptsMax: number;
  readonly waitSecondsMax: number;
}

/** Fifty pushes with notes of 65,536 characters, each of up to six bytes in JSON, and names. */
const answerBytesMax = 64 * 1024 * 1024;
export const firstWaitMs = 500;
const answerTimeoutMs = 60_000;

/** Sends requests, repeats those that may be repeated, and reads bounded JSON answers. */
export class Transport {
  readonly #options: TransportOptions;
  #knowsKeys: Promise<boolean> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** @throws ClientError unreachable, redirected; too_many_requests or unavailable after the last attempt. */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    const { attemptsMax, waitSecondsMax, wait } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(request);
      const isLast = attempt >= attemptsMax;
      if (outcome instanceof ClientError) {
        if (isLast || !(await this.#mayRepeat(request))) throw outcome;
        await wait(firstWaitMs * 2 ** (attempt - 1), request.signal);
        continue;
      }
      const { status, retryAfterSeconds = 0 } = outcome;
      if (status !== 429 && status !== 503) return outcome;
      if (isLast || retryAfterSeconds > waitSecondsMax) throw refusalOf(outcome);
      await wait(Math.max(retryAfterSeconds * 1_000, firstWaitMs), request.signal);
    }
  }

  async #mayRepeat({ repetition }: ApiRequest): Promise<boolean> {
    if (repetition !== "with_key") return repetition === "always";
    this.#knowsKeys ??= this.#findKeySupport();
    return await this.#knowsKeys;
  }

  /** Only Sealpush describes its API at this address. Without an answer the request is not repeated. */
  async #findKeySupport(): Promise<boolean> {
    const outcome = await this.#attempt({ method: "GET", path: "/api/v2/openapi.json", repetition: "never" });
    if (outcome instanceof ClientError) {
      this.#knowsKeys = undefined;
      return false;
    }
    return textAt(outcome.value, "info", "title") === "Sealpush API";
  }

  /** @returns the error if the answer was lost. @throws ClientError redirected; what `signal` was aborted with. */
  async #attempt(request: ApiRequest): Promise<ClientError | (ApiAnswer & { retryAfterSeconds: number | undefined })> {
    const { server, token } = this.#options;
    const { method, path, headers, signal } = request;
    const body = await request.body?.();
    const isStream = body !== undefined && typeof body.content !== "string";
    const signals = [
      ...(signal === undefined ? [] : [signal]),
      ...(isStream ? [] : [AbortSignal.timeout(answerTimeoutMs)]),
    ];
    try {
      const response = await this.#options.fetch(`${server}${path}`, {
        method,
        headers: {
          accept: "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body?.type === undefined ? {} : { "content-type": body.type }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: body.content, duplex: "half" }),
        redirect: "manual",
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
      } as RequestInit);
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        await response.body?.cancel();
        throw redirection(server, response.headers.get("location"));
      }
      const { status } = response;
      const answer = { status, value: parsedJson(await textOf(response)) };
      const retryAfterSeconds = secondsOf(response.headers.get("retry-after"));
      // A proxy answers so when it has lost the server's answer.
      const isLost = status === 502 || status === 504 || (status === 503 && retryAfterSeconds === undefined);
      if (isLost) return errorOf(answer, "The server is away, or did not answer its proxy in time.");
      return { ...answer, retryAfterSeconds };
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (signal?.aborted === true) throw signal.reason;
      const failure = body?.failure?.();
      if (failure !== undefined) throw failure;
      return lostAnswer(server, error);
    }
  }
}

/** The network's reason only: messages of the runtime may contain headers. */
export function lostAnswer(server: string, error: unknown): ClientError {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const reason = code ?? (isTimeout ? "no answer in time" : "the connection failed");
  return new ClientError("unreachable", `${server} cannot be reached (${oneLine(reason)}).`);
}

/** The token and the secret would follow a redirect, so people have to name the new address. */
function redirection(server: string, location: string | null): ClientError {
  const target = location !== null && URL.canParse(location, server) ? new URL(location, server).origin : undefined;
  const hint =
    target === undefined || target === new URL(server).origin ? "" : ` If you trust it, use the address ${target}.`;
  return new ClientError("redirected", `${server} redirects to another address.${hint}`);
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    sizeBytes += part.value.length;
    if (sizeBytes > answerBytesMax) {
      await reader?.cancel();
      throw new ClientError("not_this_api", "The server's answer is too large.", { status: response.status });
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

/** undefined: it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Seconds only: servers of this API send no dates. */
export function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

function refusalOf(answer: ApiAnswer & { readonly retryAfterSeconds: number | undefined }): ClientError {
  const { retryAfterSeconds } = answer;
  const when = retryAfterSeconds === undefined ? "later" : `in ${retryAfterSeconds} seconds`;
  return errorOf(answer, `Try again ${when}.`, retryAfterSeconds);
}

const codesByStatus: Readonly<Record<number, ClientErrorCode>> = {
  400: "invalid",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "invalid",
  410: "not_found",
  413: "too_large",
  422: "invalid",
  429: "too_many_requests",
  503: "unavailable",
};

/** @param hint another sentence for the message. */
export function errorOf({ status, value }: ApiAnswer, hint = "", retryAfterSeconds?: number): ClientError {
  const fields = fieldsOf(status, value);
  const said =
    fields === undefined
      ? refusalIn(value)
      : Object.entries(fields)
          .map(([name, problems]) => `${name} ${problems.join(" ")}`)
          .join(" ");
  const sentence = said === undefined ? "" : `: ${oneLine(said)}`;
  const message = `The server answered ${status}${sentence}${/[.!?]$/.test(sentence) ? "" : "."}${hint === "" ? "" : ` ${hint}`}`;
  const code = codesByStatus[status] ?? (status >= 500 ? "unavailable" : "not_this_api");
  return new ClientError(code, message, {
    status,
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** The word that servers answer an unknown token with says nothing to people. */
function refusalIn(value: unknown): string | undefined {
  const said = textAt(value, "error");
  return said === "not-found" ? "there is no such push or request, or it is not yours" : said;
}

/** For an answer without what this API answers. */
export function otherProgram({ status }: ApiAnswer): ClientError {
  return new ClientError(
    "not_this_api",
    "The answer is not one of Sealpush or Password Pusher. Check the server's address.",
    { status },
  );
}

/** The body of a 422: a map of fields. */
function fieldsOf(status: number, value: unknown): Record<string, string[]> | undefined {
  if (status !== 422 || typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value).flatMap(([name, problems]) =>
    Array.isArray(problems)
      ? [[name, problems.filter((problem) => typeof problem === "string").map(oneLine)] as const]
      : [],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = path.reduce<unknown>(
    (part, name) => (part instanceof Object ? Reflect.get(part, name) : undefined),
    value,
  );
  return typeof found === "string" ? found : undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}
