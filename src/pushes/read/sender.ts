import type { PushDeps } from "../deps.ts";
import { hasProvenOwner } from "../present-push.ts";
import type { Push } from "../push.ts";
import type { PushRow } from "../store/tables.ts";

/**
 * The address that everybody with the link may see; null: none. A push whose owner was changed in the database shows none:
 * recipients trust the address.
 */
export async function senderOf({ emails, vault }: PushDeps, row: PushRow, urlToken: string): Promise<string | null> {
  const { ownerId, senderShown, isAnswer } = row;
  if (!senderShown || isAnswer === 1 || ownerId === null || !hasProvenOwner(row, urlToken, vault)) return null;
  const owner = await emails.findOwner(ownerId);
  return owner?.isConfirmed === true && !owner.isDisabled ? owner.email : null;
}

export function senderOperations(deps: PushDeps) {
  return {
    /** See `senderOf`. A push that has ended shows none. */
    async findSender({ urlToken, showsSender, expired }: Push): Promise<string | null> {
      // Most pushes show none, and cost no read.
      if (!showsSender || expired) return null;
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      return row === undefined ? null : await senderOf(deps, row, urlToken);
    },
  };
}
