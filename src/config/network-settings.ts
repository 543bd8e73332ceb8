import { cloudflareNetworks } from "./cloudflare-networks.ts";
import type { Config } from "./config.ts";
import { hostAndPort, hostNames, networks, webOrigin } from "./network-types.ts";
import type { ParsedSettings } from "./read-settings.ts";
import { optionalSetting, setting } from "./setting.ts";
import { oneWordOf, truth, wordOr } from "./value-type.ts";

/** The part of the settings table about under which addresses the server answers, and what stands before it. */
export const networkSettings = {
  network: {
    title: "Addresses and proxies",
    intro:
      "Behind a reverse proxy, set at least the base URL; when the proxy is on another machine, name it as trusted.",
    settings: {
      overrideBaseUrl: optionalSetting({
        env: "PWP__OVERRIDE_BASE_URL",
        doc: "What the links begin with.",
        type: webOrigin,
        unset: "as the request came",
      }),
      hostDomain: optionalSetting({
        env: "PWP__HOST_DOMAIN",
        doc: "The host that links in mails, and the way back from single sign-on, name when there is no base URL above.",
        type: hostAndPort,
        unset: "none",
      }),
      hostProtocol: setting({
        env: "PWP__HOST_PROTOCOL",
        doc: "The scheme before that host.",
        type: oneWordOf({ https: "https", http: "http" }),
        default: "https",
      }),
      allowedHosts: optionalSetting({
        env: "PWP__ALLOWED_HOSTS",
        doc: "The host names under which the server answers; requests for any other are refused.",
        type: hostNames,
        unset: "any",
      }),
      trustedProxies: setting({
        env: "PWP__TRUSTED_PROXIES",
        doc: "The proxies whose X-Forwarded headers are believed. A given value replaces the default, which is this machine.",
        type: wordOr("none", [], networks),
        default: "127.0.0.0/8, ::1/128",
      }),
      cloudflareProxy: setting({
        env: "PWP__CLOUDFLARE_PROXY",
        doc: "Whether the networks that Cloudflare publishes as its own are trusted as proxies too.",
        type: truth,
        default: "false",
      }),
      forceHttps: setting({
        env: "FORCE_SSL",
        doc: "Whether requests that came by plain HTTP are redirected to HTTPS, and all cookies are for HTTPS only. Only for servers behind a proxy that sends X-Forwarded-Proto and is trusted.",
        type: truth,
        default: "false",
      }),
      secureCookies: setting({
        env: "PWP__SECURE_COOKIES",
        doc: "Whether cookies are for HTTPS only. `auto` decides by how the request came.",
        type: wordOr("auto", "auto", truth),
        default: "auto",
      }),
    },
  },
};

type NetworkReadings = ParsedSettings<typeof networkSettings>["network"];

export function networkOf(
  network: NetworkReadings,
): Pick<Config, "overrideBaseUrl" | "allowedHosts" | "trustedProxies" | "forceHttps" | "secureCookies"> {
  const forceHttps = network.forceHttps.value;
  const secureCookies = network.secureCookies.value;
  return {
    overrideBaseUrl: network.overrideBaseUrl.value,
    allowedHosts: network.allowedHosts.value ?? [],
    trustedProxies: [...network.trustedProxies.value, ...(network.cloudflareProxy.value ? cloudflareNetworks : [])],
    forceHttps,
    secureCookies: forceHttps && secureCookies === "auto" ? true : secureCookies,
  };
}

/** Where this installation is reached, as far as its settings say: what is sent without a request begins with it. */
export function settledBaseUrl({
  overrideBaseUrl,
  hostDomain,
  hostProtocol,
}: Pick<NetworkReadings, "overrideBaseUrl" | "hostDomain" | "hostProtocol">): string | undefined {
  if (overrideBaseUrl.value !== undefined || hostDomain.value === undefined) return overrideBaseUrl.value;
  return new URL(`${hostProtocol.value}://${hostDomain.value}`).origin;
}
