import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Fetch } from "../../src/accounts/sso/provider.ts";

export const issuer = "https://id.example.com";
export const secrets = { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43) };

/** Overrides of a provider's answers. Without an override the answer is valid. */
export interface FakeAnswers {
  /** Default: `issuer`. */
  readonly issuer?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  readonly forged?: boolean;
  readonly userInfo?: Readonly<Record<string, unknown>>;
  /** Replaces the response for a path; undefined keeps the default. */
  readonly instead?: (path: string) => Response | Promise<Response> | undefined;
}

export interface FakeProvider {
  readonly fetch: Fetch;
  /** Every request so far, in order. */
  readonly asked: { readonly url: string; readonly options: RequestInit }[];
}

const published = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const unpublished = generateKeyPairSync("rsa", { modulusLength: 2_048 });

export function createFakeProvider(answers: FakeAnswers = {}): FakeProvider {
  const asked: FakeProvider["asked"] = [];
  const own = answers.issuer ?? issuer;
  const { origin, pathname: root } = new URL(own);
  const byPath: Readonly<Record<string, () => unknown>> = {
    "/.well-known/openid-configuration": () => ({
      issuer: own,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/keys`,
      userinfo_endpoint: `${origin}/me`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      ...answers.metadata,
    }),
    "/keys": () => ({
      keys: [{ ...published.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }],
    }),
    "/token": () => ({ access_token: "an access token", token_type: "Bearer", id_token: idToken(answers) }),
    "/me": () => ({ sub: "a-1", email: "ada@example.com", email_verified: true, ...answers.userInfo }),
  };
  return {
    asked,
    async fetch(url, options) {
      asked.push({ url, options });
      const { pathname } = new URL(url);
      const instead = await answers.instead?.(pathname);
      if (instead !== undefined) return instead;
      const answer = byPath[pathname.replace(root.replace(/\/$/, ""), "")];
      return answer === undefined ? new Response("", { status: 404 }) : Response.json(answer());
    },
  };
}

function idToken({ claims, header, forged = false, issuer: iss = issuer }: FakeAnswers): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const said = `${part({ alg: "RS256", kid: "1", ...header })}.${part({
    iss,
    sub: "a-1",
    aud: "sealpush",
    iat: now,
    exp: now + 60,
    nonce: secrets.nonce,
    ...claims,
  })}`;
  if (header?.alg === "none") return `${said}.`;
  return `${said}.${signed(said, forged ? unpublished.privateKey : published.privateKey)}`;
}

function signed(text: string, key: KeyObject): string {
  return sign("sha256", Buffer.from(text), key).toString("base64url");
}
