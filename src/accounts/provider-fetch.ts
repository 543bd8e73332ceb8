import type { CustomFetch } from "openid-client";
import { isProviderTarget } from "./provider-targets.ts";

export type Fetch = (url: string, options: RequestInit) => Promise<Response>;

/** Far beyond any list of keys or endpoints. */
const bytesMax = 256 * 1024;

/** Nobody answered, not in time, or not as a provider: not a word about the person who signs in. */
export class ProviderSilentError extends Error {
  /** For the log, which holds no messages. */
  readonly code: "PROVIDER_TARGET" | "PROVIDER_STATUS" | "PROVIDER_ANSWER" | "PROVIDER_LENGTH" | "PROVIDER_ISSUER";

  constructor(code: ProviderSilentError["code"], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "ProviderSilentError";
    this.code = code;
  }
}

/**
 * The only way this server talks to a provider: to its own addresses (provider-targets.ts), without following redirects,
 * in bounded time (the library's signal holds for the body too), reading a bounded answer.
 */
export function providerFetch(issuer: URL, fetch: Fetch): CustomFetch {
  return async (address, { method, headers, body, signal }) => {
    const url = URL.parse(address);
    if (url === null || !isProviderTarget(url, issuer)) {
      throw new ProviderSilentError("PROVIDER_TARGET", "The provider names an address that is not one of a provider.");
    }
    try {
      const response = await fetch(url.href, {
        ...{ method, headers, redirect: "manual" },
        ...(body == null ? {} : { body: asBody(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      if (response.status >= 500)
        throw new ProviderSilentError("PROVIDER_STATUS", `The provider answered ${response.status}.`);
      return await readBounded(response);
    } catch (error) {
      if (error instanceof ProviderSilentError) throw error;
      throw new ProviderSilentError("PROVIDER_ANSWER", "The provider did not answer.", error);
    }
  };
}

function asBody(body: unknown): string | URLSearchParams {
  if (typeof body === "string" || body instanceof URLSearchParams) return body;
  throw new Error("A request to the provider has a body of another kind.");
}

async function readBounded(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new ProviderSilentError("PROVIDER_LENGTH", "The provider's answer is too long.");
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}
