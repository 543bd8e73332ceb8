import type { OwnedRequest, RequestAnswers, Request as SecretRequest } from "./api-types.ts";
import { ClientError } from "./errors.ts";
import { readRequestLink, requestTokenIn } from "./link.ts";
import { formBody, type Progress } from "./multipart.ts";
import type { AnswersOptions, CreatedRequest, FoundRequest, NewAnswer, NewRequest } from "./request-types.ts";
import {
  type ApiRequest,
  type CallOptions,
  errorOf,
  otherProgram,
  type RequestBody,
  type Transport,
} from "./transport.ts";

const path = "/api/sealpush/requests";

/** Requests for secrets. Each is named by a link or its url_token. All methods throw a ClientError. */
export class Requests {
  readonly #transport: Transport;
  readonly #server: string;

  constructor(transport: Transport, server: string) {
    this.#transport = transport;
    this.#server = server;
  }

  /**
   * Makes the key here. The server gets the public part, and the other only if it is sealed under the passphrase. Without a token, where the
   * server allows it, only the private link leads to the answers, and there is no passphrase.
   */
  async create({ passphrase = "", ...wanted }: NewRequest, options: CallOptions = {}): Promise<CreatedRequest> {
    const { makeRequestKey } = await import("./end-to-end.ts");
    const { fields, complete } = await makeRequestKey(passphrase);
    const content = JSON.stringify({ request: { ...wanted, ...fields } });
    const body = () => ({ content, type: "application/json" });
    return await complete(await this.#call<OwnedRequest>("POST", path, { options, body }).catch(explainUnknownPath));
  }

  /** The own requests, newest first, 50 a page. */
  async list({
    page = 1,
    ...options
  }: CallOptions & { readonly page?: number } = {}): Promise<readonly OwnedRequest[]> {
    const found = await this.#call<unknown>("GET", `${path}?page=${page}`, { options }).catch(explainUnknownPath);
    if (!Array.isArray(found)) throw otherProgram({ status: 200, value: found });
    return found;
  }

  /**
   * What is asked for, and the recipient to seal the answer for. Needs no token.
   * @throws ClientError invalid if the link names another recipient than the server has sent.
   */
  async find(request: string, options: CallOptions = {}): Promise<FoundRequest> {
    const found = await this.#call<SecretRequest>("GET", this.#pathOf(request), { options });
    const { checkRequest } = await import("./end-to-end.ts");
    return await checkRequest(
      found,
      requestTokenIn(request, this.#server),
      readRequestLink(request)?.fingerprint ?? "",
    );
  }

  /** Seals the answer before it is sent. Needs no token. @param request what `find` has returned. */
  async answer(
    request: Pick<SecretRequest, "url_token" | "recipient">,
    answer: NewAnswer,
    { onProgress, ...options }: CallOptions & { readonly onProgress?: Progress } = {},
  ): Promise<void> {
    const { sealAnswer } = await import("./end-to-end.ts");
    const { payload, files = [] } = await sealAnswer(answer, request);
    const fields = { encryption: "age", payload };
    const body = (): RequestBody | Promise<RequestBody> =>
      files.length === 0
        ? { content: JSON.stringify(fields), type: "application/json" }
        : formBody(Object.entries(fields), "files[]", files, onProgress);
    await this.#call("POST", this.#pathOf(request.url_token), { options, body });
  }

  /**
   * An own request and its answers, oldest first. Counts no view. With the private link or the passphrase, the `html_url` of each answer contains
   * the key, so that `retrieve` opens it.
   * @throws ClientError wrong_passphrase; invalid if the key in the link is not the one of this request.
   */
  async answers(request: string, options: AnswersOptions = {}): Promise<RequestAnswers> {
    const found = await this.#callAsOwner<RequestAnswers>("GET", request, "/answers", options);
    const { fragment = "" } = readRequestLink(request) ?? {};
    if (fragment === "" && found.identity_sealed === "") return found;
    const { addKey, findKey } = await import("./end-to-end.ts");
    const key = await findKey(found, fragment, options);
    return key === undefined ? found : await addKey(found, key, requestTokenIn(request, this.#server));
  }

  /** Ends an own request: it takes no more answers. Those that have come stay. Without a token, name the private link. */
  async close(request: string, options: CallOptions = {}): Promise<OwnedRequest> {
    return await this.#callAsOwner("POST", request, "/close", options);
  }

  /** Deletes an own request with its answers, also those that nobody has opened. Without a token, name the private link. */
  async delete(request: string, options: CallOptions = {}): Promise<void> {
    await this.#callAsOwner("DELETE", request, "", options);
  }

  #pathOf(request: string): string {
    return `${path}/${requestTokenIn(request, this.#server)}`;
  }

  /** The private link of a request without an account proves whose it is. */
  async #callAsOwner<Answer>(
    method: ApiRequest["method"],
    request: string,
    end: string,
    options: CallOptions,
  ): Promise<Answer> {
    const { fragment = "" } = readRequestLink(request) ?? {};
    const headers = fragment === "" ? {} : await (await import("./end-to-end.ts")).proofHeader(fragment);
    const repetition = method === "DELETE" ? "never" : "always";
    return await this.#call(method, `${this.#pathOf(request)}${end}`, { options, repetition, headers });
  }

  async #call<Answer>(
    method: ApiRequest["method"],
    callPath: string,
    {
      options: { signal },
      body,
      repetition = method === "GET" ? "always" : "never",
      headers = {},
    }: {
      readonly options: CallOptions;
      readonly body?: ApiRequest["body"];
      readonly repetition?: ApiRequest["repetition"];
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): Promise<Answer> {
    const sent = body === undefined ? {} : { body };
    const answer = await this.#transport.send({ method, path: callPath, headers, ...sent, repetition, signal });
    if (answer.status !== 200 && answer.status !== 201) throw errorOf(answer);
    if (typeof answer.value !== "object" || answer.value === null) throw otherProgram(answer);
    return answer.value as Answer;
  }
}

/** These addresses exist on each server that has requests. */
function explainUnknownPath(error: unknown): never {
  if (!(error instanceof ClientError && error.code === "not_found")) throw error;
  throw new ClientError("invalid", "This server does not know requests, or they are switched off there.", {
    status: 404,
  });
}
