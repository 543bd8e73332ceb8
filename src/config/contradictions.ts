import { isSpoken } from "./look-types.ts";
import { settledBaseUrl } from "./network-settings.ts";
import type { ParsedSettings } from "./read-settings.ts";
import type { SettingGroups } from "./settings.ts";

/** Settings that are each allowed but hardly meant together: one warning each. Nothing here stops the start. */
export function contradictions(parsed: ParsedSettings<SettingGroups>): readonly string[] {
  const { access, accounts, mail, linkDeliveries, singleSignOn, network, uploads, look } = parsed;
  const { overrideBaseUrl, allowedHosts, trustedProxies, secureCookies } = network;
  const baseUrl = settledBaseUrl(network);
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
  if (mail.smtpAddress.given && baseUrl === undefined) {
    warnings.push(
      `No mail is sent: ${mail.smtpAddress.env} needs ${overrideBaseUrl.env}, which links in mails begin with.`,
    );
  }
  if (accounts.accountEmails.value && !mail.smtpAddress.given) {
    warnings.push(`No mail is sent: ${accounts.accountEmails.env} needs ${mail.smtpAddress.env}.`);
  }
  if (linkDeliveries.enabled.given && linkDeliveries.enabled.value && !mail.smtpAddress.given) {
    warnings.push(`No link is mailed: ${linkDeliveries.enabled.env} needs ${mail.smtpAddress.env}.`);
  }
  if (mail.smtpPassword.given && !mail.smtpUserName.given) {
    warnings.push(`${mail.smtpPassword.env} has no effect without ${mail.smtpUserName.env}.`);
  }
  const signOnNeeds = [
    { env: singleSignOn.clientId.env, given: singleSignOn.clientId.given },
    { env: overrideBaseUrl.env, given: baseUrl !== undefined },
  ];
  for (const { env, given } of signOnNeeds) {
    if (singleSignOn.issuer.given && !given) {
      warnings.push(`Single sign-on is off: ${singleSignOn.issuer.env} needs ${env}.`);
    }
  }
  if (look.defaultLocale.value !== undefined && !isSpoken(look.defaultLocale.value)) {
    warnings.push(`${look.defaultLocale.env} names a language that is not spoken here: English takes its place.`);
  }
  return warnings;
}

/** `.example.com` stands for example.com and every name under it. */
function covers(allowed: string, host: string): boolean {
  if (!allowed.startsWith(".")) return host === allowed;
  return host === allowed.slice(1) || host.endsWith(allowed);
}
