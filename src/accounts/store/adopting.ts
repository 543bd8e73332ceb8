import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { boolean, bytes, integer, nullable, type RowOf, type StoredRowOf, Table } from "../../database/table.ts";
import { allScopes } from "../account.ts";
import { apiTokens, backupCodes, importedCodeKeys, totpFactors, users } from "./tables.ts";
import { nextId } from "./users.ts";

/** The account of a user from another installation. Times in milliseconds since the epoch. */
export interface AdoptedAccount {
  /** As `normalizeEmail` returns it. */
  readonly email: string;
  /** bcrypt or Argon2id; "": no password. */
  readonly passwordHash: string;
  readonly admin: boolean;
  readonly language: string | null;
  readonly confirmedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSignedInAt: number | null;
}

/** The user's current means of signing in. */
const credentials = new Table("users", {
  hasPassword: boolean,
  /** null: there is no authenticator app. */
  totpSealed: nullable(bytes),
  passkeys: integer,
  /** Backup codes, used ones included, and the key of imported ones. */
  codes: integer,
});
export type Credentials = RowOf<typeof credentials>;

const idByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const insertRow = users.insert();
const insertTotpSecret = totpFactors.insert();
const insertCodeKey = importedCodeKeys.insert();
const insertCode = backupCodes.insert("ON CONFLICT (user_id, digest) DO NOTHING");
const insertApiToken = apiTokens.insert("ON CONFLICT (digest) DO NOTHING");

const credentialColumns = credentials.selectExpressions({
  hasPassword: "CASE WHEN password_hash <> '' THEN 1 ELSE 0 END",
  totpSealed: "totp_factors.secret_sealed",
  passkeys: "(SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id)",
  codes: `(SELECT count(*) FROM backup_codes WHERE backup_codes.user_id = users.id)
     + (SELECT count(*) FROM imported_backup_code_keys WHERE imported_backup_code_keys.user_id = users.id)`,
});
const credentialsOf = sql<[userId: number], StoredRowOf<typeof credentials>>(
  `SELECT ${credentialColumns} FROM users LEFT JOIN totp_factors ON totp_factors.user_id = users.id WHERE users.id = ?`,
);
const setPassword = sql<[passwordHash: string, userId: number]>(
  "UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ''",
);
const setCreation = sql<[createdAt: number, userId: number]>("UPDATE users SET created_at = ? WHERE id = ?");
const holderOf = apiTokens.pick("userId").select<[digest: Buffer]>("WHERE digest = ?");

/** All functions require the accounts lock. @param tokenName of the adopted API tokens. */
export function createAdoptionStore(tokenName: string) {
  return {
    findId: async (tx: Transaction, email: string): Promise<number | undefined> => (await tx.one(idByEmail, email))?.id,

    nextUserId: (tx: Transaction): Promise<number> => nextId(tx, "users"),

    async insertUser(tx: Transaction, userId: number, account: AdoptedAccount): Promise<void> {
      const { email, passwordHash, admin, language, confirmedAt, createdAt, updatedAt, lastSignedInAt } = account;
      await tx.run(
        insertRow,
        ...users.values({
          id: userId,
          email,
          passwordHash,
          admin,
          language,
          createdAt,
          updatedAt,
          confirmedAt,
          lastSignedInAt,
        }),
      );
    },

    async insertTotp(tx: Transaction, totp: RowOf<typeof totpFactors>): Promise<void> {
      await tx.run(insertTotpSecret, ...totpFactors.values(totp));
    },

    async insertCodes(tx: Transaction, userId: number, keySealed: Buffer, digests: readonly Buffer[]): Promise<void> {
      await tx.run(insertCodeKey, ...importedCodeKeys.values({ userId, keySealed }));
      for (const digest of digests) await tx.run(insertCode, ...backupCodes.values({ userId, digest }));
    },

    /** Does nothing when some user has a token with this digest. */
    async insertToken(tx: Transaction, userId: number, digest: Buffer, now: number): Promise<void> {
      const id = await nextId(tx, "api_tokens");
      const token = { id, userId, name: tokenName, digest, scopes: allScopes, createdAt: now };
      await tx.run(insertApiToken, ...apiTokens.values(token));
    },

    findTokenHolder: async (tx: Transaction, digest: Buffer): Promise<number | undefined> =>
      (await tx.one(holderOf, digest))?.userId,

    /** @returns undefined: the account is gone. */
    async findCredentials(tx: Transaction, userId: number): Promise<Credentials | undefined> {
      const row = await tx.one(credentialsOf, userId);
      return row === undefined ? undefined : credentials.decode(row);
    },

    /** @throws Error when the account has a password. */
    async setFirstPassword(tx: Transaction, userId: number, passwordHash: string): Promise<void> {
      if ((await tx.run(setPassword, passwordHash, userId)) !== 1) throw new Error("The account has a password.");
    },

    async setCreatedAt(tx: Transaction, userId: number, createdAt: number): Promise<void> {
      await tx.run(setCreation, createdAt, userId);
    },
  };
}
