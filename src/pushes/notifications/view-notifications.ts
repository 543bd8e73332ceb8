import type { Keyring } from "../../crypto/keyring.ts";
import type { PushDeps } from "../deps.ts";
import { sealContexts } from "../seals.ts";
import type { ViewNotification } from "../store/notifications.ts";
import type { PushRow } from "../store/tables.ts";

const batchRows = 50;

/**
 * Puts the mails that tell owners of counted views. A view and its notice are one write, a notice and its mail another:
 * so a claim waits for no mail, no crash loses one, and each view is told of once.
 */
export async function tellOfViews(
  deps: Pick<PushDeps, "store" | "letters" | "vault" | "clock">,
  stop: AbortSignal,
): Promise<void> {
  for (;;) {
    const notices = await deps.store.viewNotifications.waiting(batchRows);
    for (const notice of notices) {
      if (stop.aborted) return;
      await tell(deps, notice);
    }
    if (notices.length < batchRows) return;
  }
}

async function tell(
  { store, letters, vault, clock }: Pick<PushDeps, "store" | "letters" | "vault" | "clock">,
  notice: ViewNotification,
): Promise<void> {
  const { row, viewedAt, address, userAgent, sequence } = notice;
  const owner = row.ownerId === null ? undefined : await letters.findOwner(row.ownerId);
  const letter =
    owner?.isConfirmed === true
      ? {
          ...{ to: owner.email, language: owner.language },
          name: nameOf(vault.keyring, row),
          ...{ kind: row.kind, createdAt: row.createdAt, viewedAt, address, userAgent },
          ...{ views: row.views, expireAfterViews: row.expireAfterViews },
        }
      : undefined;
  await store.viewNotifications.take({ sequence, row }, async (tx) => {
    if (letter !== undefined) await letters.putViewNotification(tx, letter, clock.now());
  });
}

/** One that does not open - damaged, or its master key is gone - must not hold up the mails of all other owners. */
function nameOf(keyring: Keyring, { id, nameSealed }: PushRow): string {
  return (nameSealed && keyring.open(sealContexts.name(id), nameSealed)?.toString("utf8")) ?? "";
}
