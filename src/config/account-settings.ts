import { dayMs, minuteMs } from "../base/clock.ts";
import { hostName, issuerUrl, mailbox } from "./network-types.ts";
import { duration } from "./quantity-types.ts";
import { optionalSetting, setting } from "./setting.ts";
import { anyText, oneWordOf, regularExpression, truth, wholeNumber } from "./value-type.ts";

/** The part of the settings table about people: who may have an account, how mails reach them, where else they sign in. */
export const accountSettings = {
  accounts: {
    title: "Accounts",
    intro: "Who may have an account and sign in. The first administrator is made at `/first_run`.",
    settings: {
      disableSignups: setting({
        env: "PWP__DISABLE_SIGNUPS",
        doc: "Whether nobody can make an account for themselves.",
        type: truth,
        default: "false",
      }),
      disableLogins: setting({
        env: "PWP__DISABLE_LOGINS",
        doc: "Whether nobody can sign in; sessions that stand do not count either. API tokens go on working.",
        type: truth,
        default: "false",
      }),
      signupEmailRegexp: optionalSetting({
        env: "PWP__SIGNUP_EMAIL_REGEXP",
        doc: "The e-mail addresses that may sign up. `\\A` and `\\z` are read as `^` and `$`; slashes around it are dropped.",
        type: regularExpression,
        unset: "any",
      }),
      accountEmails: setting({
        env: "PWP__ENABLE_USER_ACCOUNT_EMAILS",
        doc: "Whether accounts get mails: to confirm an address, to reset a password, and notices. A new account then signs in only once its address is confirmed. Needs the settings of mail. When off, a link to confirm an address still goes to whoever asks for it on the account's page.",
        type: truth,
        default: "false",
      }),
      requireMfa: setting({
        env: "PWP__REQUIRE_MFA",
        doc: "Whether everybody with an account must have a second factor. Without one, people are sent to set one up and API calls get 403.",
        type: truth,
        default: "false",
      }),
      loginSessionTimeout: setting({
        env: "PWP__LOGIN_SESSION_TIMEOUT",
        doc: "How long a sign-in lasts while nobody uses it. Each one ends after 14 days, however busy.",
        type: duration({
          minMs: minuteMs,
          maxMs: 90 * dayMs,
          plainNumber: "seconds",
          allowed: "a number of seconds, or a duration such as 2 hours or 1 day, from 1 minute to 90 days",
        }),
        default: "2 hours",
      }),
    },
  },
  mail: {
    title: "Mail",
    intro:
      "Mails leave by SMTP. They are sent only when the SMTP address and `PWP__OVERRIDE_BASE_URL` (or `PWP__HOST_DOMAIN`) are both set: links in mails never come from a request.",
    settings: {
      smtpAddress: optionalSetting({
        env: "PWP__MAIL__SMTP_ADDRESS",
        doc: "The host name or address of the SMTP server.",
        type: hostName,
        unset: "no mail",
      }),
      smtpPort: setting({
        env: "PWP__MAIL__SMTP_PORT",
        doc: "Its port. On 465 the connection is encrypted from the start.",
        type: wholeNumber(1, 65535),
        default: "587",
      }),
      smtpStartTls: setting({
        env: "PWP__MAIL__SMTP_STARTTLS",
        doc: "Whether the connection is encrypted: `required`; `auto` when the server offers it, and always when a password goes to another machine; or `off`. The server's certificate must hold. `true` is read as required, `false` as auto.",
        type: oneWordOf({ required: "required", auto: "auto", off: "off", true: "required", false: "auto" }),
        default: "auto",
      }),
      smtpStartTlsAuto: setting({
        env: "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO",
        doc: "When off, `auto` above means `off`.",
        type: truth,
        default: "true",
      }),
      smtpDomain: optionalSetting({
        env: "PWP__MAIL__SMTP_DOMAIN",
        doc: "The name by which this server greets the SMTP server.",
        type: hostName,
        unset: "the machine's",
      }),
      smtpUserName: optionalSetting({
        env: "PWP__MAIL__SMTP_USER_NAME",
        doc: "The name to sign in to the SMTP server with.",
        type: anyText("a name"),
        unset: "no sign-in",
      }),
      smtpPassword: optionalSetting({
        env: "PWP__MAIL__SMTP_PASSWORD",
        doc: "The password that belongs to it.",
        type: anyText("a password"),
        unset: "none",
        hidden: "always",
      }),
      sender: optionalSetting({
        env: "PWP__MAIL__MAILER_SENDER",
        doc: "Who mails come from: an address, or `Name <address>`.",
        type: mailbox,
        unset: "sealpush@ and the host of the base URL",
      }),
    },
  },
  linkDeliveries: {
    title: "Links by mail",
    intro:
      "Whoever has an account can have the link of a push mailed to up to five addresses. Needs the settings of mail.",
    settings: {
      enabled: setting({
        env: "PWP__NOTIFY_BY_EMAIL__ENABLED",
        doc: "Whether links are mailed at all. When off, the form does not offer it and the API answers 404 or 422.",
        type: truth,
        default: "true",
      }),
      dailyLimit: setting({
        env: "PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT",
        doc: "To how many addresses one account may have links mailed on one day (UTC). 0 switches it off, as the setting above does.",
        type: wholeNumber(0, 1_000_000),
        default: "500",
      }),
    },
  },
  singleSignOn: {
    title: "Single sign-on",
    intro:
      "Any provider of OpenID Connect. The address to give to it is `<base URL>/users/auth/oidc/callback`; `PWP__OVERRIDE_BASE_URL` or `PWP__HOST_DOMAIN` must be set.",
    settings: {
      issuer: optionalSetting({
        env: "PWP__OIDC__ISSUER",
        doc: "The provider's issuer, under which `/.well-known/openid-configuration` stands.",
        type: issuerUrl,
        unset: "no single sign-on",
      }),
      clientId: optionalSetting({
        env: "PWP__OIDC__CLIENT_ID",
        doc: "The id under which the provider knows this server.",
        type: anyText("an id"),
        unset: "none",
      }),
      clientSecret: optionalSetting({
        env: "PWP__OIDC__CLIENT_SECRET",
        doc: "The secret that belongs to it. Without one the client is public; PKCE protects it either way.",
        type: anyText("a secret"),
        unset: "none",
        hidden: "always",
      }),
      name: setting({
        env: "PWP__OIDC__NAME",
        doc: "What the button calls the provider.",
        type: anyText("a few words"),
        default: "Single sign-on",
      }),
    },
  },
};
