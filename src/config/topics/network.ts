import { hostAndPort, hostNames, networks, webOrigin } from "../network-types.ts";
import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { boolean, onByPresence, oneOf, wordOr } from "../value-types.ts";

export const networkSettings = {
  title: "Addresses and proxies",
  intro:
    "Behind a reverse proxy, set at least the base URL; if the proxy is on another machine, add it to the trusted proxies.",
  settings: {
    overrideBaseUrl: optionalSetting({
      env: "PWP__OVERRIDE_BASE_URL",
      doc: "The start of every link.",
      type: webOrigin,
      unset: "taken from the request",
    }),
    hostDomain: optionalSetting({
      env: "PWP__HOST_DOMAIN",
      doc: "The host in the links of emails and in the redirect URL of single sign-on, if there is no base URL above.",
      type: hostAndPort,
      unset: "none",
    }),
    hostProtocol: setting({
      env: "PWP__HOST_PROTOCOL",
      doc: "The scheme of that host.",
      type: oneOf({ https: "https", http: "http" }),
      default: "https",
    }),
    allowedHosts: optionalSetting({
      env: "PWP__ALLOWED_HOSTS",
      doc: "The host names under which the server answers; requests for any other are rejected.",
      type: hostNames,
      unset: "any",
      whenUnset: [] as readonly string[],
    }),
    trustedProxies: optionalSetting({
      env: "PWP__TRUSTED_PROXIES",
      doc: "Proxies whose X-Forwarded headers are trusted, in addition to this machine (127.0.0.0/8 and ::1). Private networks are trusted only if they are named. `none` trusts nobody, not even this machine.",
      type: wordOr("none", "none", networks),
      unset: "only this machine",
    }),
    noIndex: switchSetting({
      env: "PWP__NOINDEX",
      doc: "Whether search engines are asked not to index any page. Pages behind a link, and all pages for signed-in people, ask for it in any case.",
      default: "true",
    }),
    cloudflareProxy: switchSetting({
      env: "PWP__CLOUDFLARE_PROXY",
      doc: "Whether the networks that Cloudflare publishes as its own are trusted as proxies too.",
      default: "false",
    }),
    forceHttps: optionalSetting({
      env: "FORCE_SSL",
      doc: "If true, requests over plain HTTP are redirected to HTTPS, and all cookies are limited to HTTPS. Only for servers behind a trusted proxy that sends X-Forwarded-Proto. Any other value, also an empty one, stops the start: Password Pusher would read it as on.",
      type: onByPresence,
      unset: "off",
      whenUnset: false,
    }),
    secureCookies: setting({
      env: "PWP__SECURE_COOKIES",
      doc: "Whether cookies are limited to HTTPS. `auto` decides by the scheme of the request. With an https base URL (`PWP__OVERRIDE_BASE_URL`) or `FORCE_SSL` they always are. With `true`, as in Password Pusher, browsers also send sessions only with requests that begin on pages of this server (`SameSite=Strict`): somebody who follows a link in an email or on another site seems to be signed out until the next page. With single sign-on, which needs the session after the provider's redirect, they stay `SameSite=Lax`.",
      type: wordOr("auto", "auto", boolean),
      default: "auto",
    }),
  },
};

/** The networks from which Cloudflare's proxies connect. Source: cloudflare.com/ips-v4 and ips-v6, as of 2023. */
const cloudflareNetworks: readonly string[] = [
  "173.245.48.0/20",
  "103.21.244.0/22",
  "103.22.200.0/22",
  "103.31.4.0/22",
  "141.101.64.0/18",
  "108.162.192.0/18",
  "190.93.240.0/20",
  "188.114.96.0/20",
  "197.234.240.0/22",
  "198.41.128.0/17",
  "162.158.0.0/15",
  "104.16.0.0/13",
  "104.24.0.0/14",
  "172.64.0.0/13",
  "131.0.72.0/22",
  "2400:cb00::/32",
  "2606:4700::/32",
  "2803:f800::/32",
  "2405:b500::/32",
  "2405:8100::/32",
  "2a06:98c0::/29",
  "2c0f:f248::/32",
];

const thisMachine: readonly string[] = ["127.0.0.0/8", "::1/128"];

export function networkConfig(settings: ParsedGroup<typeof networkSettings>, report: SettingReport) {
  const { overrideBaseUrl, allowedHosts, trustedProxies } = settings;
  const forceHttps = settings.forceHttps.value;
  const isHttpsBase = overrideBaseUrl.value?.startsWith("https:") === true;
  const secureCookies = settings.secureCookies.value;
  const namedProxies = trustedProxies.value === "none" ? [] : (trustedProxies.value ?? []);
  if (namedProxies.some((network) => /\/0+$/.test(network))) {
    report.warn(
      `${trustedProxies.env} includes every address: any client can then claim any address and bypass all limits.`,
    );
  }
  if (overrideBaseUrl.value !== undefined) {
    const base = new URL(overrideBaseUrl.value);
    if (allowedHosts.value.length > 0 && !allowedHosts.value.some((host) => covers(host, base.hostname))) {
      report.warn(`The host of ${overrideBaseUrl.env} is not among ${allowedHosts.env}: links could be rejected.`);
    }
    if (secureCookies === true && base.protocol === "http:") {
      report.warn(
        `${settings.secureCookies.env} is on, but ${overrideBaseUrl.env} is not HTTPS: nobody could sign in.`,
      );
    }
    if (forceHttps && base.protocol === "http:") {
      report.warn(
        `${settings.forceHttps.env} is on, but ${overrideBaseUrl.env} is not HTTPS: links begin with http, and every page answers with a redirect to HTTPS.`,
      );
    }
  }
  if (secureCookies === false && (isHttpsBase || forceHttps)) {
    const cause = isHttpsBase ? `${overrideBaseUrl.env} is HTTPS` : `${settings.forceHttps.env} is on`;
    report.warn(`${settings.secureCookies.env}=false has no effect: ${cause}, so cookies are limited to HTTPS.`);
  }
  const { hostDomain, hostProtocol, cloudflareProxy: addsCloudflare, ...others } = valuesOf(settings);
  return {
    ...others,
    /** Addresses and CIDR networks whose X-Forwarded-* headers are trusted. */
    trustedProxies: [
      ...(trustedProxies.value === "none" ? [] : thisMachine),
      ...namedProxies,
      ...(addsCloudflare ? cloudflareNetworks : []),
    ],
    /** The proxies that the settings name, to show what to add. */
    namedProxies,
    /** Cookie `Secure` and `__Host-`: on, off, or by the scheme of the request ("auto"). */
    secureCookies: isHttpsBase || forceHttps ? true : secureCookies,
    /** Browsers send sessions only with requests that begin on this server's pages. */
    strictSessions: secureCookies === true,
  };
}

/** The origin of this installation, if the settings define it: links that are sent without a request start with it. */
export function configuredBaseUrl(settings: ParsedGroup<typeof networkSettings>): string | undefined {
  const { overrideBaseUrl, hostDomain, hostProtocol } = settings;
  if (overrideBaseUrl.value !== undefined || hostDomain.value === undefined) return overrideBaseUrl.value;
  return new URL(`${hostProtocol.value}://${hostDomain.value}`).origin;
}

/** `.example.com` covers example.com and every name below it. */
function covers(allowed: string, host: string): boolean {
  if (!allowed.startsWith(".")) return host === allowed;
  return host === allowed.slice(1) || host.endsWith(allowed);
}
