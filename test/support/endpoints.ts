/** What a client knows about a push after the server has acknowledged its creation. */
export interface KnownPush {
  readonly urlToken: string;
  readonly payload: string;
  readonly views: number;
}

/** The result of a retrieval: the secret, a permanent refusal, or a request to retry later. */
export type RetrievalResult = "payload" | "gone" | "unavailable";

const browser = "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

export function postJson(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** @throws when the answer is not 201. */
export async function createPush(
  baseUrl: string,
  push: Readonly<Record<string, unknown>> & { readonly payload: string; readonly expire_after_views: number },
): Promise<KnownPush> {
  const answer = await postJson(`${baseUrl}/api/v2/pushes`, { push });
  if (answer.status !== 201) throw new Error(`Creating was answered ${answer.status}: ${await answer.text()}`);
  const { url_token: urlToken } = (await answer.json()) as { url_token: string };
  return { urlToken, payload: push.payload, views: push.expire_after_views };
}

/** Every endpoint that reveals the secret to a recipient, as a request. */
export const endpoints = {
  apiV2: (baseUrl: string, urlToken: string) => fetch(`${baseUrl}/api/v2/pushes/${urlToken}`),
  apiV2Json: (baseUrl: string, urlToken: string) => fetch(`${baseUrl}/api/v2/pushes/${urlToken}.json`),
  apiV1: (baseUrl: string, urlToken: string) => fetch(`${baseUrl}/p/${urlToken}.json`),
  step: (baseUrl: string, urlToken: string) => postForm(`${baseUrl}/p/${urlToken}/r`),
  page: (baseUrl: string, urlToken: string) => postForm(`${baseUrl}/p/${urlToken}`),
};

export type Endpoint = (typeof endpoints)[keyof typeof endpoints];

export const allEndpoints: readonly Endpoint[] = Object.values(endpoints);

function postForm(url: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": browser },
  });
}

/** The server is busy or stops, or its process was suspended before it had read the request. */
export function asksToRepeat({ status, headers }: Response): boolean {
  return (status === 503 && headers.has("retry-after")) || status === 408;
}

/** Retrieves a push through one endpoint. @throws when the response is unexpected or the connection breaks. */
export async function retrieve(endpoint: Endpoint, baseUrl: string, push: KnownPush): Promise<RetrievalResult> {
  const answer = await endpoint(baseUrl, push.urlToken);
  const body = await answer.text();
  if (answer.status === 200 && body.includes(push.payload)) return "payload";
  if (answer.status === 404 && !body.includes(push.payload)) return "gone";
  if (answer.status === 200 && body.includes('"payload":null')) return "gone";
  if (asksToRepeat(answer)) return "unavailable";
  throw new Error(`A retrieval was answered ${answer.status}: ${body.slice(0, 500)}`);
}
