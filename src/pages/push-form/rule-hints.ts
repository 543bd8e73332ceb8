import type { Messages } from "../../i18n/i18n.ts";
import type { Policy } from "../../policies/policies.ts";

export type RuledField =
  | "passphrase"
  | "expireAfterDuration"
  | "expireAfterDays"
  | "expireAfterViews"
  | "notifyEmailsTo"
  | "notifyOnView";

/** @returns what the organisation's rules say about a field, for its hint and its problem; "": nothing. */
export function ruleHint(field: RuledField, policy: Policy, { rules, formats }: Messages): string {
  switch (field) {
    case "passphrase":
      return [
        policy.passphraseRequired ? rules.passphrase : "",
        policy.passphraseMinLength > 0 ? rules.passphraseLength({ count: policy.passphraseMinLength }) : "",
        policy.passphraseCommonAllowed ? "" : rules.passphraseCommon,
      ]
        .filter((sentence) => sentence !== "")
        .join(" ");
    case "expireAfterDuration":
    case "expireAfterDays":
      return policy.maxMinutes === null ? "" : rules.life({ time: formats.timeSpan(policy.maxMinutes) });
    case "expireAfterViews":
      return policy.maxViews === null ? "" : rules.views({ count: policy.maxViews });
    case "notifyEmailsTo":
      return policy.mailDomains === null ? "" : rules.mailDomains({ domains: policy.mailDomains.join(", ") });
    case "notifyOnView":
      return policy.notifyOnViewRequired ? rules.notify : "";
  }
}

/** @param texts "" and undefined are left out. @returns undefined: all are. */
export function sentences(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((text) => text !== undefined && text !== "").join(" ") || undefined;
}

export function said(text: string, rule: string): string {
  return sentences(text, rule) ?? text;
}
