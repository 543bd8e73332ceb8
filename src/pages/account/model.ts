import type { ApiToken, User } from "../../accounts/accounts.ts";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { PageContext } from "../page.ts";

export const accountPath = "/users/edit";

/** "0": a change of the password leaves API tokens valid. */
export const revokeTokensField = "revoke_tokens";

/** Whether the address is unconfirmed and the server can mail a confirmation link. */
export function mayConfirm({ confirmedAt }: Pick<User, "confirmedAt">, { mail }: Pick<Config, "mail">): boolean {
  return mail !== undefined && confirmedAt === null;
}

/** What the user has just done; the page confirms it at its top. */
const savedNames = ["email", "confirmed", "link", "password", "language", "defaults", "session", "sessions"] as const;
/** "confirmation": a link has been mailed; the page shows that next to the address. */
export const doneNames = [...savedNames, "confirmation"] as const;
export type Done = (typeof doneNames)[number];

/** "1", "0" or "": the server's default. */
export type Choice = string;

/** The defaults of one kind as typed. */
export interface KindValues {
  readonly days: string;
  readonly views: string;
  readonly retrievalStep: Choice;
  readonly deletableByViewer: Choice;
}

export interface KindForm {
  readonly kind: KindName;
  /** The server's settings of this kind. */
  readonly settings: KindSettings;
  readonly values: KindValues;
}

export interface DefaultsForm {
  /** "": the server's default. */
  readonly first: string;
  /** The server's default. */
  readonly serverFirst: KindName;
  readonly kinds: readonly KindForm[];
}

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
  | `${KindName}_${"days" | "views" | "retrieval_step" | "deletable_by_viewer"}`;

export type AccountProblems = Readonly<Partial<Record<AccountField, string>>>;

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
  readonly problems: AccountProblems;
  /** Why no form can be taken now; null: none was refused for that. */
  readonly refusal: string | null;
  readonly now: number;
}

const kindFields = ["days", "views", "retrieval_step", "deletable_by_viewer"] as const;
const fieldsOf = (kind: KindName) => kindFields.map((name) => `${kind}_${name}` as const);

/** In the order of the page. */
export const accountFields: readonly AccountField[] = [
  ...(["email_confirmation", "email", "email_password", "current_password", "new_password", "first_kind"] as const),
  ...kindNames.flatMap(fieldsOf),
  ...(["language", "delete_password"] as const),
];

/** The label of the field, with its kind where several fields have the same label. */
export function labelOf(field: AccountField, { profile, newPush, kinds, problems }: Messages): string {
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
  const labels = {
    days: newPush.days,
    views: newPush.views,
    retrieval_step: newPush.retrievalStep,
    deletable_by_viewer: newPush.deletable,
  };
  const kind = kindNames.find((name) => field.startsWith(`${name}_`)) ?? "text";
  const name = kindFields.find((found) => field === `${kind}_${found}`) ?? "days";
  return problems.of({ field: kinds[kind], problem: labels[name] });
}

export interface AccountProps {
  readonly model: AccountModel;
  readonly page: PageContext;
}
