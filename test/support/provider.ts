import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, SignJWT } from "jose";
import Provider, {
  type AccountClaims,
  type Adapter,
  type AdapterPayload,
  type InteractionResults,
} from "oidc-provider";

export const clientId = "sealpush";
export const clientSecret = "a secret between provider and server";

/** A user of the provider. */
export type Person = Omit<AccountClaims, "sub">;

/** A real OpenID Connect provider on 127.0.0.1 that signs its users in without a dialog. */
export interface TestProvider {
  readonly issuer: string;
  /** By subject. A test may change them at any time. */
  readonly people: Map<string, Person>;
  /** How the provider answers the next sign-in. */
  answer: InteractionResults;
  /** The settings of a server that trusts it. */
  readonly environment: Readonly<Record<string, string>>;
  /** @returns a logout token, valid unless something of it is replaced. */
  logoutToken(claims: Readonly<Record<string, unknown>>, signing?: LogoutSigning): Promise<string>;
  /** Follows the redirects from the server's authorization URL. @returns the path and query of the callback. */
  followRedirects(url: string): Promise<string>;
  close(): Promise<void>;
}

export const providerName = "Example ID";

interface LogoutSigning {
  readonly header?: Readonly<Record<string, unknown>>;
  /** Default: the provider's. */
  readonly key?: CryptoKey | KeyObject | Uint8Array;
}

/** Which claims a provider sends, and where: scope -> claims. Those of `openid` are in the ID token too. */
export type ProviderShape = Readonly<Record<string, readonly string[]>>;

const defaultShape: ProviderShape = { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] };

/** How the providers that companies use send their claims, with their defaults. */
export const shapes = {
  /** No `email_verified`; `email`, `xms_edov` and `acct` were added as optional claims. */
  microsoft: {
    openid: ["sub", "oid", "tid", "email", "xms_edov", "acct", "groups", "hasgroups", "roles"],
    profile: ["name"],
    email: [],
  },
  google: { openid: ["sub", "hd", "email", "email_verified"], profile: ["name"], email: [] },
  /** Groups only with a scope of their own. */
  okta: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  keycloak: { openid: ["sub", "email", "email_verified", "groups"], profile: ["name"], email: [] },
  authentik: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
} satisfies Readonly<Record<string, ProviderShape>>;

/** @param baseUrl of the server that users are redirected back to. */
export async function startProvider(baseUrl: string, shape: ProviderShape = defaultShape): Promise<TestProvider> {
  const callback = `${baseUrl}/users/auth/oidc/callback`;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const people = new Map<string, Person>();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = makeProvider({ issuer, callback, people, shape, privateKey });
  const test: TestProvider = {
    issuer,
    people,
    answer: {},
    environment: {
      PWP__OVERRIDE_BASE_URL: baseUrl,
      PWP__OIDC__ISSUER: issuer,
      PWP__OIDC__CLIENT_ID: clientId,
      PWP__OIDC__CLIENT_SECRET: clientSecret,
      PWP__OIDC__NAME: providerName,
    },
    logoutToken(claims, { header = {}, key = privateKey } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
      const payload = { iss: issuer, aud: clientId, iat: now, exp: now + 120, jti: randomUUID(), events, ...claims };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: "RS256", kid: keyId, typ: "logout+jwt", ...header })
        .sign(key);
    },
    followRedirects: (url) => followRedirects(url, callback),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const handle = provider.callback();
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    await provider.interactionDetails(request, response);
    await provider.interactionFinished(request, response, test.answer);
  };
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/interaction/") !== true) void handle(request, response);
    else interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return test;
}

interface ProviderParts {
  readonly issuer: string;
  readonly callback: string;
  readonly people: ReadonlyMap<string, Person>;
  readonly shape: ProviderShape;
  readonly privateKey: KeyObject;
}

export const keyId = "the key of the test";

function makeProvider({ issuer, callback, people, shape, privateKey }: ProviderParts): Provider {
  const kept = new Map<string, AdapterPayload>();
  return new Provider(issuer, {
    adapter: () => keepInMemory(kept),
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: keyId, alg: "RS256", use: "sig" }] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        backchannel_logout_uri: callback.replace(/callback$/, "backchannel-logout"),
        backchannel_logout_session_required: true,
      },
    ],
    claims: Object.fromEntries(Object.entries(shape).map(([scope, claims]) => [scope, [...claims]])),
    cookies: { keys: ["a key of the test"] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...people.get(subject) }),
    }),
    // No page asks for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      });
      grant.addOIDCScope(["openid", ...Object.keys(shape)].join(" "));
      await grant.save();
      return grant;
    },
  });
}

/** The provider's storage. Its ids are random, so one map is enough for all kinds. */
function keepInMemory(kept: Map<string, AdapterPayload>): Adapter {
  return {
    upsert: async (id, payload) => void kept.set(id, payload),
    find: async (id) => kept.get(id),
    findByUid: async (uid) => [...kept.values()].find((payload) => payload.uid === uid),
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = kept.get(id);
      if (payload !== undefined) kept.set(id, { ...payload, consumed: Math.floor(Date.now() / 1_000) });
    },
    destroy: async (id) => void kept.delete(id),
    async revokeByGrantId(grantId) {
      for (const [id, payload] of kept) if (payload.grantId === grantId) kept.delete(id);
    },
  };
}

async function followRedirects(url: string, callback: string): Promise<string> {
  const cookies = new Map<string, string>();
  const stepsMax = 10;
  let next = url;
  for (let step = 0; step < stepsMax; step += 1) {
    if (next.startsWith(callback)) return next.slice(new URL(callback).origin.length);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = line.slice(0, line.indexOf(";")).split("=");
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next).href;
  }
  throw new Error("The provider redirects in a loop.");
}
