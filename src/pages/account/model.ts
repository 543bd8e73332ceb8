import { dayMs } from "../../base/clock.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { PartProps } from "../page.ts";
import { browserName } from "../parts/browser-name.ts";
import { mayConfirm } from "../push-form/form.ts";
import type { SignedInRequest } from "../request.ts";
import { providerNameOf } from "../single-sign-on/provider.ts";
import type { FormState } from "../take-form.ts";
import { type DefaultsForm, labelsOfDefaults, storedDefaults } from "./defaults-form.ts";
import type { AccountTab } from "./path.ts";

/** "0": a change of the password leaves API tokens valid. */
export const revokeTokensField = "revoke_tokens";

/** The tab that tells of what the user has just done. "confirmation": a link has been mailed; it says so next to the address. */
export const doneTabs = {
  email: "general",
  confirmed: "general",
  link: "general",
  confirmation: "general",
  language: "general",
  password: "access",
  session: "sessions",
  sessions: "sessions",
  defaults: "defaults",
} as const satisfies Readonly<Record<string, AccountTab>>;
export type Done = keyof typeof doneTabs;

/**
 * The labels of the controls that can have a problem, in the order of the page and by their ids; with the kind where several
 * have the same label.
 */
export function labelsOf(messages: Messages) {
  const { email, password, again, defaults, language } = messages.profile;
  return {
    email_confirmation: email.confirmation.send,
    email: email.new,
    email_password: again.password,
    current_password: password.current,
    new_password: password.new,
    first_kind: defaults.first,
    ...labelsOfDefaults(messages),
    language: language.label,
    delete_password: again.password,
  };
}

export type AccountField = keyof ReturnType<typeof labelsOf>;

/** What was typed and is shown again. */
export interface Typable {
  readonly newEmail?: string;
  readonly language?: string;
  readonly defaults?: DefaultsForm;
}

export interface Shown extends Typable {
  readonly tab: AccountTab;
  readonly done?: Done | null;
}

/** How long the page points out a new API token, and how many of them. */
const newTokenMs = 30 * dayMs;
const newTokensMax = 5;

export type AccountModel = Awaited<ReturnType<typeof accountModel>>;

/** @param state what was wrong with the form that was sent. */
export async function accountModel(page: SignedInRequest, shown: Shown, state: FormState<AccountField>) {
  const { accounts, config, clock } = page.services;
  const { messages } = page;
  const { id: currentId, user } = page.session;
  const [defaults, unconfirmedEmail, sessions, tokens] = await Promise.all([
    accounts.pushDefaults(user.id),
    accounts.unconfirmedEmail(user.id),
    accounts.listSessions(user.id),
    accounts.listTokens(user.id),
  ]);
  const now = clock.now();
  const tokensInUse = tokens.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? now + 1) > now);
  return {
    tab: shown.tab,
    done: shown.done ?? null,
    email: user.email,
    /** Single sign-on is the only way in: the account has no password and factors of this server. */
    signOnOnly: config.accounts.signOnOnly,
    hasPassword: user.hasPassword,
    hasSecondFactor: user.hasSecondFactor,
    unconfirmedEmail,
    now,
    provider: providerNameOf(config),
    /** A new address takes effect only after its owner has opened a mailed link. */
    confirmsByMail: config.accounts.emails,
    mayConfirm: mayConfirm(user, config),
    /** As typed, when the form is sent back. */
    newEmail: shown.newEmail ?? "",
    /** Tag; "": the browser's. */
    language: shown.language ?? user.language ?? "",
    defaults: shown.defaults ?? storedDefaults(defaults, config),
    sessions: sessions
      .map(({ userAgent, ...session }) => ({
        ...session,
        browser: browserName(userAgent, messages),
        current: session.id === currentId,
      }))
      .sort((a, b) => Number(b.current) - Number(a.current)),
    tokensInUse: tokensInUse.length,
    /** Made recently, newest first: their owner may not have made them. */
    newTokens: tokensInUse.filter(({ createdAt }) => now - createdAt < newTokenMs).slice(0, newTokensMax),
    state,
  };
}

export type AccountProps = PartProps<AccountModel>;
