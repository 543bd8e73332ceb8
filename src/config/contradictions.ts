import type { Readings } from "./read-settings.ts";
import type { SettingGroups } from "./settings.ts";

/** Settings that are each allowed but hardly meant together: one warning each. Nothing here stops the start. */
export function contradictions({ access, network, uploads }: Readings<SettingGroups>): readonly string[] {
  const { overrideBaseUrl, allowedHosts, trustedProxies, secureCookies } = network;
  const warnings: string[] = [];

  if (uploads.anonymous.value && !access.anonymous.value) {
    warnings.push(`${uploads.anonymous.env} has no effect while ${access.anonymous.env} is off.`);
  }
  if (trustedProxies.value.some((network) => /\/0+$/.test(network))) {
    warnings.push(
      `${trustedProxies.env} names every address there is: any client can then claim any address, past all limits.`,
    );
  }
  if (overrideBaseUrl.value !== undefined) {
    const base = new URL(overrideBaseUrl.value);
    if (allowedHosts.value !== undefined && !allowedHosts.value.some((host) => covers(host, base.hostname))) {
      warnings.push(`The host of ${overrideBaseUrl.env} is not among ${allowedHosts.env}: links could be refused.`);
    }
    if (secureCookies.value === true && base.protocol === "http:") {
      warnings.push(`${secureCookies.env} is on, but ${overrideBaseUrl.env} is not HTTPS: nobody could sign in.`);
    }
    if (secureCookies.value === false && base.protocol === "https:") {
      warnings.push(`${secureCookies.env} is off, but ${overrideBaseUrl.env} is HTTPS: leave it on auto.`);
    }
  }
  return warnings;
}

/** `.example.com` stands for example.com and every name under it. */
function covers(allowed: string, host: string): boolean {
  if (!allowed.startsWith(".")) return host === allowed;
  return host === allowed.slice(1) || host.endsWith(allowed);
}
