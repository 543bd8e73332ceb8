import type { Transaction } from "../../database/database.ts";
import type { Administrator } from "../admin/admin-actions.ts";
import type { ClaimedGroups } from "../deps.ts";
import { recordAction } from "../store/administration.ts";

interface SignOn {
  readonly by: Administrator & { readonly userId: number };
  /** The values of the groups claim. */
  readonly values: readonly string[];
  readonly now: number;
}

/** Membership by the claim is what the last sign-on said. Requires the accounts lock. */
export async function joinClaimedGroups(
  tx: Transaction,
  { by, values, now }: SignOn,
  claimedGroups: ClaimedGroups,
): Promise<void> {
  const change = await claimedGroups.setByClaim(tx, by.userId, values, now);
  if (change === undefined) return;
  const shown = (names: readonly string[]) => names.join(", ") || "-";
  const subject = `${by.email}: ${shown(change.before)} → ${shown(change.after)}`;
  await recordAction(tx, { by, action: "groups_by_claim", subject, now });
}
