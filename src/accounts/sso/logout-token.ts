import { createLocalJWKSet, errors, type JWK, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { CustomFetch, ServerMetadata } from "openid-client";
import { type Clock, minuteMs, secondMs } from "../../base/clock.ts";
import { isFields } from "../../base/json.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import type { LogoutToken } from "../store/sessions.ts";
import { ProviderUnavailableError } from "./provider-unavailable.ts";

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
/** Neither `none` nor HMAC: the client secret must not be enough to sign. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const types: readonly unknown[] = [undefined, "jwt", "logout+jwt"];
/** Signatures with an unknown key cost the provider a request no more often. */
const keysRestMs = minuteMs;
const answerMsMax = 10 * secondMs;
const clockToleranceSeconds = 30;
/** The age of a token without `exp`. */
const ageSecondsMax = 120;
const textLengthMax = 1_024;

type Keys = Parameters<typeof createLocalJWKSet>[0];

/** Verifies logout tokens of OpenID Connect Back-Channel Logout 1.0. */
export function createLogoutTokens(
  { clientId }: Pick<SingleSignOnSettings, "clientId">,
  clock: Clock,
  fetch: CustomFetch,
) {
  let known: { readonly keys: Keys; readonly at: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<Keys> | undefined;

  async function ask(uri: string): Promise<Keys> {
    const signal = AbortSignal.timeout(answerMsMax);
    const answer = await fetch(uri, {
      method: "GET",
      headers: { accept: "application/json" },
      body: undefined,
      redirect: "manual",
      signal,
    });
    const keys: unknown = answer.status === 200 ? await answer.json().catch(() => undefined) : undefined;
    if (!isKeys(keys)) throw new ProviderUnavailableError("PROVIDER_KEYS", "The provider sent no keys.");
    known = { keys, at: clock.now() };
    return keys;
  }

  /** @throws ProviderUnavailableError: they were requested less than a minute ago, or are not available. */
  async function freshKeys({ jwks_uri: uri }: ServerMetadata): Promise<Keys> {
    if (asking !== undefined) return asking;
    if (uri === undefined || Math.abs(clock.now() - askedAt) < keysRestMs) {
      throw new ProviderUnavailableError("PROVIDER_KEYS", "The keys of the provider cannot be requested now.");
    }
    askedAt = clock.now();
    asking = ask(uri).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return async (token: string, metadata: ServerMetadata): Promise<LogoutToken | undefined> => {
    const options = {
      algorithms,
      issuer: metadata.issuer,
      audience: clientId,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(clock.now()),
    };
    let payload = known === undefined ? "unknown_key" : await payloadOf(token, known.keys, options);
    if (payload === "unknown_key") payload = await payloadOf(token, await freshKeys(metadata), options);
    return typeof payload === "object" ? logoutIn(payload, clock.now()) : undefined;
  };
}

/** @returns "unknown_key": none of the keys is named by the token. */
async function payloadOf(
  token: string,
  keys: Keys,
  options: JWTVerifyOptions,
): Promise<JWTPayload | "unknown_key" | "invalid"> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), options);
    return types.includes(protectedHeader.typ?.toLowerCase()) ? payload : "invalid";
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
    if (error instanceof errors.JOSEError) return "invalid";
    throw error;
  }
}

function logoutIn({ iss, iat, exp, jti, events, sub, sid, nonce }: JWTPayload, now: number): LogoutToken | undefined {
  const isYoung = exp !== undefined || (iat !== undefined && Math.abs(now / secondMs - iat) <= ageSecondsMax);
  if (iat === undefined || !Number.isFinite(iat) || !isYoung || !isId(jti) || nonce !== undefined) return undefined;
  const event = isFields(events) && Object.hasOwn(events, logoutEvent) ? events[logoutEvent] : undefined;
  const areIds = (sub === undefined || isId(sub)) && (sid === undefined || isId(sid));
  if (iss === undefined || !isFields(event) || !areIds || (sub === undefined && sid === undefined)) return undefined;
  return { issuer: iss, sid: isId(sid) ? sid : undefined, subject: sub, issuedAt: Math.floor(iat) };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= textLengthMax && !value.includes("\0");
}

function isKeys(value: unknown): value is Keys & { readonly keys: JWK[] } {
  return isFields(value) && Array.isArray(value.keys) && value.keys.every(isFields);
}
