import type {
  Audit,
  CreatedPush,
  OwnedPush,
  Policy,
  Presets,
  Preview,
  Push,
  RetrievedPush,
  Version,
} from "./api-types.ts";
import type { DownloadOptions, FileToDownload } from "./download.ts";
import { ClientError } from "./errors.ts";
import { openLabels } from "./labels.ts";
import { type LinkParts, readLink, serverOf, urlTokenIn } from "./link.ts";
import { formBody, type NewFile, type Progress } from "./multipart.ts";
import type { Foreign, NewPush, PushChanges, Retrieved } from "./push-types.ts";
import { randomHex } from "./random-hex.ts";
import { Requests } from "./requests.ts";
import { ignoredField } from "./restricting-fields.ts";
import {
  type ApiAnswer,
  type CallOptions,
  errorOf,
  otherProgram,
  type RequestBody,
  Transport,
  textAt,
} from "./transport.ts";

export type * from "./api-types.ts";
export { durationMinutes } from "./api-types.ts";
export { ClientError, type ClientErrorCode } from "./errors.ts";
export { type Expiry, expiryOf } from "./expiry.ts";
export { openLabels } from "./labels.ts";
export { type PasswordOptions, randomPassword } from "./password.ts";
export type { NewPush, PushChanges, Retrieved } from "./push-types.ts";
export type { AnswersOptions, CreatedRequest, FoundRequest, NewAnswer, NewRequest } from "./request-types.ts";
export { isSealedLabel } from "./sealed-label.ts";
export type { CallOptions } from "./transport.ts";
export type { LinkParts, NewFile, Progress };

export interface ClientOptions {
  /** The server's address, such as https://push.example.com. */
  readonly server: string;
  /** An API token. It is sent to this server only. */
  readonly token?: string | undefined;
  /** The API to use. Default: v2, or v1 if the server has no v2. */
  readonly api?: ApiVersion | undefined;
  /** The language of links, such as de. */
  readonly language?: string | undefined;
  /** How often a request is sent, the first time included. Default: 4. */
  readonly attemptsMax?: number;
  /** The longest Retry-After that is waited for. Default: 30; for downloads, whose view is spent, 60. */
  readonly waitSecondsMax?: number;
  readonly fetch?: typeof fetch;
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export type ApiVersion = "v1" | "v2";

export type AuditEntry = Audit["logs"][number];
/** The features are unknown on servers without API v2. */
export type ServerVersion = { readonly [Key in "application_version" | "api_version" | "edition"]: string } & {
  readonly features?: Version["features"];
};

export interface CreateOptions extends CallOptions {
  readonly endToEnd?: boolean;
  /** With `endToEnd`: seals name and note, too. `openLabels` opens them in lists. */
  readonly sealLabels?: boolean;
  readonly onProgress?: Progress;
}

export interface RetrieveOptions extends CallOptions {
  readonly passphrase?: string;
  /** Gets another passphrase for an end-to-end push, whose view is not spent twice. Undefined: there is none. */
  readonly askPassphrase?: () => Promise<string | undefined>;
}

/** `limited`: the token is valid, but may not read lists. */
export type TokenState = "none" | "valid" | "limited" | "refused";

/**
 * A client of the API of Sealpush and Password Pusher, for Node and browsers. All methods throw a ClientError, or what the
 * signal was aborted with.
 *
 * A request is repeated after a refusal with Retry-After, and after a lost answer if it then does nothing twice: calls that
 * only read, `end`, and on Sealpush also `retrieve` and a creation with a token, which carry an Idempotency-Key.
 */
export class SealpushClient {
  /** The server's address without a slash at its end. */
  readonly server: string;
  /** Asks people for secrets, and answers such requests. Only Sealpush has them. */
  readonly requests: Requests;
  readonly #transport: Transport;
  readonly #downloads: DownloadOptions;
  readonly #token: string | undefined;
  readonly #language: string | undefined;
  #api: Promise<ApiVersion> | undefined;

  /** @throws ClientError invalid if an option is. */
  constructor(options: ClientOptions) {
    const { api, token, language } = options;
    if (token !== undefined && !/^[!-~]{1,1024}$/.test(token)) {
      throw new ClientError("invalid", "The API token has characters that no token has.");
    }
    this.server = serverOf(options.server);
    this.#token = token;
    this.#language = language;
    this.#api = api === undefined ? undefined : Promise.resolve(api);
    const wait = options.wait ?? waitFor;
    this.#downloads = { server: this.server, wait, waitSecondsMax: options.waitSecondsMax ?? 60 };
    this.#transport = new Transport({
      server: this.server,
      token,
      attemptsMax: options.attemptsMax ?? 4,
      waitSecondsMax: options.waitSecondsMax ?? 30,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      wait,
    });
    this.requests = new Requests(this.#transport, this.server);
  }

  /**
   * @param options.endToEnd seals the push before it is sent, with its passphrase; the key is in the link.
   * @param options.sealLabels seals its name and note, too. The answer has them as they were given.
   * @param options.onProgress gets the sent bytes of all files, if a file is no Blob. Browsers report none.
   */
  async create(
    push: NewPush,
    { endToEnd = false, sealLabels = false, ...options }: CreateOptions = {},
  ): Promise<Foreign<CreatedPush>> {
    if (!endToEnd) {
      if (sealLabels) throw new ClientError("invalid", "Name and note can be sealed only with an end-to-end push.");
      return await this.#create(push, this.#token !== undefined, options);
    }
    if ((await this.#apiVersion(options)) === "v1") {
      throw new ClientError("invalid", "This server does not know end-to-end pushes.");
    }
    const { sealPush } = await import("./end-to-end.ts");
    const sealed = await sealPush(push, sealLabels);
    // Another attempt would seal the files again, so the server would compare other bytes.
    const isKeyed = this.#token !== undefined && push.files === undefined;
    const made = await this.#create(sealed.push, isKeyed, options);
    if (made.encryption !== "age") await this.#refuse(made, "This server does not know end-to-end pushes", options);
    const link = `${made.html_url}#${sealed.fragment}`;
    return { ...(sealLabels ? await openLabels(made, link) : made), html_url: link };
  }

  async #create(
    push: NewPush,
    isKeyed: boolean,
    options: Omit<CreateOptions, "endToEnd" | "sealLabels">,
  ): Promise<Foreign<CreatedPush>> {
    const api = await this.#apiVersion(options);
    // Another server would ignore it, and keep the push longer than the preset says.
    if (push.preset !== undefined && !(await this.features(options)).includes("preset")) {
      throw new ClientError("invalid", "This server does not know presets. Nothing was sent.");
    }
    const { path, wrapper } = api === "v2" ? { path: "/api/v2/pushes", wrapper: "push" } : endpointsOfV1(push);
    const answer = await this.#transport.send({
      method: "POST",
      path: this.#withLanguage(path),
      headers: isKeyed ? { "idempotency-key": randomHex() } : {},
      body: () => bodyOf(wrapper, push, options.onProgress),
      repetition: isKeyed ? "with_key" : "never",
      signal: options.signal,
    });
    const made = this.#pushIn<CreatedPush>(answer);
    const ignored = ignoredField(push, made);
    if (ignored !== undefined) await this.#refuse(made, `This server does not know ${ignored}`, options);
    return made;
  }

  /** Ends a push that lacks what was asked for. @throws ClientError always. */
  async #refuse(made: Foreign<CreatedPush>, problem: string, { signal }: CallOptions): Promise<never> {
    try {
      await this.end(made.url_token, signal === undefined ? {} : { signal });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      throw new ClientError("invalid", `${problem}, and its push could not be ended: ${error.message}`);
    }
    throw new ClientError("invalid", `${problem}. Its push was ended.`);
  }

  /**
   * Retrieves a push, which counts a view. After the push has ended, `expired` is true and `payload` null. The link of an end-to-end push contains its
   * key: a wrong one is found before a view is spent. Without the key, such a push has the sealed age text as its payload.
   * @param push its url_token or its link. @throws ClientError wrong_passphrase if it is wrong or missing.
   */
  async retrieve(push: string, options: RetrieveOptions = {}): Promise<Retrieved> {
    const fragment = readLink(push)?.fragment ?? "";
    if (fragment === "") return await this.#retrieve(push, options);
    const { openPush, readKey } = await import("./end-to-end.ts");
    const { encryption_check: check, encryption_passphrase: isProtected = false } = await this.#previewIfKnown(
      push,
      options,
    );
    const key = await readKey(fragment, check);
    let passphrase = options.passphrase ?? (isProtected ? await options.askPassphrase?.() : undefined);
    if (isProtected && passphrase === undefined) throw wrongPassphrase(undefined);
    const { signal } = options;
    const sealed = await this.#retrieve(push, signal === undefined ? {} : { signal });
    if (sealed.expired && sealed.payload === null && sealed.files.length === 0) return sealed;
    for (;;) {
      const opened = await openPush(sealed, key, passphrase ?? "");
      if (opened !== undefined) return { ...sealed, ...opened };
      passphrase = await options.askPassphrase?.();
      if (passphrase === undefined) throw wrongPassphrase("", sealed.payload ?? "");
    }
  }

  async #retrieve(push: string, { passphrase, signal }: RetrieveOptions): Promise<Retrieved> {
    const path = await this.#pathOf(push, "", { signal });
    const headers = { "idempotency-key": randomHex() };
    const get = (query: string, more: Readonly<Record<string, string>>) =>
      this.#transport.send({
        method: "GET",
        path: `${path}${query}`,
        headers: { ...headers, ...more },
        repetition: "with_key",
        signal,
      });
    const sent = passphrase === undefined || passphrase === "" ? undefined : passphrase;
    let answer = await get("", sent === undefined ? {} : { "x-push-passphrase": headerText(sent) });
    // Password Pusher reads the passphrase from the address only; Sealpush names its header in the refusal.
    if (
      sent !== undefined &&
      isWrongPassphrase(answer) &&
      !textAt(answer.value, "message")?.includes("X-Push-Passphrase")
    ) {
      answer = await get(`?${new URLSearchParams({ passphrase: sent })}`, {});
    }
    if (isWrongPassphrase(answer)) {
      throw wrongPassphrase(sent);
    }
    const found = this.#pushIn<RetrievedPush>(answer);
    return { ...found, files: Array.isArray(found.files) ? found.files : [] };
  }

  /** The link of a push. Counts no view. */
  async preview(push: string, options: CallOptions = {}): Promise<Preview> {
    const answer = await this.#get(await this.#pathOf(push, "/preview", options), options);
    if (textAt(answer.value, "url") === undefined) throw otherProgram(answer);
    return answer.value as Preview;
  }

  /** The retrieval says more about an unknown push, and not every server has previews. */
  async #previewIfKnown(push: string, options: CallOptions): Promise<Partial<Preview>> {
    try {
      return await this.preview(push, options);
    } catch (error) {
      if (error instanceof ClientError && error.code === "not_found") return {};
      throw error;
    }
  }

  /** The audit trail of an own push, oldest first, 50 a page. */
  async audit(
    push: string,
    { page = 1, ...options }: CallOptions & { readonly page?: number } = {},
  ): Promise<readonly AuditEntry[]> {
    const answer = await this.#get(`${await this.#pathOf(push, "/audit", options)}?page=${page}`, options);
    const entries: unknown = Reflect.get(Object(answer.value), "logs") ?? Reflect.get(Object(answer.value), "views");
    if (!Array.isArray(entries)) throw otherProgram(answer);
    return entries;
  }

  /** The own pushes that are active or have ended, newest first, 50 a page. */
  async list(
    state: "active" | "expired",
    { page = 1, ...options }: CallOptions & { readonly page?: number } = {},
  ): Promise<readonly Foreign<OwnedPush>[]> {
    const answer = await this.#get(`${await this.#pathOf(state, "", options)}?page=${page}`, options);
    if (!Array.isArray(answer.value)) throw otherProgram(answer);
    return answer.value.map((push: unknown) => this.#pushIn<OwnedPush>({ status: answer.status, value: push }));
  }

  /**
   * Changes an own push. What is not named stays as it is, the link too. Only Sealpush can.
   * @throws ClientError not_found also on other servers, and after the end of the push; wrong_passphrase if part of a protected push is to
   * stay, and `current_passphrase` is missing or wrong.
   */
  async edit(
    push: string,
    changes: PushChanges,
    { onProgress, signal }: Pick<CreateOptions, "onProgress" | "signal"> = {},
  ): Promise<Foreign<Push>> {
    const path = this.#withLanguage(`/api/sealpush/pushes/${urlTokenIn(push, this.server)}`);
    const body = () => bodyOf("push", changes, onProgress);
    const answer = await this.#transport.send({ method: "PATCH", path, body, repetition: "never", signal });
    const isAboutPassphrase = answer.status === 422 && Object.hasOwn(Object(answer.value), "current_passphrase");
    if (isAboutPassphrase) throw wrongPassphrase(changes.current_passphrase);
    return this.#pushIn<Push>(answer);
  }

  /** Ends a push at once: an own one, or one that its viewers may delete. */
  async end(push: string, options: CallOptions = {}): Promise<Foreign<Push>> {
    const path = this.#withLanguage(await this.#pathOf(push, "", options));
    return this.#pushIn<Push>(
      await this.#transport.send({ method: "DELETE", path, repetition: "always", signal: options.signal }),
    );
  }

  /**
   * The content of a file of a retrieved push. A broken download continues where it stopped, and one that is refused with
   * Retry-After begins later.
   * @throws ClientError not_found if the address has expired.
   */
  async *download(file: FileToDownload, options: CallOptions = {}): AsyncGenerator<Uint8Array> {
    const { downloadChunks } = await import("./download.ts");
    const chunks = downloadChunks(file, this.#downloads, options.signal);
    if (file.identity === undefined) return yield* chunks;
    const { openChunks } = await import("./end-to-end.ts");
    yield* openChunks(chunks, { ...file, identity: file.identity });
  }

  /** The extensions of this server, such as expires_at; empty for Password Pusher. */
  async features(options: CallOptions = {}): Promise<readonly string[]> {
    const answer = await this.#transport.send({ ...toRead("/api/sealpush"), signal: options.signal });
    if (answer.status === 404) return [];
    const names: unknown = Reflect.get(Object(answer.value), "features");
    if (answer.status !== 200) throw errorOf(answer);
    if (!Array.isArray(names)) throw otherProgram(answer);
    return names.filter((name) => typeof name === "string");
  }

  /** The rules for the pushes of this caller; undefined: the server tells none. @throws ClientError unauthorized, forbidden. */
  async policy(options: CallOptions = {}): Promise<Policy | undefined> {
    const answer = await this.#transport.send({ ...toRead("/api/sealpush/policy"), signal: options.signal });
    if (answer.status === 401 || answer.status === 403) throw errorOf(answer);
    const kinds: unknown = Reflect.get(Object(answer.value), "kinds");
    return answer.status === 200 && Array.isArray(kinds) ? (answer.value as Policy) : undefined;
  }

  /** The presets that this caller can name; none: the server does not know any. @throws ClientError unauthorized, forbidden. */
  async presets(options: CallOptions = {}): Promise<Presets["presets"]> {
    const answer = await this.#transport.send({ ...toRead("/api/sealpush/presets"), signal: options.signal });
    if (answer.status === 401 || answer.status === 403) throw errorOf(answer);
    const presets: unknown = Reflect.get(Object(answer.value), "presets");
    return answer.status === 200 && Array.isArray(presets) ? (answer.value as Presets).presets : [];
  }

  async version(options: CallOptions = {}): Promise<ServerVersion> {
    const path = (await this.#apiVersion(options)) === "v2" ? "/api/v2/version" : "/api/v1/version.json";
    const answer = await this.#get(path, options);
    if (textAt(answer.value, "application_version") === undefined) throw otherProgram(answer);
    return answer.value as ServerVersion;
  }

  /** Whether the server accepts the token. */
  async tokenState(options: CallOptions = {}): Promise<TokenState> {
    if (this.#token === undefined) return "none";
    try {
      await this.list("active", options);
      return "valid";
    } catch (error) {
      if (error instanceof ClientError && error.code === "unauthorized") return "refused";
      if (error instanceof ClientError && error.code === "forbidden") return "limited";
      throw error;
    }
  }

  async #get(path: string, { signal }: CallOptions): Promise<ApiAnswer> {
    const answer = await this.#transport.send({ ...toRead(this.#withLanguage(path)), signal });
    if (answer.status !== 200) throw errorOf(answer);
    return answer;
  }

  async #pathOf(push: string, after: string, options: { readonly signal?: AbortSignal | undefined }): Promise<string> {
    const token = urlTokenIn(push, this.server);
    const pathInV2 = `/api/v2/pushes/${token}`;
    const api = await this.#apiVersion(options, `${pathInV2}/preview`);
    return api === "v2" ? `${pathInV2}${after}` : `/p/${token}${after}.json`;
  }

  /** @param ofPush an address that only servers with API v2 have. */
  #apiVersion(options: { readonly signal?: AbortSignal | undefined }, ofPush?: string): Promise<ApiVersion> {
    this.#api ??= this.#findApiVersion(options, ofPush).then(
      ({ api, isCertain }) => {
        if (!isCertain) this.#api = undefined;
        return api;
      },
      (error: unknown) => {
        this.#api = undefined;
        throw error;
      },
    );
    return this.#api;
  }

  /**
   * Servers before API v2 have no such version, and neither does a public gateway, which only has what recipients need.
   * `isCertain` is false if all that was asked for is missing: a gateway answers so for a push that it does not know.
   */
  async #findApiVersion(
    { signal }: { readonly signal?: AbortSignal | undefined },
    ofPush: string | undefined,
  ): Promise<{ readonly api: ApiVersion; readonly isCertain: boolean }> {
    const read = (path: string) => this.#transport.send({ ...toRead(path), signal });
    const answer = await read("/api/v2/version");
    const version = textAt(answer.value, "api_version");
    if (answer.status === 200 && version?.startsWith("2.") === true) return { api: "v2", isCertain: true };
    if (answer.status !== 404) throw answer.status === 200 ? otherProgram(answer) : errorOf(answer);
    const known = ofPush === undefined ? undefined : await read(ofPush);
    if (known?.status === 200) return { api: "v2", isCertain: true };
    // Not taken for the older API, with which a view would be spent without a look at the key.
    if (known !== undefined && known.status !== 404) throw errorOf(known);
    const older = await read("/api/v1/version.json");
    return { api: "v1", isCertain: textAt(older.value, "application_version") !== undefined };
  }

  #withLanguage(path: string): string {
    if (this.#language === undefined) return path;
    return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ push_locale: this.#language })}`;
  }

  /** Old versions of Password Pusher answer without the link. */
  #pushIn<Answer extends Push>(answer: ApiAnswer): Foreign<Answer> {
    if (answer.status !== 200 && answer.status !== 201) throw errorOf(answer);
    const token = textAt(answer.value, "url_token");
    if (token === undefined) throw otherProgram(answer);
    const link = textAt(answer.value, "html_url") ?? `${this.server}/p/${encodeURIComponent(token)}`;
    return { ...(answer.value as Foreign<Answer>), html_url: link };
  }
}

const toRead = (path: string) => ({ method: "GET", path, repetition: "always" }) as const;

/** @param given undefined: there was none. @param sealedText what it does not open. */
function wrongPassphrase(given: string | undefined, sealedText?: string): ClientError {
  const problem = given === undefined ? "This push needs a passphrase." : "That passphrase is wrong.";
  return new ClientError("wrong_passphrase", problem, {
    status: 401,
    ...(sealedText === undefined ? {} : { sealedText }),
  });
}

/** A token is wrong: the server answers 401 as well, with another text. */
function isWrongPassphrase({ status, value }: ApiAnswer): boolean {
  return status === 401 && textAt(value, "error") === "That passphrase is incorrect.";
}

function endpointsOfV1({ kind, files = [] }: NewPush) {
  if (files.length > 0 || kind === "file") return { path: "/f.json", wrapper: "file_push" };
  return kind === "url" ? { path: "/r.json", wrapper: "url" } : { path: "/p.json", wrapper: "password" };
}

/** JSON, or a form if there are files. */
function bodyOf(
  wrapper: string,
  { files = [], ...fields }: NewPush | PushChanges,
  onProgress: Progress | undefined,
): RequestBody | Promise<RequestBody> {
  if (files.length === 0) return { content: JSON.stringify({ [wrapper]: fields }), type: "application/json" };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const texts = given.map(([name, value]) => [`${wrapper}[${name}]`, formText(value)] as const);
  return formBody(texts, `${wrapper}[files][]`, files, onProgress);
}

/** Lists are JSON. */
function formText(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Headers are bytes: fetch takes a character for each. Their blanks at both ends are not part of the value. */
function headerText(passphrase: string): string {
  // UTF-8 has no byte below 0x80 for the control characters from U+0080 on.
  if (/(?![\u0080-\u009f])\p{Cc}|^ | $/u.test(passphrase)) {
    throw new ClientError(
      "invalid",
      "A passphrase with a control character, or with a blank at its start or end, cannot be sent from here: open the link in a browser.",
    );
  }
  return String.fromCharCode(...new TextEncoder().encode(passphrase));
}

function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
