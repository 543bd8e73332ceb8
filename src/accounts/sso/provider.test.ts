import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createFakeProvider, type FakeAnswers, issuer, secrets } from "../../../test/support/fake-provider.ts";
import { hourMs, secondMs } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import { createProvider } from "./provider.ts";

const settings = {
  issuer,
  clientId: "sealpush",
  clientSecret: "lantern: & quartz",
  name: "Example ID",
  baseUrl: "https://push.example.com",
  only: false,
  trustEmail: "claim",
  allowedDomains: [],
  groupsClaim: "groups",
  userGroup: undefined,
  adminGroup: undefined,
  tokensRestAfterMs: null,
} satisfies SingleSignOnSettings;
const query = `code=abc&state=${secrets.state}`;

function open(answers: FakeAnswers = {}, more: Partial<SingleSignOnSettings> = {}) {
  let now = 0;
  const fake = createFakeProvider(answers);
  const provider = createProvider({ ...settings, ...more }, { clock: { now: () => now }, fetch: fake.fetch });
  return { provider, asked: fake.asked, advance: (ms: number) => (now += ms) };
}

const ownKey = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({ format: "jwk" });
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "nothing",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

describe("a provider's answer", () => {
  it("identifies a user, with the verified email address", async () => {
    const { provider, asked } = open();
    const claims = { issuer, subject: "a-1", verifiedEmail: "ada@example.com", isAdministrator: false };
    expect(await provider.readAnswer(query, secrets)).toMatchObject({ is: "claims", claims });
    const sent = new URLSearchParams(String(asked.find(({ url }) => url.endsWith("/token"))?.options.body));
    expect(sent.get("code_verifier")).toBe(secrets.verifier);
    expect(sent.get("redirect_uri")).toBe("https://push.example.com/users/auth/oidc/callback");
    for (const { options } of asked) expect(options).toMatchObject({ redirect: "manual", signal: expect.anything() });
  });

  it.each<[string, FakeAnswers]>([
    ["another nonce", { claims: { nonce: "x".repeat(43) } }],
    ["no nonce", { claims: { nonce: undefined } }],
    ["another audience", { claims: { aud: "another client" } }],
    ["two audiences and another authorised party", { claims: { aud: ["sealpush", "x"], azp: "x" } }],
    ["another issuer", { claims: { iss: "https://evil.example" } }],
    ["an expired token", { claims: { iat: 1, exp: 2 } }],
    ["a token that never expires", { claims: { exp: undefined } }],
    ["a token that is not valid yet", { claims: { nbf: 4_102_444_800 } }],
    ["a token of the future", { claims: { iat: 4_102_444_800, exp: 4_102_444_860 } }],
    ["no subject", { claims: { sub: undefined } }],
    ["a subject that is too long", { claims: { sub: "x".repeat(256) } }],
    ["a subject with control characters", { claims: { sub: "a\u0000b" }, userInfo: { sub: "a\u0000b" } }],
    ["somebody else's signature", { forged: true }],
    ["a key of its own beside the signature", { forged: true, header: { kid: undefined, jwk: ownKey } }],
    ["a header that must be understood", { header: { crit: ["x"], x: 1 } }],
    ["no signature", { header: { alg: "none" } }],
    ["a signature by the client's secret", { header: { alg: "HS256" } }],
    ["details of another user", { userInfo: { sub: "b-1" } }],
  ])("with %s identifies no user", async (_fault, answers) => {
    expect(await open(answers).provider.readAnswer(query, secrets)).toMatchObject({ is: "invalid" });
  });

  it.each([
    ["another state", `code=abc&state=${"x".repeat(43)}`],
    ["no state", "code=abc"],
    ["two states", `${query}&state=x`],
    ["no code", `state=${secrets.state}`],
    ["another issuer beside the code", `${query}&iss=https%3A%2F%2Fevil.example`],
    ["an error of its own", `error=server_error&state=${secrets.state}`],
  ])("with %s is invalid, and the code is not sent", async (_what, broken) => {
    const { provider, asked } = open();
    expect(await provider.readAnswer(broken, secrets)).toMatchObject({ is: "invalid" });
    expect(asked.filter(({ url }) => url.endsWith("/token"))).toEqual([]);
  });

  it("is a refusal when the user declined", async () => {
    const answer = await open().provider.readAnswer(`error=access_denied&state=${secrets.state}`, secrets);
    expect(answer).toEqual({ is: "denied" });
  });

  it.each([{ email_verified: false }, { email_verified: "true" }, { email_verified: undefined }, { email: 7 }])(
    "has no verified email with %j",
    async (details) => {
      for (const answers of [
        { userInfo: details },
        { claims: { email: "ada@example.com", ...details }, userInfo: details },
      ]) {
        const answer = await open(answers).provider.readAnswer(query, secrets);
        expect(answer).toMatchObject({ is: "claims", claims: { verifiedEmail: undefined } });
      }
    },
  );
});

describe("a provider that does not answer", () => {
  it.each<[string, FakeAnswers]>([
    ["is down", { instead: () => Promise.reject(new TypeError("fetch failed")) }],
    ["fails", { instead: () => new Response("", { status: 500 }) }],
    ["redirects", { instead: () => new Response("", { status: 302, headers: { location: "https://10.0.0.1/" } }) }],
    ["sends no JSON", { instead: () => new Response("<html>") }],
    ["sends a response that is too large", { instead: () => Response.json({ issuer, filler: "x".repeat(300_000) }) }],
    ["is another issuer", { metadata: { issuer: "https://evil.example" } }],
    ["names an endpoint in another network", { metadata: { authorization_endpoint: "http://10.0.0.1/auth" } }],
    ["names a script as endpoint", { metadata: { authorization_endpoint: "javascript:alert(1)" } }],
  ])("because it %s causes no redirect", async (_why, answers) => {
    expect(await refusalOf(open(answers).provider.signOnUrl(secrets))).toBe("unavailable");
  });

  it.each([
    { token_endpoint: "https://169.254.169.254/latest/meta-data" },
    { token_endpoint: "http://id.example.com/token" },
    { jwks_uri: "https://127.0.0.1/keys" },
    { userinfo_endpoint: "file:///etc/passwd" },
  ])("with the endpoint %j is not contacted there", async (metadata) => {
    const { provider, asked } = open({ metadata });
    const [named] = Object.values(metadata);
    const outcome = await provider.readAnswer(query, secrets).then(
      (answer) => answer.is,
      (error: unknown) => (error instanceof AppError ? error.code : "a bug"),
    );
    expect(["invalid", "unavailable"]).toContain(outcome);
    expect(asked.map(({ url }) => url)).not.toContain(named);
  });

  it("is contacted once for all waiting requests, not right after a failure, and is cached while it is down", async () => {
    let isDown = true;
    const { provider, asked, advance } = open({
      instead: () => (isDown ? new Response("", { status: 503 }) : undefined),
    });
    const tries = await Promise.all(Array.from({ length: 5 }, () => refusalOf(provider.signOnUrl(secrets))));
    expect([new Set(tries), asked.length]).toEqual([new Set(["unavailable"]), 1]);
    await refusalOf(provider.signOnUrl(secrets));
    expect(asked).toHaveLength(1);

    isDown = false;
    advance(5 * secondMs);
    expect(await provider.signOnUrl(secrets)).toMatch(/^https:\/\/id\.example\.com\/auth\?/);
    await provider.signOnUrl(secrets);
    expect(asked).toHaveLength(2);

    isDown = true;
    advance(hourMs);
    expect(await provider.signOnUrl(secrets)).toMatch(/^https:\/\/id\.example\.com\/auth\?/);
    expect(asked).toHaveLength(3);
  });
});

it("is asked for its keys once, however many answers are signed with an unknown one", async () => {
  const { provider, asked } = open({ header: { kid: "unknown" } });
  const keysAsked = () => asked.filter(({ url }) => url.endsWith("/keys")).length;
  for (const _ of [1, 2, 3, 4]) expect(await provider.readAnswer(query, secrets)).toMatchObject({ is: "invalid" });
  expect(keysAsked()).toBe(1);
});

describe("the client", () => {
  const tokenRequest = async (answers: FakeAnswers, more: object = {}) => {
    const { provider, asked } = open(answers, more);
    await provider.readAnswer(query, secrets);
    const { options } = asked.find(({ url }) => url.endsWith("/token")) ?? {};
    return { authorization: new Headers(options?.headers).get("authorization"), body: String(options?.body) };
  };

  it("sends its secret in the way that the provider accepts, and never in a URL", async () => {
    const basic = await tokenRequest({});
    expect(basic.authorization).toMatch(/^Basic /);
    expect(basic.body).not.toContain("client_secret");
    const post = await tokenRequest({ metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] } });
    expect(post.authorization).toBeNull();
    expect(new URLSearchParams(post.body).get("client_secret")).toBe(settings.clientSecret);
  });

  it("may have no secret: then only PKCE protects the code", async () => {
    const open = await tokenRequest({}, { clientSecret: undefined });
    expect(open.authorization).toBeNull();
    expect(new URLSearchParams(open.body).has("client_secret")).toBe(false);
    expect(new URLSearchParams(open.body).get("code_verifier")).toBe(secrets.verifier);
  });
});
