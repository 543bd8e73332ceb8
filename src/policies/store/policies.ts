import type { AccessKeys } from "../../crypto/access-keys.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, InTransaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, harmless, integer, reasons, text } from "../../database/table.ts";

/** Authenticated: a rule that somebody writes into the database could lead a whole organization to a weaker one. */
export const policies = new AuthenticatedTable("policies", "policy", {
  /** Whom the rules are for: `instance`. */
  scope: authenticated(text),
  /** JSON. */
  rules: authenticated(text),
  /** Grows with every change. */
  revision: authenticated(integer),
  updatedAt: harmless(integer, reasons.shown),
});
const reading = policies.reading();
type UnopenedPolicy = UnopenedRow<typeof reading>;

export interface StoredPolicy {
  readonly rules: string;
  readonly revision: number;
}

const instanceScope = "instance";
const ofScope = sql<[scope: string], UnopenedPolicy>(`SELECT ${reading.selectList} FROM policies WHERE scope = ?`);
const put = policies.insertion(
  `ON CONFLICT (scope) DO UPDATE SET rules = excluded.rules, revision = excluded.revision,
     updated_at = excluded.updated_at, mac = excluded.mac`,
);

export type PolicyStore = ReturnType<typeof createPolicyStore>;

export function createPolicyStore(db: Database, access: AccessKeys) {
  const opened = (row: UnopenedPolicy | undefined): StoredPolicy | undefined => row && reading.open(access, row);
  return {
    /** undefined: none was ever saved, or the row is not this server's, which is reported. */
    read: async (): Promise<StoredPolicy | undefined> => opened(await db.read.one(ofScope, instanceScope)),
    /** @returns false: the stored revision is not `revision` any more, so nothing was written. */
    async save(rules: string, revision: number, now: number, together: InTransaction): Promise<boolean> {
      return await db.writeSerialized("accounts", async (tx) => {
        const stored = opened(await tx.one(ofScope, instanceScope));
        if ((stored?.revision ?? 0) !== revision) return false;
        await put(tx, access, { scope: instanceScope, rules, revision: revision + 1, updatedAt: now });
        await together(tx);
        return true;
      });
    },
  };
}
