import type { User } from "../account.ts";

export interface UserSummary {
  readonly user: User;
  readonly lastSignedInAt: number | null;
  /** Complete sign-ins, with the second factor where there is one. */
  readonly signInCount: number;
  readonly tokensInUse: number;
}

/** The person who makes the change. Commands in a shell have neither user nor address. */
export interface Administrator {
  readonly userId: number | null;
  readonly email: string;
  readonly address: string;
}

/** An entry of the audit trail of administrators. `subject`: an email address, an id or a name; never a secret. */
export interface AdminEntry {
  readonly createdAt: number;
  readonly adminId: number | null;
  readonly adminEmail: string;
  readonly action: AdminAction;
  readonly subject: string;
  readonly address: string;
}

/**
 * Entries that users of the identity provider cause, and those that the provider causes over SCIM. So that they cannot displace the
 * others, only the newest 1,000 of each are kept.
 */
export const boundedActions = {
  signOns: ["refused_sign_on", "admin_by_group", "groups_by_claim", "relinked"],
  scim: ["scim_created", "scim_changed", "scim_disabled", "scim_enabled", "scim_deleted"],
} as const;

export const adminActions = [
  "made_admin",
  "removed_admin",
  "disabled",
  "enabled",
  "reset_factors",
  "ended_sessions",
  "ended_some_sessions",
  "deleted_user",
  "created_user",
  "confirmed_email",
  "changed_email",
  "asked_to_change_email",
  "set_password",
  "ended_push",
  "ended_pushes",
  "ended_links",
  "deleted_push",
  "read_trail",
  "retried_mail",
  "retried_mails",
  "retried_deletions",
  "discarded_mail",
  "changed_branding",
  "changed_rules",
  "changed_presets",
  "created_group",
  "changed_group",
  "deleted_group",
  "added_member",
  "removed_member",
  "made_service_token",
  "revoked_service_token",
  "restored_backup",
  "made_break_glass",
  "used_break_glass",
  "allowed_relinking",
  ...boundedActions.signOns,
  ...boundedActions.scim,
] as const;

export type AdminAction = (typeof adminActions)[number];

/** `user`: as it was before. "last_admin": no administrator would be left, so nothing was changed. */
export type Change = { readonly outcome: "done" | "last_admin"; readonly user: User } | { readonly outcome: "unknown" };
