const version = "1.0.0";
const partType = "application/offset+octet-stream";
/** Proxies may refuse larger requests. */
const partBytes = 32 * 1024 ** 2;
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** Nobody waits longer. */
const waitSecondsMax = 120;
/** An upload that makes no progress in this many attempts is given up. */
const attemptsMax = 20;

/** The server does not take files in this way: they have to be sent with the form. */
export class NotOfferedError extends Error {
  override readonly name = "NotOfferedError";
}

/** Nothing arrives. What has arrived stays on the server. */
export class UploadFailedError extends Error {
  override readonly name = "UploadFailedError";
}

export interface UploadWatch {
  /** Bytes that are on the server or on their way. */
  progress(bytes: number): void;
  /** The upload pauses because of an error, or goes on. */
  broken(isBroken: boolean): void;
}

/** What is sent: a file as it is, or sealed on the way. */
export interface UploadSource {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** @returns the bytes from `start`; maybe fewer than there are up to `end`. */
  slice(start: number, end: number): Blob | Promise<Blob>;
}

interface Answer {
  /** 0: none. */
  readonly status: number;
  header(name: string): string | null;
}

/**
 * One file on its way to the server, by tus (https://tus.io/protocols/resumable-upload). Its address is a secret, so it is
 * kept in memory only: an upload continues after a broken connection, but not in another page.
 */
export class FileUpload {
  readonly file: UploadSource;
  readonly #endpoint: string;
  #path: string | null = null;
  #offset = 0;

  /** @param endpoint the path at which uploads begin. */
  constructor(file: UploadSource, endpoint: string) {
    this.file = file;
    this.#endpoint = endpoint;
  }

  /** What the form names; null: the file is not on the server. */
  get address(): string | null {
    return this.#path !== null && this.#offset === this.file.size ? this.#path.slice(this.#endpoint.length + 1) : null;
  }

  /** Resolves when the server has the whole file. @throws NotOfferedError, UploadFailedError; the reason of `signal`. */
  async send(watch: UploadWatch, signal: AbortSignal): Promise<void> {
    if (this.#path !== null) await this.#find(watch, signal);
    for (let attempts = 0; this.address === null; ) {
      const before = this.#offset;
      const answer = this.#path === null ? await this.#begin(signal) : await this.#sendPart(watch, signal);
      attempts = this.#offset > before ? 0 : attempts + 1;
      if (attempts > attemptsMax) throw new UploadFailedError();
      if (!isTemporary(answer.status)) continue;
      watch.broken(true);
      await pause(answer, attempts, signal);
      if (this.#path !== null) await this.#find(watch, signal);
    }
  }

  /** Removes what has arrived, also while the page is being left. If the server cannot be reached, it does so later by itself. */
  discard(): void {
    const path = this.#path;
    this.#path = null;
    this.#offset = 0;
    const request = { method: "DELETE", headers: { "tus-resumable": version }, keepalive: true };
    if (path !== null) void fetch(path, request).catch(() => undefined);
  }

  async #begin(signal: AbortSignal): Promise<Answer> {
    const { name, type, size } = this.file;
    const metadata = `filename ${toBase64(name)},filetype ${toBase64(type)}`;
    const headers = { "upload-length": String(size), "upload-metadata": metadata };
    const answer = await ask("POST", this.#endpoint, { headers, signal });
    signal.throwIfAborted();
    if (answer.status === 201) {
      this.#path = answer.header("location");
      this.#offset = 0;
    } else if (!isTemporary(answer.status) || waitSecondsOf(answer) > waitSecondsMax) throw new NotOfferedError();
    return answer;
  }

  /** Asks how much has arrived, until there is an answer. */
  async #find(watch: UploadWatch, signal: AbortSignal): Promise<void> {
    for (let attempts = 0; ; attempts += 1) {
      const answer = await ask("HEAD", this.#path ?? "", { headers: {}, signal });
      signal.throwIfAborted();
      if (!isTemporary(answer.status)) {
        watch.broken(false);
        this.#follow(answer);
        watch.progress(this.#offset);
        return;
      }
      watch.broken(true);
      await pause(answer, attempts, signal);
    }
  }

  async #sendPart(watch: UploadWatch, signal: AbortSignal): Promise<Answer> {
    const start = this.#offset;
    const part = await this.file.slice(start, start + partBytes);
    const headers = { "content-type": partType, "upload-offset": String(start) };
    const sent = (bytes: number) => watch.progress(start + Math.min(bytes, part.size));
    const answer = await ask("PATCH", this.#path ?? "", { headers, signal, part: { body: part, sent } });
    signal.throwIfAborted();
    if (isTemporary(answer.status)) return answer;
    if (![204, 404, 409].includes(answer.status)) throw new NotOfferedError();
    this.#follow(answer);
    watch.progress(this.#offset);
    return answer;
  }

  /** Without an offset, the server does not have the upload any more: it begins again. */
  #follow(answer: Answer): void {
    const offset = answer.header("upload-offset");
    if (offset === null) this.#path = null;
    this.#offset = Number(offset ?? 0);
  }
}

/** The connection broke, another request still sends to this upload, or the server is busy. */
function isTemporary(status: number): boolean {
  return status === 0 || status === 408 || status === 423 || status === 429 || status >= 500;
}

function waitSecondsOf(answer: Answer): number {
  return Number(answer.header("retry-after") ?? 0);
}

/** Waits as long as the server says, or longer after each attempt; not when the browser is online again. */
async function pause(answer: Answer, attempts: number, signal: AbortSignal): Promise<void> {
  const seconds = waitSecondsOf(answer);
  if (attempts >= attemptsMax || seconds > waitSecondsMax) throw new UploadFailedError();
  const ms = seconds > 0 ? seconds * 1_000 : (pausesMs[Math.min(attempts, pausesMs.length - 1)] ?? 0);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => resolve(), { once: true });
    addEventListener("online", () => resolve(), { once: true });
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
  signal.throwIfAborted();
}

/** XMLHttpRequest, because `fetch` does not report how much has been sent. @returns status 0 after an error or an abort. */
function ask(
  method: string,
  path: string,
  sent: {
    readonly headers: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    readonly part?: { readonly body: Blob; readonly sent: (bytes: number) => void };
  },
): Promise<Answer> {
  const { headers, signal, part } = sent;
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    request.setRequestHeader("tus-resumable", version);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (part !== undefined) request.upload.addEventListener("progress", ({ loaded }) => part.sent(loaded));
    const abort = () => request.abort();
    request.addEventListener("loadend", () => {
      signal?.removeEventListener("abort", abort);
      resolve({ status: request.status, header: (name) => request.getResponseHeader(name) });
    });
    signal?.addEventListener("abort", abort);
    if (signal?.aborted === true) resolve({ status: 0, header: () => null });
    else request.send(part?.body ?? null);
  });
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
