import type { ApiToken } from "../../accounts/accounts.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { PartProps } from "../page.ts";
import type { FormState } from "../take-form.ts";
import { type DefaultField, type DefaultsForm, defaultFields, labelOfDefault } from "./defaults-form.ts";
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

/** Ids of the controls that can have a problem. */
export type AccountField =
  | "email_confirmation"
  | "email"
  | "email_password"
  | "current_password"
  | "new_password"
  | "language"
  | "first_kind"
  | "delete_password"
  | DefaultField;

/** Times in milliseconds since the epoch. */
export interface SessionRow {
  readonly id: number;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly address: string;
  readonly browser: string;
  readonly current: boolean;
}

export interface AccountModel {
  readonly tab: AccountTab;
  readonly email: string;
  /** Single sign-on is the only way in: the account has no password and factors of this server. */
  readonly signOnOnly: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The name of the single sign-on provider; see `providerNameOf`. */
  readonly provider: string | null;
  /** A new address takes effect only after its owner has opened a mailed link. */
  readonly confirmsByMail: boolean;
  readonly unconfirmedEmail: string | null;
  /** See `mayConfirm`. */
  readonly mayConfirm: boolean;
  /** As typed, when the form is sent back. */
  readonly newEmail: string;
  /** Tag; "": the browser's. */
  readonly language: string;
  readonly defaults: DefaultsForm;
  readonly sessions: readonly SessionRow[];
  readonly tokensInUse: number;
  /** Made recently, newest first: their owner may not have made them. */
  readonly newTokens: readonly Pick<ApiToken, "id" | "name" | "createdAt">[];
  readonly done: Done | null;
  /** What was wrong with the form that was sent. */
  readonly state: FormState<AccountField>;
  readonly now: number;
}

/** In the order of the page. */
export const accountFields: readonly AccountField[] = [
  ...(["email_confirmation", "email", "email_password", "current_password", "new_password", "first_kind"] as const),
  ...defaultFields,
  ...(["language", "delete_password"] as const),
];

/** The label of the field, with its kind where several fields have the same label. */
export function labelOf(field: AccountField, messages: Messages): string {
  const { profile } = messages;
  switch (field) {
    case "email_confirmation":
      return profile.email.confirmation.send;
    case "email":
      return profile.email.new;
    case "email_password":
    case "delete_password":
      return profile.again.password;
    case "current_password":
      return profile.password.current;
    case "new_password":
      return profile.password.new;
    case "first_kind":
      return profile.defaults.first;
    case "language":
      return profile.language.label;
  }
  return labelOfDefault(field, messages);
}

export type AccountProps = PartProps<AccountModel>;
