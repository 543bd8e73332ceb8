import type { User } from "../../accounts/accounts.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";

export const accountPath = "/users/edit";

/** Whether a link to confirm the e-mail is of use, and can be mailed. */
export function mayConfirm({ confirmedAt }: Pick<User, "confirmedAt">, { mail }: Pick<Config, "mail">): boolean {
  return mail !== undefined && confirmedAt === null;
}

/** What somebody just did, told once at the head of the page. */
const savedNames = ["email", "confirmed", "link", "password", "language", "defaults", "session", "sessions"] as const;
/** "confirmation": a link is on its way, which is told beside the address. */
export const doneNames = [...savedNames, "confirmation"] as const;
export type Done = (typeof doneNames)[number];

/** "": as the server has it; else "1" or "0". */
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
  /** The instance's own. */
  readonly settings: Pick<KindSettings, "days" | "views" | "retrievalStep" | "deletableByViewer">;
  readonly values: KindValues;
}

export interface DefaultsForm {
  /** "": as the server has it. */
  readonly first: string;
  /** What the server has. */
  readonly serverFirst: KindName;
  readonly kinds: readonly KindForm[];
}

/** Ids of the controls that something can be wrong with. */
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
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** Of single sign-on, as `providerNameOf` says. */
  readonly provider: string | null;
  /** A new address counts only once a mailed link was opened. */
  readonly confirmsByMail: boolean;
  readonly unconfirmedEmail: string | null;
  /** The address is not confirmed, and a link for that can be mailed there. */
  readonly mayConfirm: boolean;
  /** As typed, when the form is sent back. */
  readonly newEmail: string;
  /** Tag; "": the browser's. */
  readonly language: string;
  readonly defaults: DefaultsForm;
  readonly sessions: readonly SessionRow[];
  readonly tokensInUse: number;
  readonly done: Done | null;
  readonly problems: AccountProblems;
  readonly now: number;
}
