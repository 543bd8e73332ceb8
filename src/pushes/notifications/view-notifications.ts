import type { Keyring } from "../../crypto/keyring.ts";
import type { PushDeps } from "../deps.ts";
import { isSealedLabel } from "../present-push.ts";
import type { ViewNotification } from "../store/notifications.ts";
import { type PushRow, pushes } from "../store/tables.ts";

const batchRows = 50;

/**
 * Queues the emails that notify owners of counted views. A view and its notification are one write, a notification and
 * its email another. So a claim does not wait for an email, a crash loses none, and each view is notified once.
 */
export async function notifyOfViews(
  deps: Pick<PushDeps, "store" | "emails" | "vault" | "clock">,
  stop: AbortSignal,
): Promise<void> {
  for (;;) {
    const notifications = await deps.store.viewNotifications.waiting(batchRows);
    // They wait here, in rows of a few bytes, and not as emails.
    if (notifications.length > 0 && (await deps.emails.isFull())) return;
    for (const notification of notifications) {
      if (stop.aborted) return;
      await notify(deps, notification);
    }
    if (notifications.length < batchRows) return;
  }
}

async function notify(
  { store, emails, vault, clock }: Pick<PushDeps, "store" | "emails" | "vault" | "clock">,
  notification: ViewNotification,
): Promise<void> {
  const { row, viewedAt, address, userAgent, sequence } = notification;
  const owner = row.ownerId === null ? undefined : await emails.findOwner(row.ownerId);
  const email =
    owner?.isConfirmed === true
      ? {
          to: owner.email,
          language: owner.language,
          name: nameOf(vault.keyring, row),
          kind: row.kind,
          createdAt: row.createdAt,
          viewedAt,
          address,
          userAgent,
          views: row.views,
          expireAfterViews: row.expireAfterViews,
        }
      : undefined;
  await store.viewNotifications.take({ sequence, row }, async (tx) => {
    if (email !== undefined) await emails.putViewNotification(tx, email, clock.now());
  });
}

/**
 * Returns "" for a name that does not open (damaged, or its master key is missing), because it must not block other emails,
 * and for one that was sealed in a browser.
 */
function nameOf(keyring: Keyring, row: PushRow): string {
  const name = (row.nameSealed && keyring.open(pushes.seals.name, row, row.nameSealed)?.toString("utf8")) ?? "";
  return isSealedLabel(name) ? "" : name;
}
