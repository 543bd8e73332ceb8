import { optionalSetting, type ParsedGroup, type SettingReport, setting } from "../setting.ts";
import { accepted, anyText, rejected, type ValueType } from "../value-types.ts";
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
  },
};

/** @returns undefined: single sign-on is off. */
export function singleSignOnConfig(
  { issuer, clientId, clientSecret, name }: ParsedGroup<typeof singleSignOnSettings>,
  baseUrl: string | undefined,
  report: SettingReport,
) {
  const needs = [
    { env: clientId.env, isGiven: clientId.given },
    { env: networkSettings.settings.overrideBaseUrl.env, isGiven: baseUrl !== undefined },
  ];
  for (const { env, isGiven } of needs) {
    if (issuer.given && !isGiven) report.warn(`Single sign-on is off: ${issuer.env} needs ${env}.`);
  }
  if (issuer.value === undefined || clientId.value === undefined || baseUrl === undefined) return undefined;
  return {
    issuer: issuer.value,
    clientId: clientId.value,
    /** undefined: a public client. */
    clientSecret: clientSecret.value,
    /** The label of the provider's button. */
    name: name.value,
    /** The start of the redirect URL. */
    baseUrl,
  };
}
