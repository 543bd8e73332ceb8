import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { Passkey } from "../account.ts";
import { countAddedFactor, countRemovedFactor } from "./factors.ts";
import { passkeyChallenges, passkeys } from "./tables.ts";
import { nextId } from "./users.ts";

const reading = passkeys.reading("transports", "name", "createdAt", "lastUsedAt");
const select = (rest: string) => `SELECT ${reading.selectList} FROM passkeys ${rest}`;
type Row = UnopenedRow<typeof reading>;

/** A passkey with everything that its responses are verified against. */
export interface StoredPasskey {
  readonly id: number;
  readonly userId: number;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly transports: readonly string[];
}

const passkeysOf = sql<[userId: number], Row>(select("WHERE user_id = ? ORDER BY id"));
const passkeyByCredential = sql<[credentialId: Buffer], Row>(select("WHERE credential_id = ?"));
const passkeyById = sql<[passkeyId: number], Row>(select("WHERE id = ?"));
const insertPasskey = passkeys.insertion("ON CONFLICT (credential_id) DO NOTHING");
const removeOne = sql<[passkeyId: number]>("DELETE FROM passkeys WHERE id = ?");
const removeAll = sql<[userId: number]>("DELETE FROM passkeys WHERE user_id = ?");
const removeAnswered = sql<[answeredBefore: number]>("DELETE FROM passkey_challenges WHERE answered_at < ?");
const answerChallenge = passkeyChallenges.insert("ON CONFLICT (digest) DO NOTHING");

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

/** Functions that take a transaction require the accounts lock. */
export function createPasskeyStore({ read }: Pick<Database, "read">, access: AccessKeys) {
  const passkeysIn = async (connection: ReadConnection, userId: number) =>
    reading.openAll(access, await connection.all(passkeysOf, userId));

  return {
    /** In the order they were added. */
    listPasskeys: async (userId: number): Promise<readonly Passkey[]> =>
      (await passkeysIn(read, userId)).map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        name,
        createdAt,
        lastUsedAt,
      })),

    listCredentials: (userId: number): Promise<readonly StoredPasskey[]> => passkeysIn(read, userId),

    findCredential: async (credentialId: Buffer): Promise<StoredPasskey | undefined> =>
      reading.open(access, await read.one(passkeyByCredential, credentialId)),

    countPasskeys: async (tx: Transaction, userId: number) => (await passkeysIn(tx, userId)).length,

    /** @returns false: some user already has this credential. */
    async addPasskey(
      tx: Transaction,
      passkey: Omit<StoredPasskey, "id"> & { readonly name: string; readonly now: number },
    ): Promise<boolean> {
      const { now, ...row } = passkey;
      const id = await nextId(tx, "passkeys");
      const added = (await insertPasskey(tx, access, { ...row, id, createdAt: now })) === 1;
      if (added) await countAddedFactor(tx, access, passkey.userId);
      return added;
    },

    /**
     * @returns false: the passkey is gone, or its counter is not greater than the stored one (a copy of it may be in
     * use). Counters that are 0 on both sides mean that the authenticator does not count.
     */
    async claimPasskey(tx: Transaction, passkeyId: number, signCount: number, now: number): Promise<boolean> {
      const passkey = reading.open(access, await tx.one(passkeyById, passkeyId));
      if (passkey === undefined) return false;
      const isHigher = passkey.signCount < signCount || (passkey.signCount === 0 && signCount === 0);
      return isHigher && (await passkeys.change(tx, access, passkeyId, { signCount, lastUsedAt: now }));
    },

    /** Records the answer, and removes challenges answered before `expiredBefore`. @returns false: it was answered before. */
    async claimChallenge(tx: Transaction, digest: Buffer, now: number, expiredBefore: number): Promise<boolean> {
      await tx.run(removeAnswered, expiredBefore);
      return (await tx.run(answerChallenge, ...passkeyChallenges.values({ digest, answeredAt: now }))) === 1;
    },

    /** @returns its name; undefined: the user has no such passkey. */
    async removePasskey(tx: Transaction, userId: number, passkeyId: number): Promise<string | undefined> {
      // Removing a row that a writer of the database has inserted must not lower the number of factors.
      const passkey = reading.open(access, await tx.one(passkeyById, passkeyId));
      if (passkey?.userId !== userId) return undefined;
      await tx.run(removeOne, passkeyId);
      await countRemovedFactor(tx, access, userId);
      return passkey.name;
    },

    /** Leaves the number of factors to the caller. */
    async removePasskeys(tx: Transaction, userId: number): Promise<void> {
      await tx.run(removeAll, userId);
    },
  };
}
