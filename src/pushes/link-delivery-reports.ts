import type { PushDeps } from "./deps.ts";
import { reportOf } from "./link-deliveries.ts";
import type { AuditEntry, AuditKind } from "./push.ts";

/** What became of the link deliveries of one push, for the entries of its trail. */
export interface LinkDeliveryReports {
  /** What an entry has beyond other kinds; nothing for all but those of link deliveries. */
  of(kind: AuditKind, sequence: number): Promise<Pick<AuditEntry, "linkDelivery">>;
}

/** Most trails have none, and need not be asked for them. */
export function createLinkDeliveryReports(
  { store, vault }: Pick<PushDeps, "store" | "vault">,
  pushId: number,
): LinkDeliveryReports {
  let read: ReturnType<typeof store.linkDeliveries.ofPush> | undefined;
  return {
    async of(kind, sequence) {
      if (kind !== "creation_email_send") return {};
      read ??= store.linkDeliveries.ofPush(pushId);
      const row = (await read).find((each) => each.sequence === sequence);
      return row === undefined ? {} : { linkDelivery: reportOf(row, vault.keyring) };
    },
  };
}
