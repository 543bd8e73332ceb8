import type { Database } from "../../db/sqlite.ts";
import type { Passkey } from "../account.ts";
import { countedIds } from "./counted-ids.ts";

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

export interface PasskeyStore {
  /** In the order they were added. */
  listPasskeys(userId: number): readonly Passkey[];
  listCredentials(userId: number): readonly StoredPasskey[];
  findCredential(credentialId: Buffer): StoredPasskey | undefined;
  readonly inUnit: PasskeyUnit;
}

/** Each runs inside a unit of `db.write`. */
export interface PasskeyUnit {
  countPasskeys(userId: number): number;
  /** false: this credential is known already, to whomever. */
  addPasskey(passkey: Omit<StoredPasskey, "id"> & { readonly name: string; readonly now: number }): boolean;
  /**
   * false: the passkey is gone, or its counter is not beyond the one stored (a copy of it may be in use). Counters that
   * stand at 0 on both sides are not kept by the authenticator and say nothing.
   */
  claimPasskey(passkeyId: number, signCount: number, now: number): boolean;
  /** false: the challenge was answered before. Forgets those answered before `forgetBefore`, which have run out. */
  claimChallenge(digest: Buffer, now: number, forgetBefore: number): boolean;
  /** @returns its name; undefined: the user has no such passkey. */
  removePasskey(userId: number, passkeyId: number): string | undefined;
  removePasskeys(userId: number): void;
}

interface CredentialRow {
  id: number;
  user_id: number;
  credential_id: Buffer;
  public_key: Buffer;
  sign_count: number;
  transports: string;
}

const columns = "id, user_id, credential_id, public_key, sign_count, transports";

function toCredential(row: CredentialRow): StoredPasskey {
  return {
    id: row.id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    signCount: row.sign_count,
    transports: row.transports.split(" ").filter((transport) => transport !== ""),
  };
}

export function createPasskeyStore(db: Database): PasskeyStore {
  const list = db.reader.prepare<[number], Passkey>(
    `SELECT id, name, created_at AS createdAt, last_used_at AS lastUsedAt FROM passkeys
     WHERE user_id = ? ORDER BY id`,
  );
  const credentials = db.reader.prepare<[number], CredentialRow>(
    `SELECT ${columns} FROM passkeys WHERE user_id = ? ORDER BY id`,
  );
  const find = db.reader.prepare<[Buffer], CredentialRow>(`SELECT ${columns} FROM passkeys WHERE credential_id = ?`);
  return {
    listPasskeys: (userId) => list.all(userId),
    listCredentials: (userId) => credentials.all(userId).map(toCredential),
    findCredential(credentialId) {
      const row = find.get(credentialId);
      return row === undefined ? undefined : toCredential(row);
    },
    inUnit: { ...prepareChanges(db), ...prepareClaims(db) },
  };
}

function prepareChanges(
  db: Database,
): Pick<PasskeyUnit, "countPasskeys" | "addPasskey" | "removePasskey" | "removePasskeys"> {
  const nextId = countedIds(db);
  const count = db.writer.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM passkeys WHERE user_id = ?",
  );
  const known = db.writer.prepare<[Buffer], { id: number }>("SELECT id FROM passkeys WHERE credential_id = ?");
  const insert = db.writer.prepare<[number, number, string, Buffer, Buffer, number, string, number]>(
    `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, sign_count, transports, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = db.writer.prepare<[number, number], { name: string }>(
    "DELETE FROM passkeys WHERE id = ? AND user_id = ? RETURNING name",
  );
  const removeAll = db.writer.prepare<[number]>("DELETE FROM passkeys WHERE user_id = ?");
  return {
    countPasskeys: (userId) => count.get(userId)?.count ?? 0,
    addPasskey({ userId, name, credentialId, publicKey, signCount, transports, now }) {
      if (known.get(credentialId) !== undefined) return false;
      const id = nextId("passkeys");
      insert.run(id, userId, name, credentialId, publicKey, signCount, transports.join(" "), now);
      return true;
    },
    removePasskey: (userId, passkeyId) => remove.get(passkeyId, userId)?.name,
    removePasskeys: (userId) => void removeAll.run(userId),
  };
}

function prepareClaims({ writer }: Database): Pick<PasskeyUnit, "claimPasskey" | "claimChallenge"> {
  const claim = writer.prepare<[number, number, number, number, number]>(
    `UPDATE passkeys SET sign_count = ?, last_used_at = ?
     WHERE id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0))`,
  );
  const forget = writer.prepare<[number]>("DELETE FROM passkey_challenges WHERE answered_at < ?");
  const answer = writer.prepare<[Buffer, number]>(
    "INSERT INTO passkey_challenges (digest, answered_at) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING",
  );
  return {
    claimPasskey: (passkeyId, signCount, now) =>
      claim.run(signCount, now, passkeyId, signCount, signCount).changes === 1,
    claimChallenge(digest, now, forgetBefore) {
      forget.run(forgetBefore);
      return answer.run(digest, now).changes === 1;
    },
  };
}
