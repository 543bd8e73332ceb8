import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Fetch } from "../../src/accounts/sso/provider.ts";

export const issuer = "https://id.example.com";
export const secrets = { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43) };

/** A provider whose answers a test can falsify. By default they are right. */
export interface Lies {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with another key than the published one. */
  readonly forged?: boolean;
  readonly userInfo?: Readonly<Record<string, unknown>>;
  /** Replaces the answer of a path; undefined: the usual answer. */
  readonly instead?: (path: string) => Response | Promise<Response> | undefined;
}

export interface LyingProvider {
  readonly fetch: Fetch;
  /** The URLs of all requests so far. */
  readonly asked: { readonly url: string; readonly options: RequestInit }[];
}

const honest = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const foreign = generateKeyPairSync("rsa", { modulusLength: 2_048 });

export function createLyingProvider(lies: Lies = {}): LyingProvider {
  const asked: LyingProvider["asked"] = [];
  const answers: Readonly<Record<string, () => unknown>> = {
    "/.well-known/openid-configuration": () => ({
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/keys`, userinfo_endpoint: `${issuer}/me`, response_types_supported: ["code"] },
      ...{ subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["RS256"] },
      ...lies.metadata,
    }),
    "/keys": () => ({ keys: [{ ...honest.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }] }),
    "/token": () => ({ access_token: "an access token", token_type: "Bearer", id_token: idToken(lies) }),
    "/me": () => ({ sub: "a-1", email: "ada@example.com", email_verified: true, ...lies.userInfo }),
  };
  return {
    asked,
    async fetch(url, options) {
      asked.push({ url, options });
      const { pathname } = new URL(url);
      const instead = await lies.instead?.(pathname);
      if (instead !== undefined) return instead;
      const answer = answers[pathname];
      return answer === undefined ? new Response("", { status: 404 }) : Response.json(answer());
    },
  };
}

function idToken({ claims, header, forged = false }: Lies): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const said = `${part({ alg: "RS256", kid: "1", ...header })}.${part({
    ...{ iss: issuer, sub: "a-1", aud: "sealpush", iat: now, exp: now + 60, nonce: secrets.nonce },
    ...claims,
  })}`;
  if (header?.alg === "none") return `${said}.`;
  return `${said}.${signed(said, forged ? foreign.privateKey : honest.privateKey)}`;
}

function signed(text: string, key: KeyObject): string {
  return sign("sha256", Buffer.from(text), key).toString("base64url");
}
