import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { allScopes } from "../account.ts";
import { nextId } from "./users.ts";

/** What of somebody from another installation the account itself holds. Times in ms since the epoch. */
export interface AdoptedAccount {
  /** As `normalizeEmail` returns it. */
  readonly email: string;
  /** bcrypt or Argon2id; "": there is none. */
  readonly passwordHash: string;
  readonly admin: boolean;
  readonly language: string | null;
  readonly confirmedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSignedInAt: number | null;
}

/** What somebody can sign in with now. */
export interface Credentials {
  readonly hasPassword: boolean;
  /** Authenticator app and passkeys together. */
  readonly factors: number;
  /** null: there is no authenticator app. */
  readonly totpSealed: Buffer | null;
  /** Backup codes, used ones included. */
  readonly codes: number;
}

interface CredentialsRow extends Omit<Credentials, "hasPassword" | "factors"> {
  readonly hasPassword: number;
  readonly passkeys: number;
}

const idByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const insertRow = sql<
  [
    id: number,
    email: string,
    passwordHash: string,
    admin: number,
    createdAt: number,
    updatedAt: number,
    confirmedAt: number | null,
    language: string | null,
    lastSignedInAt: number | null,
  ]
>(
  `INSERT INTO users (id, email, password_hash, admin, created_at, updated_at, confirmed_at, language, last_signed_in_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const insertTotpSecret = sql<[userId: number, secretSealed: Buffer, lastStep: number, confirmedAt: number]>(
  "INSERT INTO totp_factors (user_id, secret_sealed, last_step, confirmed_at) VALUES (?, ?, ?, ?)",
);
const insertCodeKey = sql<[userId: number, keySealed: Buffer]>(
  "INSERT INTO imported_backup_code_keys (user_id, key_sealed) VALUES (?, ?)",
);
const insertCode = sql<[userId: number, digest: Buffer]>(
  "INSERT INTO backup_codes (user_id, digest) VALUES (?, ?) ON CONFLICT (user_id, digest) DO NOTHING",
);
const insertApiToken = sql<
  [id: number, userId: number, name: string, digest: Buffer, scopes: string, createdAt: number]
>(
  `INSERT INTO api_tokens (id, user_id, name, digest, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (digest) DO NOTHING`,
);

const credentialsOf = sql<[userId: number], CredentialsRow>(
  `SELECT CASE WHEN password_hash <> '' THEN 1 ELSE 0 END AS hasPassword, totp_factors.secret_sealed AS totpSealed,
     (SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id) AS passkeys,
     (SELECT count(*) FROM backup_codes WHERE backup_codes.user_id = users.id)
       + (SELECT count(*) FROM imported_backup_code_keys WHERE imported_backup_code_keys.user_id = users.id) AS codes
   FROM users LEFT JOIN totp_factors ON totp_factors.user_id = users.id WHERE users.id = ?`,
);
const setPassword = sql<[passwordHash: string, userId: number]>(
  "UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ''",
);
const setCreation = sql<[createdAt: number, userId: number]>("UPDATE users SET created_at = ? WHERE id = ?");
const holderOf = sql<[digest: Buffer], { userId: number }>("SELECT user_id AS userId FROM api_tokens WHERE digest = ?");

/** All of it in a transaction of the accounts' turn. */
export function createAdoptionStore(tokenName: string) {
  return {
    findId: async (tx: Transaction, email: string): Promise<number | undefined> => (await tx.one(idByEmail, email))?.id,
    nextUserId: (tx: Transaction): Promise<number> => nextId(tx, "users"),
    async insertUser(tx: Transaction, userId: number, account: AdoptedAccount): Promise<void> {
      const { email, passwordHash, admin, createdAt, updatedAt, confirmedAt, language, lastSignedInAt } = account;
      const flag = admin ? 1 : 0;
      await tx.run(
        insertRow,
        ...([userId, email, passwordHash, flag, createdAt, updatedAt, confirmedAt, language, lastSignedInAt] as const),
      );
    },
    async insertTotp(
      tx: Transaction,
      userId: number,
      secretSealed: Buffer,
      lastStep: number,
      now: number,
    ): Promise<void> {
      await tx.run(insertTotpSecret, userId, secretSealed, lastStep, now);
    },
    async insertCodes(tx: Transaction, userId: number, keySealed: Buffer, digests: readonly Buffer[]): Promise<void> {
      await tx.run(insertCodeKey, userId, keySealed);
      for (const digest of digests) await tx.run(insertCode, userId, digest);
    },
    /** Nothing happens where somebody has a token of this digest. */
    async insertToken(tx: Transaction, userId: number, digest: Buffer, now: number): Promise<void> {
      const id = await nextId(tx, "api_tokens");
      await tx.run(insertApiToken, id, userId, tokenName, digest, allScopes.join(" "), now);
    },
    findTokenHolder: async (tx: Transaction, digest: Buffer): Promise<number | undefined> =>
      (await tx.one(holderOf, digest))?.userId,
    /** undefined: the account is gone. */
    async findCredentials(tx: Transaction, userId: number): Promise<Credentials | undefined> {
      const found = await tx.one(credentialsOf, userId);
      if (found === undefined) return undefined;
      const { hasPassword, passkeys, totpSealed, codes } = found;
      return { hasPassword: hasPassword === 1, factors: passkeys + (totpSealed === null ? 0 : 1), totpSealed, codes };
    },
    /** Of somebody who has none. */
    async setFirstPassword(tx: Transaction, userId: number, passwordHash: string): Promise<void> {
      if ((await tx.run(setPassword, passwordHash, userId)) !== 1) throw new Error("Somebody has a password already.");
    },
    async setCreatedAt(tx: Transaction, userId: number, createdAt: number): Promise<void> {
      await tx.run(setCreation, createdAt, userId);
    },
  };
}
