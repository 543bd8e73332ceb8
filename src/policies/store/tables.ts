import type { AccessKeys } from "../../crypto/access-keys.ts";
import { AuthenticatedTable } from "../../database/authenticated-table.ts";
import type { Transaction } from "../../database/database.ts";
import { authenticated, boolean, harmless, integer, nullable, reasons, text } from "../../database/table.ts";

/** Authenticated: a group that somebody writes into the database could lead its members to weaker rules. */
export const userGroups = new AuthenticatedTable("user_groups", "group", {
  id: authenticated(integer),
  name: authenticated(text),
  /** Compared exactly with the values of the groups claim; null: only administrators make members. */
  claim: authenticated(nullable(text)),
  /** Members see the names, states and trails of each other's pushes. */
  sharesActivity: authenticated(boolean),
  createdAt: harmless(integer, reasons.shown),
});

export const groupMembers = new AuthenticatedTable("group_members", "member", {
  userId: authenticated(integer),
  groupId: authenticated(integer),
  /** The provider of single sign-on made the user a member; false: an administrator did. */
  byClaim: authenticated(boolean),
  addedAt: harmless(integer, reasons.shown),
});

/** Authenticated: a rule that somebody writes into the database could lead a whole organization to a weaker one. */
export const policies = new AuthenticatedTable("policies", "policy", {
  /** See `PolicyScope`. */
  scope: authenticated(text),
  /** null: the scope is no group. */
  groupId: authenticated(nullable(integer)),
  /** JSON. */
  rules: authenticated(text),
  /** Grows with every change. */
  revision: authenticated(integer),
  updatedAt: harmless(integer, reasons.shown),
});

/** For the transaction that replaces the access secret. */
export async function renewPolicies(tx: Transaction, from: AccessKeys, to: AccessKeys): Promise<void> {
  await policies.renew(tx, from, to, "scope");
  await userGroups.renew(tx, from, to, "id");
  await groupMembers.renew(tx, from, to, "userId", "groupId", "byClaim");
}
