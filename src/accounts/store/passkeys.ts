import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { Passkey } from "../account.ts";
import { nextId } from "./users.ts";

/** A passkey with what its answers are checked against. */
export interface StoredPasskey {
  readonly id: number;
  readonly userId: number;
  readonly credentialId: Buffer;
  /** COSE (RFC 9052). */
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly transports: readonly string[];
}

export interface PasskeyStore extends PasskeyUnit {
  /** In the order they were added. */
  listPasskeys(userId: number): Promise<readonly Passkey[]>;
  listCredentials(userId: number): Promise<readonly StoredPasskey[]>;
  findCredential(credentialId: Buffer): Promise<StoredPasskey | undefined>;
}

/** For transactions of the accounts' turn. */
export interface PasskeyUnit {
  countPasskeys(tx: Transaction, userId: number): Promise<number>;
  /** false: this credential is known already, to whomever. */
  addPasskey(
    tx: Transaction,
    passkey: Omit<StoredPasskey, "id"> & { readonly name: string; readonly now: number },
  ): Promise<boolean>;
  /**
   * false: the passkey is gone, or its counter is not beyond the one stored (a copy of it may be in use). Counters that
   * stand at 0 on both sides are not kept by the authenticator and say nothing.
   */
  claimPasskey(tx: Transaction, passkeyId: number, signCount: number, now: number): Promise<boolean>;
  /** false: the challenge was answered before. Forgets those answered before `forgetBefore`, which have run out. */
  claimChallenge(tx: Transaction, digest: Buffer, now: number, forgetBefore: number): Promise<boolean>;
  /** @returns its name; undefined: the user has no such passkey. */
  removePasskey(tx: Transaction, userId: number, passkeyId: number): Promise<string | undefined>;
  removePasskeys(tx: Transaction, userId: number): Promise<void>;
}

interface CredentialRow extends Omit<StoredPasskey, "transports"> {
  /** Messages between blanks. */
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
const forgetAnswered = sql<[answeredBefore: number]>("DELETE FROM passkey_challenges WHERE answered_at < ?");
const answerChallenge = sql<[digest: Buffer, answeredAt: number]>(
  "INSERT INTO passkey_challenges (digest, answered_at) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING",
);

function toCredential(row: CredentialRow): StoredPasskey {
  return { ...row, transports: row.transports.split(" ").filter((transport) => transport !== "") };
}

export function createPasskeyStore({ read }: Pick<Database, "read">): PasskeyStore {
  return {
    listPasskeys: (userId) => read.all(passkeysOf, userId),
    listCredentials: async (userId) => (await read.all(credentialsOf, userId)).map(toCredential),
    async findCredential(credentialId) {
      const row = await read.one(credentialById, credentialId);
      return row === undefined ? undefined : toCredential(row);
    },
    ...{ ...changes, ...claims },
  };
}

const changes: Pick<PasskeyUnit, "countPasskeys" | "addPasskey" | "removePasskey" | "removePasskeys"> = {
  countPasskeys: async (tx, userId) => (await tx.one(passkeyCount, userId))?.count ?? 0,
  async addPasskey(tx, { userId, name, credentialId, publicKey, signCount, transports, now }) {
    const id = await nextId(tx, "passkeys");
    const messages = transports.join(" ");
    return (await tx.run(insertPasskey, id, userId, name, credentialId, publicKey, signCount, messages, now)) === 1;
  },
  removePasskey: async (tx, userId, passkeyId) => (await tx.one(removeOne, passkeyId, userId))?.name,
  async removePasskeys(tx, userId) {
    await tx.run(removeAll, userId);
  },
};

const claims: Pick<PasskeyUnit, "claimPasskey" | "claimChallenge"> = {
  claimPasskey: async (tx, passkeyId, signCount, now) =>
    (await tx.run(claimUse, signCount, now, passkeyId, signCount, signCount)) === 1,
  async claimChallenge(tx, digest, now, forgetBefore) {
    await tx.run(forgetAnswered, forgetBefore);
    return (await tx.run(answerChallenge, digest, now)) === 1;
  },
};
