import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { knownClients } from "./tables.ts";
import { allBeyond } from "./users.ts";

const seeAgain = sql<[now: number, userId: number, digest: Buffer]>(
  "UPDATE known_clients SET seen_at = ? WHERE user_id = ? AND digest = ?",
);
const anyClient = sql<[userId: number], { one: number }>(
  "SELECT 1 AS one FROM known_clients WHERE user_id = ? LIMIT 1",
);
const dropOldest = sql<[userId: number, sameUserId: number, keptMax: number]>(
  `DELETE FROM known_clients WHERE user_id = ? AND digest IN
     (SELECT digest FROM known_clients WHERE user_id = ? ORDER BY seen_at DESC, digest ${allBeyond})`,
);
const insertClient = knownClients.insert();
const findClient = sql<[userId: number, digest: Buffer], { one: number }>(
  "SELECT 1 AS one FROM known_clients WHERE user_id = ? AND digest = ?",
);

export type KnownClientStore = ReturnType<typeof createKnownClientStore>;

export function createKnownClientStore({ read }: Database) {
  return {
    /**
     * Requires the accounts lock. Keeps the `perUserMax` clients seen last.
     * @returns whether the client was known before; "first": the account had no client yet.
     */
    async noteClient(
      tx: Transaction,
      userId: number,
      { digest, now, perUserMax }: { readonly digest: Buffer; readonly now: number; readonly perUserMax: number },
    ): Promise<"known" | "new" | "first"> {
      if ((await tx.run(seeAgain, now, userId, digest)) === 1) return "known";
      const first = (await tx.one(anyClient, userId)) === undefined;
      // Before the new client is inserted: it must stay even if the clock was set back since the others were seen.
      await tx.run(dropOldest, userId, userId, perUserMax - 1);
      await tx.run(insertClient, ...knownClients.values({ userId, digest, seenAt: now }));
      return first ? "first" : "new";
    },

    hasClient: async (userId: number, digest: Buffer) => (await read.one(findClient, userId, digest)) !== undefined,
  };
}
