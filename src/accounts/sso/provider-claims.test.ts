import { describe, expect, it } from "vitest";
import { issuer as anyIssuer, createFakeProvider, secrets } from "../../../test/support/fake-provider.ts";
import type { SingleSignOnSettings } from "../../config/config.ts";
import { createProvider } from "./provider.ts";

const microsoft = "https://login.microsoftonline.com/7a5e1c1e-3c55-4d0e-8a55-2a3a6f9f7a11/v2.0";
const google = "https://accounts.google.com";
const email = "ada@example.com";
const domains = { allowedDomains: ["example.com"] };
const byIssuer = { trustEmail: "issuer", ...domains } as const;

type Settings = Partial<SingleSignOnSettings>;
type Claims = Readonly<Record<string, unknown>>;

/** @returns the answer of a real exchange with a provider that sends these claims in its ID token. */
async function answerTo(claims: Claims, more: Settings = {}, userInfo: Claims = {}) {
  const settings: SingleSignOnSettings = {
    issuer: anyIssuer,
    clientId: "sealpush",
    clientSecret: "lantern",
    name: "Example ID",
    baseUrl: "https://push.example.com",
    only: false,
    trustEmail: "claim",
    allowedDomains: [],
    groupsClaim: "groups",
    userGroup: undefined,
    adminGroup: undefined,
    tokensRestAfterMs: null,
    ...more,
  };
  // The fake's own address must not prove anything.
  const nothing = { email: undefined, email_verified: undefined };
  const { fetch } = createFakeProvider({ issuer: settings.issuer, claims, userInfo: { ...nothing, ...userInfo } });
  const provider = createProvider(settings, { clock: { now: () => 0 }, fetch });
  const answer = await provider.readAnswer(`code=abc&state=${secrets.state}`, secrets);
  if (answer.is === "refused") return answer.refusal;
  return answer.is === "claims" ? answer.claims : answer;
}

describe("the proof of an address", () => {
  it.each<[string, Claims, Settings]>([
    ["email_verified", { email, email_verified: true }, {}],
    ["xms_edov as a boolean", { email, xms_edov: true }, { issuer: microsoft }],
    ["xms_edov as a number", { email, xms_edov: 1 }, { issuer: microsoft }],
    ["xms_edov as a digit", { email, xms_edov: "1" }, { issuer: microsoft }],
    ["xms_edov as a word", { email, xms_edov: "true" }, { issuer: microsoft }],
    ["the operator's trust", { email }, byIssuer],
    ["the operator's trust in a Microsoft tenant", { email, acct: 0 }, { issuer: microsoft, ...byIssuer }],
  ])("is %s", async (_what, claims, settings) => {
    expect(await answerTo(claims, settings)).toMatchObject({ verifiedEmail: email });
  });

  it.each<[string, Claims, Settings, string, string | null]>([
    ["nothing", { email }, {}, "email_verified", null],
    ["false", { email, email_verified: false }, byIssuer, "email_verified", "false"],
    ["a word", { email, email_verified: "true" }, byIssuer, "email_verified", '"true"'],
    ["null", { email, email_verified: null }, byIssuer, "email_verified", "null"],
    [
      "false beside xms_edov",
      { email, email_verified: false, xms_edov: true },
      { issuer: microsoft },
      "email_verified",
      "false",
    ],
    ["xms_edov of another issuer", { email, xms_edov: true }, {}, "email_verified", null],
    [
      "xms_edov of a name that only begins as Microsoft's",
      { email, xms_edov: true },
      { issuer: "https://login.microsoftonline.com.evil.example" },
      "email_verified",
      null,
    ],
    ["a false xms_edov", { email, xms_edov: false }, { issuer: microsoft, ...byIssuer }, "xms_edov", "false"],
    ["another word in xms_edov", { email, xms_edov: "yes" }, { issuer: microsoft }, "xms_edov", '"yes"'],
    ["a name", { upn: email, preferred_username: email, unique_name: email }, byIssuer, "email", null],
    ["a list of addresses", { email: [email], email_verified: true }, byIssuer, "email", `["${email}"]`],
  ])("is not %s", async (_what, claims, settings, claim, value) => {
    const answer = await answerTo(claims, settings);
    const refusal = "emailRefusal" in answer ? answer.emailRefusal : answer;
    expect(refusal).toEqual({ because: "unverified_email", claim, value });
  });

  it("comes from the same place as the address", async () => {
    const proof = { email_verified: true, email };
    expect(await answerTo({ email }, {}, proof)).toMatchObject({ verifiedEmail: undefined });
    expect(await answerTo({ email_verified: true }, {}, { email })).toMatchObject({ verifiedEmail: undefined });
    expect(await answerTo({}, {}, proof)).toMatchObject({ verifiedEmail: email });
    expect(await answerTo({ email_verified: false }, {}, proof)).toMatchObject({ verifiedEmail: undefined });
  });

  it("bounds what a refusal repeats", async () => {
    const answer = await answerTo({ email, email_verified: `\u202e${"x".repeat(5_000)}` });
    const value = ("emailRefusal" in answer ? answer.emailRefusal.value : null) ?? "";
    expect(value.length).toBeLessThan(70);
    expect(value).not.toContain("\u202e");
  });
});

describe("the allowed domains", () => {
  it.each([
    "ada@notexample.com",
    "ada@sub.example.com",
    "ada@example.com.evil.example",
    '"x@example.com"@evil.example',
  ])("do not admit %s", async (other) => {
    const answer = await answerTo({ email: other, email_verified: true }, domains);
    expect(answer).toMatchObject({ claim: "email" });
  });

  it("are judged on hd at Google", async () => {
    const settings = { issuer: google, ...domains };
    const verified = { email, email_verified: true };
    expect(await answerTo({ ...verified, hd: "example.com" }, settings)).toMatchObject({ verifiedEmail: email });
    expect(await answerTo(verified, settings)).toEqual({ because: "domain", claim: "hd", value: null });
    expect(await answerTo({ ...verified, hd: "Example.COM" }, settings)).toMatchObject({ verifiedEmail: email });
    expect(await answerTo({ ...verified, hd: "evil.example" }, settings)).toMatchObject({ because: "domain" });
  });

  it("need a proven address of everybody", async () => {
    expect(await answerTo({}, domains)).toEqual({ because: "unverified_email", claim: "email", value: null });
  });
});

it.each([1, "1", true])(
  "a guest of a Microsoft tenant (acct %j) is refused where the issuer is trusted",
  async (acct) => {
    const claims = { email, acct, email_verified: true };
    expect(await answerTo(claims, { issuer: microsoft, ...byIssuer })).toMatchObject({
      because: "guest",
      claim: "acct",
    });
    expect(await answerTo(claims, { issuer: microsoft })).toMatchObject({ verifiedEmail: email });
  },
);

describe("the groups", () => {
  const user = { userGroup: "staff" };
  const admin = { adminGroup: "admins" };

  it.each<[Claims, Settings, boolean]>([
    [{ groups: "staff" }, user, false],
    [{ groups: ["x", "staff"] }, user, false],
    [{ roles: ["staff", "admins"] }, { ...user, ...admin, groupsClaim: "roles" }, true],
    [{}, admin, false],
    [{ groups: ["admins"] }, admin, true],
    [{ groups: ["admins"], hasgroups: false }, admin, true],
    [{ groups: { a: 1 }, hasgroups: true }, {}, false],
  ])("%j with %j admit", async (claims, settings, isAdministrator) => {
    expect(await answerTo(claims, settings)).toMatchObject({ isAdministrator });
  });

  it.each<[string, Claims, Settings]>([
    ["not_in_group", {}, user],
    ["not_in_group", { groups: [] }, user],
    ["not_in_group", { groups: ["Staff", "staff "] }, user],
    ["unknown_groups", { groups: 7 }, user],
    ["unknown_groups", { groups: null }, admin],
    ["unknown_groups", { groups: ["staff", 7] }, user],
    ["unknown_groups", { groups: { staff: true } }, admin],
    ["unknown_groups", { _claim_names: { groups: "src1" } }, user],
    ["unknown_groups", { _claim_names: { groups: "src1" }, groups: ["admins"] }, admin],
    ["unknown_groups", { _claim_names: "src1" }, admin],
    ["unknown_groups", { hasgroups: true }, user],
    ["unknown_groups", { hasgroups: "true" }, admin],
  ])("refuse as %s: %j with %j", async (because, claims, settings) => {
    expect(await answerTo(claims, settings)).toMatchObject({ because });
  });

  it.each<[Claims, string, string | null]>([
    [{}, "groups", null],
    [{ groups: [] }, "groups", "[]"],
    [{ groups: 7 }, "groups", "7"],
    [{ hasgroups: true }, "hasgroups", "true"],
    [{ _claim_names: { groups: "src1" } }, "_claim_names", '{"groups":"src1"}'],
  ])("%j are refused with the claim %s and the value %s", async (claims, claim, value) => {
    expect(await answerTo(claims, user)).toMatchObject({ claim, value });
  });

  it("may be in the UserInfo response", async () => {
    const claims = { email, email_verified: true };
    expect(await answerTo(claims, user, { groups: ["staff"] })).toMatchObject({ verifiedEmail: email });
    expect(await answerTo(claims, user, { hasgroups: true })).toMatchObject({ because: "unknown_groups" });
  });
});

it.each([
  ["https://id.example.com/app/", "https://id.example.com/app"],
  ["https://id.example.com/app", "https://id.example.com/app/"],
])("the setting %s is the issuer %s", async (setting, issuer) => {
  const { fetch } = createFakeProvider({ issuer });
  const base = { clientId: "sealpush", clientSecret: undefined, name: "x", baseUrl: "https://push.example.com" };
  const rules = {
    only: false,
    trustEmail: "claim",
    allowedDomains: [],
    groupsClaim: "groups",
    userGroup: undefined,
    adminGroup: undefined,
    tokensRestAfterMs: null,
  } as const;
  const provider = createProvider({ issuer: setting, ...base, ...rules }, { clock: { now: () => 0 }, fetch });
  expect(await provider.readAnswer(`code=abc&state=${secrets.state}`, secrets)).toMatchObject({ claims: { issuer } });
});
