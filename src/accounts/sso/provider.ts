import { isIP } from "node:net";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from "openid-client";
import { type Clock, hourMs, secondMs, systemClock } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import { isSameIssuer } from "../../config/issuers.ts";
import { digest } from "../../crypto/digests.ts";
import type { LogoutToken, ProviderSession } from "../store/sessions.ts";
import { createLogoutTokens } from "./logout-token.ts";
import { type ClaimRefusal, needsUserInfo, type ReadClaims, readClaims, usesGroups } from "./provider-claims.ts";
import { ProviderUnavailableError } from "./provider-unavailable.ts";

/** The secrets that one sign-on is bound to. 43 characters of base64url each. */
export interface SignOnSecrets {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636, section 4.1. */
  readonly verifier: string;
}

/** The provider's claims about a user. Only issuer and subject together identify a person permanently. */
export type ProviderClaims = ReadClaims & {
  readonly issuer: string;
  readonly subject: string;
  /** Microsoft's id of the user, which is the same for every application; undefined: the provider sends none. */
  readonly objectId: string | undefined;
  /** How many seconds before the answer the provider asked the user for a proof; undefined: it does not say. */
  readonly authenticatedFor: number | undefined;
  readonly session: ProviderSession;
};

export type ProviderAnswer =
  | { readonly is: "claims"; readonly claims: ProviderClaims }
  /** The operator's rules do not admit this user. */
  | { readonly is: "refused"; readonly subject: string; readonly refusal: ClaimRefusal }
  /** The user or the provider declined. */
  | { readonly is: "denied" }
  /** Why the answer is not valid, for the log. */
  | { readonly is: "invalid"; readonly error: unknown };

export const callbackPath = "/users/auth/oidc/callback";

const timeoutSeconds = 10;
/** Endpoints rarely change. The library refreshes keys by itself. */
const refreshMs = hourMs;
/** The pause between attempts to reach a provider that is down. */
const restMs = 5 * secondMs;
/** OpenID Connect Core, section 2: 255 ASCII characters. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/;
const issuerLengthMax = 2_048;
/** The library's. */
const clockToleranceSeconds = 30;
/** RFC 6749, section 4.1.2.1; OpenID Connect Core, section 3.1.2.6. */
const denials: ReadonlySet<string> = new Set([
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
]);

export type Provider = ReturnType<typeof createProvider>;

/** Okta sends groups only if they are requested. */
function scopeFor(configuration: Configuration, wanted: Parameters<typeof usesGroups>[0]): string {
  const lists = configuration.serverMetadata().scopes_supported?.includes("groups") === true;
  return `openid email profile${lists && usesGroups(wanted) ? " groups" : ""}`;
}

/** The OpenID Connect provider that the operator trusts. */
export function createProvider(settings: SingleSignOnSettings, deps: { readonly clock: Clock; readonly fetch: Fetch }) {
  const issuer = new URL(settings.issuer);
  const configurationOf = createDiscovery(settings, issuer, deps);
  const redirectUri = `${settings.baseUrl}${callbackPath}`;

  async function askable<Answer>(ask: (configuration: Configuration) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(await configurationOf());
    } catch (error) {
      const cause = unavailabilityIn(error) ?? error;
      throw unavailable("The provider of single sign-on does not answer.", restMs / secondMs, cause);
    }
  }

  const readLogoutToken = createLogoutTokens(settings, deps.clock, providerFetch(issuer, deps.fetch));

  return {
    /** @returns undefined: the provider did not sign it, or it is no logout. @throws AppError unavailable: the keys are not available. */
    readLogoutToken: (token: string): Promise<LogoutToken | undefined> =>
      askable(async (configuration) => readLogoutToken(token, configuration.serverMetadata())),

    /** The name under which users know the provider. */
    name: settings.name,
    issuer: settings.issuer,

    /**
     * The URL to send a browser to.
     * @param options `isFresh`: the provider has to ask the user for a proof, even if they are signed in there. `hasClaimedGroups`: as of `readAnswer`.
     * @throws AppError unavailable: the provider does not answer.
     */
    signOnUrl: (
      { state, nonce, verifier }: SignOnSecrets,
      { isFresh = false, hasClaimedGroups = false } = {},
    ): Promise<string> =>
      askable(async (configuration) => {
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: scopeFor(configuration, { ...settings, hasClaimedGroups }),
          state,
          nonce,
          code_challenge: digest(verifier).toString("base64url"),
          code_challenge_method: "S256",
          ...(isFresh && { prompt: "login", max_age: "0" }),
        });
        if (!isProviderTarget(url, issuer)) {
          const text = "The provider refers to a URL that it is not allowed to use.";
          throw new ProviderUnavailableError("PROVIDER_TARGET", text);
        }
        // A fragment of its own: over a redirect, a browser would carry the key of a link along.
        return `${url.href}#`;
      }),

    /**
     * @param query that the provider sent the browser back with, without `?`.
     * @param hasClaimedGroups the rules of a group depend on the user's groups: if they are unknown, the sign-on is refused.
     * @throws AppError unavailable: the provider does not answer.
     */
    readAnswer: (query: string, secrets: SignOnSecrets, hasClaimedGroups = false): Promise<ProviderAnswer> =>
      askable(async (configuration): Promise<ProviderAnswer> => {
        try {
          const wanted = { ...settings, hasClaimedGroups };
          return await answerIn(configuration, new URL(`${redirectUri}?${query}`), secrets, wanted);
        } catch (error) {
          if (unavailabilityIn(error) !== undefined) throw error;
          const denied = error instanceof AuthorizationResponseError && denials.has(error.error);
          return denied ? { is: "denied" } : { is: "invalid", error };
        }
      }),
  };
}

async function answerIn(
  configuration: Configuration,
  answer: URL,
  { state, nonce, verifier }: SignOnSecrets,
  settings: SingleSignOnSettings & { readonly hasClaimedGroups: boolean },
): Promise<ProviderAnswer> {
  const tokens = await authorizationCodeGrant(configuration, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  if (idToken === undefined || !subjectPattern.test(idToken.sub) || idToken.iss.length > issuerLengthMax) {
    return { is: "invalid", error: undefined };
  }
  const { iss: issuer, sub: subject, iat, auth_time: authenticatedAt } = idToken;
  // A logout at the provider ends only sessions that began before it: one that began in the future would outlive it. The library
  // compares the other times, by this clock and with this tolerance.
  if (iat > systemClock.now() / secondMs + clockToleranceSeconds) return { is: "invalid", error: undefined };
  const { sid, oid } = idToken;
  const objectId = typeof oid === "string" ? oid : undefined;
  const session = { issuer, subject, sid: typeof sid === "string" ? sid : undefined, issuedAt: iat };
  // Both are the provider's times.
  const authenticatedFor = typeof authenticatedAt === "number" ? iat - authenticatedAt : undefined;
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  const asks = hasMore && needsUserInfo(idToken, settings);
  const userInfo = asks ? await fetchUserInfo(configuration, tokens.access_token, subject) : undefined;
  const read = readClaims({ idToken, userInfo }, settings);
  return "because" in read
    ? { is: "refused", subject, refusal: read }
    : { is: "claims", claims: { issuer, subject, objectId, authenticatedFor, session, ...read } };
}

/** The library wraps errors of our fetch function. */
function unavailabilityIn(error: unknown): ProviderUnavailableError | undefined {
  const causesMax = 5;
  let cause = error;
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth += 1) {
    if (cause instanceof ProviderUnavailableError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

/** @returns a function for the provider's endpoints: cached for an hour, longer while it is down, and requested only once at a time. */
function createDiscovery(
  settings: SingleSignOnSettings,
  issuer: URL,
  { clock, fetch }: { readonly clock: Clock; readonly fetch: Fetch },
): () => Promise<Configuration> {
  let known: { readonly configuration: Configuration; readonly at: number } | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  let asking: Promise<Configuration> | undefined;
  const isWithin = (at: number, ms: number) => Math.abs(clock.now() - at) < ms;

  async function ask(): Promise<Configuration> {
    const secret = settings.clientSecret;
    const client = secret === undefined ? None() : eitherSecret(secret);
    // The complete address: with the issuer alone, the library refuses one that only differs by a slash at the end.
    const document = new URL(`${issuer.href.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const configuration = await discovery(document, settings.clientId, undefined, client, {
      [customFetch]: providerFetch(issuer, fetch),
      timeout: timeoutSeconds,
      // Signatures are verified in addition to TLS: a TLS-inspecting proxy must not be able to change the answer.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [allowInsecureRequests] : [])],
    });
    if (!isSameIssuer(configuration.serverMetadata().issuer, settings.issuer)) {
      throw new ProviderUnavailableError("PROVIDER_ISSUER", "The provider claims to be another issuer.");
    }
    return configuration;
  }

  return async () => {
    if (known !== undefined && isWithin(known.at, refreshMs)) return known.configuration;
    if (failed === undefined || !isWithin(failed.at, restMs)) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      try {
        const configuration = await asking;
        known = { configuration, at: clock.now() };
        failed = undefined;
        return configuration;
      } catch (error) {
        failed = { error, at: clock.now() };
      }
    }
    if (known !== undefined) return known.configuration;
    throw failed.error;
  };
}

/** Core, section 9: Basic authentication unless the provider says otherwise. */
function eitherSecret(secret: string): ClientAuth {
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? basic : post;
    return authenticate(server, client, body, headers);
  };
}

export type Fetch = (url: string, options: RequestInit) => Promise<Response>;

/** Far larger than any list of keys or endpoints. */
const bytesMax = 256 * 1024;

/**
 * The only way to contact a provider: only at its own URLs (`isProviderTarget`), without redirects, in bounded time (the
 * library's signal covers the body as well) and with a bounded answer.
 */
export function providerFetch(issuer: URL, fetch: Fetch): CustomFetch {
  return async (address, { method, headers, body, signal }) => {
    const url = URL.parse(address);
    if (url === null || !isProviderTarget(url, issuer)) {
      throw new ProviderUnavailableError(
        "PROVIDER_TARGET",
        "The provider refers to a URL that it is not allowed to use.",
      );
    }
    try {
      const response = await fetch(url.href, {
        method,
        headers,
        redirect: "manual",
        ...(body == null ? {} : { body: asBody(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      if (isStandIn(response))
        throw new ProviderUnavailableError(
          "PROVIDER_STATUS",
          `Something else answered for the provider: ${response.status}.`,
        );
      return await readBounded(response);
    } catch (error) {
      if (error instanceof ProviderUnavailableError) throw error;
      throw new ProviderUnavailableError("PROVIDER_ANSWER", "The provider did not answer.", error);
    }
  };
}

/** A limit, a redirect or a page, such as that of a maintenance: it says nothing about the user who signs in. */
function isStandIn({ status, headers }: Response): boolean {
  const isRedirect = status >= 300 && status < 400;
  const isPage = /^text\/html\b/i.test(headers.get("content-type") ?? "");
  return status >= 500 || status === 429 || isRedirect || isPage;
}

function asBody(body: unknown): string | URLSearchParams {
  if (typeof body === "string" || body instanceof URLSearchParams) return body;
  throw new Error("A request to the provider has an unexpected kind of body.");
}

async function readBounded(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new ProviderUnavailableError("PROVIDER_LENGTH", "The provider's answer is too long.");
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** A name that can have a public certificate: neither an IP address nor a name of this machine. */
function isName(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 && hostname !== "localhost" && !hostname.endsWith(".localhost");
}

/**
 * Whether this server may request a URL that a provider's answer contains, or send a browser there. Threat: answers that
 * turn the server against its own network (SSRF). The issuer's own origin was configured by the operator. Any other host
 * must be a name with https: the machine behind it, also one of the inner network, needs a certificate for the name. Only
 * a provider on this machine, which is for testing, may use plain http and several ports.
 */
export function isProviderTarget(target: URL, issuer: URL): boolean {
  if (target.username !== "" || target.password !== "") return false;
  if (target.origin === issuer.origin) return true;
  if (isThisMachine(issuer.hostname) && isThisMachine(target.hostname)) {
    return target.protocol === "https:" || target.protocol === "http:";
  }
  return target.protocol === "https:" && (target.hostname === issuer.hostname || isName(target.hostname));
}
