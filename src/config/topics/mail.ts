import { secondMs } from "../../base/clock.ts";
import { hostName } from "../network-types.ts";
import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import {
  accepted,
  anyText,
  boolean,
  oneOf,
  rejected,
  type ValueType,
  wholeNumber,
  wholeUnits,
} from "../value-types.ts";
import { networkSettings } from "./network.ts";

/** One sender. A line end would start another header. The value has no quotes around the name. */
export const mailbox: ValueType<string> = {
  allowed: "an email address, or a name with an address: Sealpush <push@example.com>",
  parse(text) {
    const bare = text.replace(/^"([^"]*)" *(?=<)/, "$1 ");
    return /^(?:[^\p{C}<>"]{1,100} <[^\s\p{C}@<>,;"]{1,64}@[^\s\p{C}@<>,;"]{1,253}>|[^\s\p{C}@<>,;"]{1,64}@[^\s\p{C}@<>,;"]{1,253})$/u.test(
      bare,
    )
      ? accepted(bare)
      : rejected;
  },
};

const startTlsWords = oneOf({ required: "required", auto: "auto", off: "off" });

/** In Password Pusher it is a boolean, so its words follow the rule of booleans. */
const startTlsMode: ValueType<"required" | "auto" | "off"> = {
  allowed: `${startTlsWords.allowed}, true, false`,
  whenEmpty: `it must be ${startTlsWords.allowed}, true, false; without the line, the default is used`,
  parse(text) {
    const word = boolean.parse(text);
    return word.ok ? accepted(word.value ? "required" : "auto") : startTlsWords.parse(text);
  },
};

/** RFC 5321, section 4.5.3.2.6, lets a server take that long to accept a message. */
const timeoutSecondsMax = 600;

export const mailSettings = {
  title: "Mail",
  intro:
    "Emails are sent by SMTP. They are sent only when both the SMTP address and `PWP__OVERRIDE_BASE_URL` (or `PWP__HOST_DOMAIN`) are set: links in emails are never derived from a request.",
  settings: {
    smtpAddress: optionalSetting({
      env: "PWP__MAIL__SMTP_ADDRESS",
      doc: "The host name or address of the SMTP server.",
      type: hostName,
      unset: "no emails",
    }),
    port: setting({
      env: "PWP__MAIL__SMTP_PORT",
      doc: "Its port. On 465 the connection is encrypted from the start.",
      type: wholeNumber(1, 65535),
      default: "587",
    }),
    smtpStartTls: setting({
      env: "PWP__MAIL__SMTP_STARTTLS",
      doc: "Whether the connection is encrypted: `required`; `auto` when the server offers it, and always when a password is sent to another machine; or `off`. `true` is read as required, `false` as auto.",
      type: startTlsMode,
      default: "auto",
    }),
    smtpStartTlsAuto: switchSetting({
      env: "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO",
      doc: "When off, `auto` above means `off`.",
      default: "true",
    }),
    greetingName: optionalSetting({
      env: "PWP__MAIL__SMTP_DOMAIN",
      doc: "The name with which this server greets the SMTP server.",
      type: hostName,
      unset: "the machine's name",
    }),
    smtpUserName: optionalSetting({
      env: "PWP__MAIL__SMTP_USER_NAME",
      doc: "The user name for the SMTP server.",
      type: anyText("a name"),
      unset: "no sign-in",
    }),
    smtpPassword: optionalSetting({
      env: "PWP__MAIL__SMTP_PASSWORD",
      doc: "The password of this user.",
      type: anyText("a password"),
      unset: "none",
      hidden: "always",
    }),
    smtpAuthentication: setting({
      env: "PWP__MAIL__SMTP_AUTHENTICATION",
      doc: "How this server signs in. With `cram_md5` the password never crosses the network, and other methods are not used; otherwise the method is chosen from those that the SMTP server offers.",
      type: oneOf({ plain: "offered", login: "offered", cram_md5: "cram_md5" }),
      default: "plain",
    }),
    openTimeoutMs: setting({
      env: "PWP__MAIL__SMTP_OPEN_TIMEOUT",
      doc: "Seconds to wait for the connection. An attempt to send an email ends after a minute, or after this time and the next one together if that is longer; the email is tried again later. Emails are sent one after the other, so an attempt that hangs delays the others.",
      type: wholeUnits(secondMs, 1, timeoutSecondsMax),
      default: "10",
    }),
    readTimeoutMs: setting({
      env: "PWP__MAIL__SMTP_READ_TIMEOUT",
      doc: "Seconds to wait for an answer. If the SMTP server examines each email for longer before it accepts it, raise this: the email counts as not sent, and the recipient gets it again at each attempt.",
      type: wholeUnits(secondMs, 1, timeoutSecondsMax),
      default: "60",
    }),
    verifiesCertificate: setting({
      env: "PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE",
      doc: "Whether the certificate is verified (`peer`). `none` accepts any certificate of this SMTP server, for a relay that signs its own; it is safer to make its authority known with NODE_EXTRA_CA_CERTS.",
      type: oneOf({ peer: true, none: false }),
      default: "peer",
    }),
    sender: optionalSetting({
      env: "PWP__MAIL__MAILER_SENDER",
      doc: "The sender of emails: an address, or `Name <address>`. Answers go there as well.",
      type: mailbox,
      unset: "sealpush@ and the host of the base URL",
    }),
  },
};

export const linkDeliverySettings = {
  title: "Links by email",
  intro:
    "People with an account can have the link of a push sent by email to up to five addresses. Needs the mail settings.",
  settings: {
    enabled: switchSetting({
      env: "PWP__NOTIFY_BY_EMAIL__ENABLED",
      doc: "Whether links are sent by email at all. When off, the form does not offer it and the API answers 404 or 422.",
      default: "true",
    }),
    dailyLimit: setting({
      env: "PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT",
      doc: "To how many addresses one account may send links in one day (UTC). 0 switches the feature off.",
      // In Password Pusher an empty value means that nobody may send.
      type: { ...wholeNumber(0, 1_000_000), whenEmpty: "it must be a number; 0 switches the feature off" },
      default: "500",
    }),
  },
};

/** @returns undefined: no emails are sent. */
export function mailConfig(
  mail: ParsedGroup<typeof mailSettings>,
  about: {
    readonly baseUrl: string | undefined;
    readonly pushBaseUrl: string | undefined;
    readonly defaultLocale: string | undefined;
    readonly report: SettingReport;
  },
) {
  const { baseUrl, pushBaseUrl, defaultLocale, report } = about;
  const host = mail.smtpAddress.value;
  if (mail.smtpAddress.given && baseUrl === undefined) {
    const { env } = networkSettings.settings.overrideBaseUrl;
    report.warn(`No email is sent: ${mail.smtpAddress.env} needs ${env} for the links in emails.`);
  }
  if (mail.smtpPassword.given && !mail.smtpUserName.given) {
    report.warn(`${mail.smtpPassword.env} has no effect without ${mail.smtpUserName.env}.`);
  }
  if (!mail.verifiesCertificate.value) {
    report.warn(
      `${mail.verifiesCertificate.env} is none: somebody between this server and the SMTP server can read emails, links and the password.`,
    );
  }
  if (host === undefined || baseUrl === undefined) return undefined;
  const {
    smtpAddress,
    smtpUserName: userName,
    smtpPassword: password = "",
    smtpStartTls,
    smtpStartTlsAuto,
    smtpAuthentication,
    ...others
  } = valuesOf(mail);
  return {
    ...others,
    host,
    startTls: smtpStartTls === "auto" && !smtpStartTlsAuto ? "off" : smtpStartTls,
    /** undefined: one of those that the SMTP server offers. */
    authenticationMethod: smtpAuthentication === "cram_md5" ? "CRAM-MD5" : undefined,
    signIn: userName === undefined ? undefined : { userName, password },
    /** `Name <address>` or an address. */
    sender: others.sender ?? `sealpush@${new URL(baseUrl).hostname}`,
    /** Where answers go; undefined: to nobody in particular. */
    replyTo: others.sender,
    /** The start of links in emails: never derived from a request. */
    baseUrl,
    /** The start of links of pushes. */
    pushBaseUrl: pushBaseUrl ?? baseUrl,
    /** For recipients whose language is unknown; undefined: English. */
    defaultLocale,
  };
}

/** @param canSendMail whether the mail settings are complete. */
export function linkDeliveriesConfig(
  { enabled, dailyLimit }: ParsedGroup<typeof linkDeliverySettings>,
  { smtpAddress }: ParsedGroup<typeof mailSettings>,
  canSendMail: boolean,
  report: SettingReport,
) {
  if (enabled.given && enabled.value && !smtpAddress.given) {
    report.warn(`No link is sent by email: ${enabled.env} needs ${smtpAddress.env}.`);
  }
  return {
    /** Owners may have the links of their pushes sent by email. Never true without `mail`. */
    enabled: enabled.value && dailyLimit.value > 0 && canSendMail,
    /** Addresses per owner and day. */
    dailyMax: dailyLimit.value,
  };
}
