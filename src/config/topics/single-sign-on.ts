import { dayMs } from "../../base/clock.ts";
import { normalizeEmail } from "../../base/email.ts";
import { isForManyTenants } from "../issuers.ts";
import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { accepted, anyText, converted, oneOf, rejected, type ValueType, wholeNumber } from "../value-types.ts";
import { networkSettings } from "./network.ts";

/** OpenID Connect Discovery 1.0, section 3: an address without query and fragment. Plain http only on this machine. */
export const issuerUrl: ValueType<string> = {
  allowed: "an https address without query, such as https://id.example.com/realm (http only for this machine)",
  parse(text) {
    const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text);
    if (url === null || url.username !== "" || url.password !== "" || url.search + url.hash !== "") return rejected;
    const isLocal = url.hostname === "localhost" || url.hostname === "[::1]" || /^127\./.test(url.hostname);
    return url.protocol === "https:" || (url.protocol === "http:" && isLocal) ? accepted(text) : rejected;
  },
};

/** Exact domains, in the spelling of normalised addresses. */
const domainList: ValueType<readonly string[]> = {
  allowed: "domains separated by commas, such as example.com,example.org (subdomains are other domains)",
  parse(text) {
    const domains = text.split(",").map((domain) => normalizeEmail(`a@${domain.trim()}`)?.slice("a@".length));
    return domains.every((domain) => domain !== undefined) ? accepted(domains) : rejected;
  },
};

export const singleSignOnSettings = {
  title: "Single sign-on",
  intro:
    "Works with any provider of OpenID Connect. The redirect URL to register there is `<base URL>/users/auth/oidc/callback`; `PWP__OVERRIDE_BASE_URL` or `PWP__HOST_DOMAIN` must be set.",
  settings: {
    issuer: optionalSetting({
      env: "PWP__OIDC__ISSUER",
      doc: "The provider's issuer: the address under which `/.well-known/openid-configuration` is found.",
      type: issuerUrl,
      unset: "no single sign-on",
    }),
    clientId: optionalSetting({
      env: "PWP__OIDC__CLIENT_ID",
      doc: "The client id of this server at the provider.",
      type: anyText("an id"),
      unset: "none",
    }),
    clientSecret: optionalSetting({
      env: "PWP__OIDC__CLIENT_SECRET",
      doc: "The client secret. Without one the client is public; PKCE protects it either way.",
      type: anyText("a secret"),
      unset: "none",
      hidden: "always",
    }),
    name: setting({
      env: "PWP__OIDC__NAME",
      doc: "The label of the provider's button.",
      type: anyText("a few words"),
      default: "Single sign-on",
    }),
    only: switchSetting({
      env: "PWP__OIDC__ONLY",
      doc: "Whether single sign-on is the only way in: without passwords, passkeys, two-step sign-in, resets and sign-ups of this server. `PWP__REQUIRE_MFA` has no effect then. Before you set it, `sealpush oidc check` says who would be locked out; for the day when the provider fails there is `sealpush user break-glass`.",
      default: "false",
    }),
    trustEmail: setting({
      env: "PWP__OIDC__TRUST_EMAIL",
      doc: "What proves that an email address is the user's. `claim`: only `email_verified: true`, or, from Microsoft's issuers, `xms_edov` with a true value. `issuer`: an absent claim is enough too, because the provider only has addresses of its organisation; needs `PWP__OIDC__ALLOWED_DOMAINS`, and guests of a Microsoft tenant (`acct` 1) are refused. Any other value of `email_verified` refuses the address in both cases.",
      type: oneOf({ claim: "claim", issuer: "issuer" }),
      default: "claim",
    }),
    allowedDomains: optionalSetting({
      env: "PWP__OIDC__ALLOWED_DOMAINS",
      doc: "Only users with a proven email address of these domains may sign on, whether or not they have an account. For Google, the domain is the claim `hd`, which says whose organisation the user belongs to.",
      type: domainList,
      unset: "any domain",
      whenUnset: [] as readonly string[],
    }),
    groupsClaim: setting({
      env: "PWP__OIDC__GROUPS_CLAIM",
      doc: "The claim with the user's groups: a text or a list of texts, in the ID token or the UserInfo response. For app roles of Microsoft Entra: `roles`.",
      type: anyText("the name of a claim"),
      default: "groups",
    }),
    userGroup: optionalSetting({
      env: "PWP__OIDC__USER_GROUP",
      doc: "Only users in this group may sign on.",
      type: anyText("a group, exactly as the claim has it"),
      unset: "all users",
    }),
    adminGroup: optionalSetting({
      env: "PWP__OIDC__ADMIN_GROUP",
      doc: "Users in this group are administrators for 12 hours after each sign-on, in that session only. Their API tokens are not an administrator's.",
      type: anyText("a group, exactly as the claim has it"),
      unset: "no group",
    }),
    /** null: API tokens never rest. */
    tokensRestAfterMs: setting({
      env: "PWP__OIDC__TOKENS_REST_AFTER_DAYS",
      doc: "API tokens are refused (401) while their owner's last sign-on is older, and work again after the next one. For an owner who has never signed on, the time counts from the creation of the account. 0: never.",
      type: converted(wholeNumber(0, 3_650), (days) => (days === 0 ? null : days * dayMs)),
      default: "0",
    }),
  },
};

/** @returns undefined: single sign-on is off. */
export function singleSignOnConfig(
  settings: ParsedGroup<typeof singleSignOnSettings>,
  baseUrl: string | undefined,
  report: SettingReport,
) {
  const { issuer, clientId, trustEmail, allowedDomains } = settings;
  const withoutEffect = issuer.given ? [] : Object.values(settings).filter(({ given }) => given);
  if (withoutEffect.length > 0) {
    report.warn(`Without ${issuer.env}, these have no effect: ${withoutEffect.map(({ env }) => env).join(", ")}.`);
  }
  const needs = [
    { env: clientId.env, isGiven: clientId.given },
    { env: networkSettings.settings.overrideBaseUrl.env, isGiven: baseUrl !== undefined },
  ];
  for (const { env, isGiven } of needs) {
    if (issuer.given && !isGiven) report.warn(`Single sign-on is off: ${issuer.env} needs ${env}.`);
  }
  if (issuer.value !== undefined && isForManyTenants(issuer.value)) {
    report.mistake(
      `${issuer.env} is the issuer of every organisation's users: it must name your own tenant, such as https://login.microsoftonline.com/<tenant id>/v2.0.`,
      issuer.env,
    );
  }
  if (trustEmail.value === "issuer" && allowedDomains.value.length === 0) {
    report.mistake(`${trustEmail.env} is "issuer", which needs ${allowedDomains.env}.`, trustEmail.env);
  }
  if (issuer.value === undefined || clientId.value === undefined || baseUrl === undefined) {
    if (settings.only.value) {
      // Otherwise nobody could sign in, or the passwords that the operator has closed would be open again.
      report.mistake(
        `${settings.only.env} is on, and single sign-on is off: it needs ${issuer.env}, ${clientId.env} and a base URL.`,
        settings.only.env,
      );
    }
    return undefined;
  }
  return {
    ...valuesOf(settings),
    issuer: issuer.value,
    clientId: clientId.value,
    /** The start of the redirect URL. */
    baseUrl,
  };
}
