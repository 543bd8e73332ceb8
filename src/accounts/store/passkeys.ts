import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { Passkey } from "../account.ts";
import { nextId } from "./users.ts";

/** A passkey with everything that its responses are verified against. */
export interface StoredPasskey {
  readonly id: number;
  readonly userId: number;
  readonly credentialId: Buffer;
  /** COSE (RFC 9052). */
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly transports: readonly string[];
}

interface CredentialRow extends Omit<StoredPasskey, "transports"> {
  /** Separated by spaces. */
  readonly transports: string;
}

const columns = `id, user_id AS userId, credential_id AS credentialId, public_key AS publicKey,
  sign_count AS signCount, transports`;

const passkeysOf = sql<[userId: number], Passkey>(
  `SELECT id, name, created_at AS createdAt, last_used_at AS lastUsedAt FROM passkeys
   WHERE user_id = ? ORDER BY id`,
);
const credentialsOf = sql<[userId: number], CredentialRow>(
  `SELECT ${columns} FROM passkeys WHERE user_id = ? ORDER BY id`,
);
const credentialById = sql<[credentialId: Buffer], CredentialRow>(
  `SELECT ${columns} FROM passkeys WHERE credential_id = ?`,
);
const passkeyCount = sql<[userId: number], { count: number }>(
  "SELECT count(*) AS count FROM passkeys WHERE user_id = ?",
);
const insertPasskey = sql<
  [
    id: number,
    userId: number,
    name: string,
    credentialId: Buffer,
    publicKey: Buffer,
    signCount: number,
    transports: string,
    createdAt: number,
  ]
>(
  `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, sign_count, transports, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (credential_id) DO NOTHING`,
);
const removeOne = sql<[passkeyId: number, userId: number], { name: string }>(
  "DELETE FROM passkeys WHERE id = ? AND user_id = ? RETURNING name",
);
const removeAll = sql<[userId: number]>("DELETE FROM passkeys WHERE user_id = ?");
const claimUse = sql<[signCount: number, usedAt: number, passkeyId: number, signCount: number, signCount: number]>(
  `UPDATE passkeys SET sign_count = ?, last_used_at = ?
   WHERE id = ? AND (sign_count < ? OR (sign_count = 0 AND CAST(? AS BIGINT) = 0))`,
);
const removeAnswered = sql<[answeredBefore: number]>("DELETE FROM passkey_challenges WHERE answered_at < ?");
const answerChallenge = sql<[digest: Buffer, answeredAt: number]>(
  "INSERT INTO passkey_challenges (digest, answered_at) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING",
);

function toCredential(row: CredentialRow): StoredPasskey {
  return { ...row, transports: row.transports.split(" ").filter((transport) => transport !== "") };
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>;

/** Functions that take a transaction require the accounts lock. */
export function createPasskeyStore({ read }: Pick<Database, "read">) {
  return {
    /** In the order they were added. */
    listPasskeys: (userId: number) => read.all(passkeysOf, userId),

    listCredentials: async (userId: number) => (await read.all(credentialsOf, userId)).map(toCredential),

    async findCredential(credentialId: Buffer): Promise<StoredPasskey | undefined> {
      const row = await read.one(credentialById, credentialId);
      return row === undefined ? undefined : toCredential(row);
    },

    countPasskeys: async (tx: Transaction, userId: number) => (await tx.one(passkeyCount, userId))?.count ?? 0,

    /** @returns false: some user already has this credential. */
    async addPasskey(
      tx: Transaction,
      passkey: Omit<StoredPasskey, "id"> & { readonly name: string; readonly now: number },
    ): Promise<boolean> {
      const { userId, name, credentialId, publicKey, signCount, transports, now } = passkey;
      const id = await nextId(tx, "passkeys");
      const joined = transports.join(" ");
      return (await tx.run(insertPasskey, id, userId, name, credentialId, publicKey, signCount, joined, now)) === 1;
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
      return (await tx.run(answerChallenge, digest, now)) === 1;
    },

    /** @returns its name; undefined: the user has no such passkey. */
    removePasskey: async (tx: Transaction, userId: number, passkeyId: number): Promise<string | undefined> =>
      (await tx.one(removeOne, passkeyId, userId))?.name,

    async removePasskeys(tx: Transaction, userId: number): Promise<void> {
      await tx.run(removeAll, userId);
    },
  };
}
