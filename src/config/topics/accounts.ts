import { dayMs, minuteMs, secondMs } from "../../base/clock.ts";
import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { converted, duration, rubyRegularExpression } from "../value-types.ts";
import type { mailSettings } from "./mail.ts";
import { networkSettings } from "./network.ts";

function secondsOf(bounds: { minMs: number; maxMs: number; allowed: string }) {
  return converted(duration({ ...bounds, plainNumber: "seconds" }), (ms) => ms / secondMs);
}

export const accountSettings = {
  title: "Accounts",
  intro: "Who may have an account and sign in. The first administrator is created at `/first_run`.",
  settings: {
    signupsDisabled: switchSetting({
      env: "PWP__DISABLE_SIGNUPS",
      doc: "Whether sign-up is disabled: people cannot create an account for themselves.",
      default: "false",
    }),
    loginsDisabled: switchSetting({
      env: "PWP__DISABLE_LOGINS",
      doc: "Whether sign-in is disabled; existing sessions are not accepted either. API tokens continue to work.",
      default: "false",
    }),
    signupEmailPattern: optionalSetting({
      env: "PWP__SIGNUP_EMAIL_REGEXP",
      doc: "The email addresses that may sign up, as in `\\A[^@\\s]+@example\\.com\\z`. `^` and `$` are the ends of a line and slashes are part of the expression, as in Ruby. An expression with what addresses do not need, such as `\\1`, `\\b`, `\\p{...}` or a class within a class, stops the start.",
      type: rubyRegularExpression,
      unset: "any",
    }),
    /** Only confirmed addresses may sign in, whether or not emails can be sent. */
    requiresConfirmation: switchSetting({
      env: "PWP__ENABLE_USER_ACCOUNT_EMAILS",
      doc: "Whether accounts get emails: to confirm an address, to reset a password, and notify of changes. A new account can then sign in only after its address is confirmed. Needs the mail settings. When off, a link to confirm an address is still sent to people who request it on their account page.",
      default: "false",
    }),
    requireSecondFactor: switchSetting({
      env: "PWP__REQUIRE_MFA",
      doc: "Whether every account must have two-step sign-in. Without it, people are sent to set it up and API calls get 403.",
      default: "false",
    }),
    sessionTimeoutSeconds: setting({
      env: "PWP__LOGIN_SESSION_TIMEOUT",
      doc: "How long a session lasts without activity. With the box to stay signed in, a session survives the browser and lasts 30 days without activity, or this time if it is longer.",
      type: secondsOf({
        minMs: minuteMs,
        maxMs: 90 * dayMs,
        allowed: "a number of seconds, or a duration such as 2 hours or 1 day, from 1 minute to 90 days",
      }),
      default: "2 hours",
    }),
    sessionMaxSeconds: setting({
      env: "PWP__LOGIN_SESSION_MAX",
      doc: "How long a session lasts at most from its sign-in, whatever its activity and with the box to stay signed in too.",
      type: secondsOf({
        minMs: minuteMs,
        maxMs: 365 * dayMs,
        allowed: "a number of seconds, or a duration such as 12 hours or 90 days, from 1 minute to 365 days",
      }),
      default: "90 days",
    }),
  },
};

/** @param canSendMail whether the mail settings are complete. */
export function accountsConfig(
  settings: ParsedGroup<typeof accountSettings>,
  { smtpAddress }: ParsedGroup<typeof mailSettings>,
  canSendMail: boolean,
  report: SettingReport,
) {
  const { requiresConfirmation } = settings;
  const isUndeliverable = requiresConfirmation.value && !canSendMail;
  if (isUndeliverable) {
    const missing = smtpAddress.given ? networkSettings.settings.overrideBaseUrl.env : smtpAddress.env;
    report.warn(
      `No email is sent: ${requiresConfirmation.env} needs ${missing}. Until then nobody can sign up, and accounts with an unconfirmed address cannot sign in.`,
    );
  }
  return {
    ...valuesOf(settings),
    /** This is also true if addresses must be confirmed and no email can be sent. */
    signupsDisabled: settings.signupsDisabled.value || isUndeliverable,
    /** Accounts confirm addresses, reset passwords and get notifications by email. Never true without `mail`. */
    emails: requiresConfirmation.value && canSendMail,
  };
}

/** @returns what differs from `accountsConfig` where single sign-on is the only way in. */
export function signOnOnlyConfig(
  singleSignOn: { readonly only: boolean } | undefined,
  { requireSecondFactor, loginsDisabled }: ParsedGroup<typeof accountSettings>,
  report: SettingReport,
) {
  if (singleSignOn?.only !== true) {
    if (requireSecondFactor.value && loginsDisabled.value) {
      report.warn(
        `With ${loginsDisabled.env} nobody can set up the two-step sign-in that ${requireSecondFactor.env} asks for: API tokens of accounts without it get 403. Turn one of them off.`,
      );
    }
    return { signOnOnly: false };
  }
  if (requireSecondFactor.value) {
    report.warn(
      `${requireSecondFactor.env} has no effect: with PWP__OIDC__ONLY two-step sign-in is the provider's. Require it there.`,
    );
  }
  return { signOnOnly: true, requireSecondFactor: false };
}
