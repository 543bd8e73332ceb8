import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { RowOf } from "../../database/table.ts";
import { passkeyChallenges, passkeys } from "./tables.ts";
import { nextId } from "./users.ts";

const credentials = passkeys.pick("id", "userId", "credentialId", "publicKey", "signCount", "transports");
/** A passkey with everything that its responses are verified against. */
export type StoredPasskey = RowOf<typeof credentials>;

const passkeysOf = passkeys
  .pick("id", "name", "createdAt", "lastUsedAt")
  .select<[userId: number]>("WHERE user_id = ? ORDER BY id");
const credentialsOf = credentials.select<[userId: number]>("WHERE user_id = ? ORDER BY id");
const credentialById = credentials.select<[credentialId: Buffer]>("WHERE credential_id = ?");
const passkeyCount = sql<[userId: number], { count: number }>(
  "SELECT count(*) AS count FROM passkeys WHERE user_id = ?",
);
const insertPasskey = passkeys.insert("ON CONFLICT (credential_id) DO NOTHING");
const removeOne = sql<[passkeyId: number, userId: number], { name: string }>(
  "DELETE FROM passkeys WHERE id = ? AND user_id = ? RETURNING name",
);
const removeAll = sql<[userId: number]>("DELETE FROM passkeys WHERE user_id = ?");
const claimUse = sql<[signCount: number, usedAt: number, passkeyId: number, signCount: number, signCount: number]>(
  `UPDATE passkeys SET sign_count = ?, last_used_at = ?
   WHERE id = ? AND (sign_count < ? OR (sign_count = 0 AND CAST(? AS BIGINT) = 0))`,
);
const removeAnswered = sql<[answeredBefore: number]>("DELETE FROM passkey_challenges WHERE answered_at < ?");
const answerChallenge = passkeyChallenges.insert("ON CONFLICT (digest) DO NOTHING");

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

/** Functions that take a transaction require the accounts lock. */
export function createPasskeyStore({ read }: Pick<Database, "read">) {
  return {
    /** In the order they were added. */
    listPasskeys: (userId: number) => read.all(passkeysOf, userId),

    listCredentials: async (userId: number) =>
      (await read.all(credentialsOf, userId)).map((row) => credentials.decode(row)),

    async findCredential(credentialId: Buffer): Promise<StoredPasskey | undefined> {
      const row = await read.one(credentialById, credentialId);
      return row === undefined ? undefined : credentials.decode(row);
    },

    countPasskeys: async (tx: Transaction, userId: number) => (await tx.one(passkeyCount, userId))?.count ?? 0,

    /** @returns false: some user already has this credential. */
    async addPasskey(
      tx: Transaction,
      passkey: Omit<StoredPasskey, "id"> & { readonly name: string; readonly now: number },
    ): Promise<boolean> {
      const { now, ...row } = passkey;
      const id = await nextId(tx, "passkeys");
      return (await tx.run(insertPasskey, ...passkeys.values({ ...row, id, createdAt: now }))) === 1;
    },

    /**
     * @returns false: the passkey is gone, or its counter is not greater than the stored one (a copy of it may be in
     * use). Counters that are 0 on both sides mean that the authenticator does not count.
     */
    claimPasskey: async (tx: Transaction, passkeyId: number, signCount: number, now: number): Promise<boolean> =>
      (await tx.run(claimUse, signCount, now, passkeyId, signCount, signCount)) === 1,

    /** Also removes challenges answered before `expiredBefore`. @returns false: it was answered before. */
    async claimChallenge(tx: Transaction, digest: Buffer, now: number, expiredBefore: number): Promise<boolean> {
      await tx.run(removeAnswered, expiredBefore);
      return (await tx.run(answerChallenge, ...passkeyChallenges.values({ digest, answeredAt: now }))) === 1;
    },

    /** @returns its name; undefined: the user has no such passkey. */
    removePasskey: async (tx: Transaction, userId: number, passkeyId: number): Promise<string | undefined> =>
      (await tx.one(removeOne, passkeyId, userId))?.name,

    async removePasskeys(tx: Transaction, userId: number): Promise<void> {
      await tx.run(removeAll, userId);
    },
  };
}
