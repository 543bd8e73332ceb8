import { isKindName, isSealable, type KindName, kindNames } from "../../base/push-kinds.ts";
import {
  optionalSetting,
  type ParsedGroup,
  type ParsedTable,
  type SettingReport,
  setting,
  switchSetting,
  valuesOf,
} from "../setting.ts";
import { accepted, rejected, type ValueType, wholeNumber } from "../value-types.ts";
import type { kindSettings, kindsConfig } from "./kinds.ts";

const dayMinutes = 24 * 60;
const minutesMax = 3650 * dayMinutes;
const viewsMax = 100_000;
const minLengthMax = 64;
const domainsMax = 100;

const kindList: ValueType<readonly KindName[]> = {
  allowed: `one or more of ${kindNames.join(", ")}, separated by commas`,
  parse(text) {
    const named = text.split(",").map((kind) => kind.trim().toLowerCase());
    return named.every(isKindName) ? accepted(kindNames.filter((kind) => named.includes(kind))) : rejected;
  },
};

const domainShape =
  /^(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;

/** In the spelling of `normalizeEmail`. @returns undefined: not a list of up to 100 domains. */
export function readDomains(text: string): readonly string[] | undefined {
  const domains = text.split(",").map((domain) => domain.trim().toLowerCase().normalize("NFC"));
  const isList = domains.length <= domainsMax && domains.every((domain) => domainShape.test(domain));
  return isList ? [...new Set(domains)] : undefined;
}

const domainList: ValueType<readonly string[]> = {
  allowed: `up to ${domainsMax} domains such as example.com, separated by commas`,
  parse(text) {
    const domains = readDomains(text);
    return domains === undefined ? rejected : accepted(domains);
  },
};

/** For the form of the same rules. */
export const ruleBounds = {
  passphraseMinLength: { min: 0, max: minLengthMax },
  maxMinutes: { min: 1, max: minutesMax },
  maxViews: { min: 1, max: viewsMax },
} as const;

export const policySettings = {
  title: "Rules for new pushes",
  intro:
    "What everybody on this installation must keep to, whatever they use to push. Rules are judged when a push is created, edited or mailed and when a secret is requested, never when one is retrieved, imported or handed over as the answer to a request. Whatever breaks a rule is refused and never changed; what is left to the server follows the rules. Administrators add rules at `/admin/rules`, which cannot loosen these. `GET /api/sealpush/policy` answers what holds for a caller.",
  settings: {
    passphraseRequired: switchSetting({
      env: "PWP__POLICY__PASSPHRASE_REQUIRED",
      doc: "Whether every push must have a passphrase. Of an end-to-end push the server can check only that a passphrase locks it.",
      default: "false",
    }),
    passphraseMinLength: setting({
      env: "PWP__POLICY__PASSPHRASE_MIN_LENGTH",
      doc: "The fewest characters of a passphrase, where there is one.",
      type: wholeNumber(0, minLengthMax),
      default: "0",
    }),
    passphraseCommonAllowed: switchSetting({
      env: "PWP__POLICY__PASSPHRASE_COMMON_ALLOWED",
      doc: "Whether a passphrase may be one of those that attackers try first, such as `Password2026!`.",
      default: "true",
    }),
    maxMinutes: optionalSetting({
      env: "PWP__POLICY__MAX_MINUTES",
      doc: "The longest life of a push in minutes. The most days of its kind hold besides.",
      type: wholeNumber(1, minutesMax),
      unset: "no rule",
      whenUnset: null,
    }),
    maxViews: optionalSetting({
      env: "PWP__POLICY__MAX_VIEWS",
      doc: "The most views of a push. The most views of its kind hold besides.",
      type: wholeNumber(1, viewsMax),
      unset: "no rule",
      whenUnset: null,
    }),
    kinds: optionalSetting({
      env: "PWP__POLICY__KINDS",
      doc: "The kinds of push that may be created. Kinds that are switched off stay off.",
      type: kindList,
      unset: "all that are switched on",
      whenUnset: kindNames,
    }),
    encryptionRequired: switchSetting({
      env: "PWP__POLICY__ENCRYPTION_REQUIRED",
      doc: "Whether every push must be sealed end to end, in the browser or by the program that makes it. URL and QR code pushes cannot be.",
      default: "false",
    }),
    notifyOnViewRequired: switchSetting({
      env: "PWP__POLICY__NOTIFY_ON_VIEW_REQUIRED",
      doc: "Whether the owner of a push must be notified of each view. Then only users with a confirmed email address can create pushes, and only on a server that sends email.",
      default: "false",
    }),
    mailDomains: optionalSetting({
      env: "PWP__POLICY__MAIL_DOMAINS",
      doc: "The domains of the addresses that links may be mailed to, compared exactly: `example.com` does not include `mail.example.com`.",
      type: domainList,
      unset: "all",
      whenUnset: null,
    }),
  },
};

type PolicyRows = ParsedGroup<typeof policySettings>;

interface Surroundings {
  readonly sendsMail: boolean;
  readonly kinds: ReturnType<typeof kindsConfig>;
  readonly kindRows: ParsedTable<typeof kindSettings>;
}

/** The rules of the environment; `requests` and the kinds that are switched off are settings of their own. */
export function policyConfig(
  settings: PolicyRows,
  { sendsMail, ...surroundings }: Surroundings,
  report: SettingReport,
) {
  const { notifyOnViewRequired, kinds, encryptionRequired } = settings;
  if (notifyOnViewRequired.value && !sendsMail) {
    report.warn(`Nobody can create pushes: ${notifyOnViewRequired.env} needs the mail settings.`);
  }
  const left = kinds.value.filter(
    (kind) => surroundings.kinds[kind].enabled && (!encryptionRequired.value || isSealable(kind)),
  );
  if (left.length === 0) {
    const text = `Nobody can create pushes: ${kinds.env} and ${encryptionRequired.env} leave no kind that is switched on.`;
    report.warn(text);
  }
  for (const kind of left) reportContradictions(settings, surroundings.kindRows[kind], report);
  return valuesOf(settings);
}

/** Limits that no push can keep. */
function reportContradictions(
  { maxViews, maxMinutes }: PolicyRows,
  { viewsMin, daysMin }: Surroundings["kindRows"]["text"],
  report: SettingReport,
): void {
  if (maxViews.value !== null && maxViews.value < viewsMin.value) {
    report.mistake(`${maxViews.env} (${maxViews.value}) is below ${viewsMin.env} (${viewsMin.value}).`, maxViews.env);
  }
  // Less than a day counts as one.
  if (maxMinutes.value !== null && Math.ceil(maxMinutes.value / dayMinutes) < daysMin.value) {
    const text = `${maxMinutes.env} (${maxMinutes.value}) is below ${daysMin.env} (${daysMin.value} days).`;
    report.mistake(text, maxMinutes.env);
  }
}
