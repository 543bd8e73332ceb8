import type { PushDeps } from "./deps.ts";
import { reportOf } from "./dispatches.ts";
import type { AuditEntry, AuditKind } from "./push.ts";

/** What became of the dispatches of one push, for the entries of its trail. */
export interface DispatchReports {
  /** What an entry has beyond other kinds; nothing for all but those of dispatches. */
  of(kind: AuditKind, sequence: number): Promise<Pick<AuditEntry, "dispatch">>;
}

/** Most trails have none, and need not be asked for them. */
export function createDispatchReports(
  { store, vault }: Pick<PushDeps, "store" | "vault">,
  pushId: number,
): DispatchReports {
  let read: ReturnType<typeof store.dispatches.ofPush> | undefined;
  return {
    async of(kind, sequence) {
      if (kind !== "creation_email_send") return {};
      read ??= store.dispatches.ofPush(pushId);
      const row = (await read).find((each) => each.sequence === sequence);
      return row === undefined ? {} : { dispatch: reportOf(row, vault.keyring) };
    },
  };
}
