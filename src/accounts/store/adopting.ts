import type { Random } from "../../base/random.ts";
import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { boolean, bytes, integer, nullable, type RowOf, type StoredRowOf, Table } from "../../database/table.ts";
import { allScopes } from "../account.ts";
import { countAddedFactor } from "./factors.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { apiTokens, backupCodes, importedCodeKeys, totpFactors, users } from "./tables.ts";
import { drawUserId, findUserByEmailIn, findUserIn, isEmailTaken, nextId } from "./users.ts";

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
  /** Unused backup codes, and the key of imported ones. */
  codes: integer,
});
export type Credentials = RowOf<typeof credentials>;

const insertAccount = users.insertion();
const insertTotpSecret = totpFactors.insert();
const insertCodeKey = importedCodeKeys.insert();
const insertCode = backupCodes.insert("ON CONFLICT (user_id, digest) DO NOTHING");
const insertApiToken = apiTokens.insertion("ON CONFLICT (digest) DO NOTHING");

const credentialColumns = credentials.selectExpressions({
  hasPassword: "users.has_password",
  totpSealed: "totp_factors.secret_sealed",
  passkeys: "(SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id)",
  codes: `(SELECT count(*) FROM backup_codes WHERE backup_codes.user_id = users.id)
     + (SELECT count(*) FROM imported_backup_code_keys WHERE imported_backup_code_keys.user_id = users.id)`,
});
const credentialsOf = sql<[userId: number], StoredRowOf<typeof credentials>>(
  `SELECT ${credentialColumns} FROM users LEFT JOIN totp_factors ON totp_factors.user_id = users.id WHERE users.id = ?`,
);
const setCreation = sql<[createdAt: number, userId: number]>("UPDATE users SET created_at = ? WHERE id = ?");
const holderOf = apiTokens.unverified("userId").select<[digest: Buffer]>("WHERE digest = ?");

/** All functions require the accounts lock. @param tokenName of the adopted API tokens. */
export function createAdoptionStore(seals: PasswordSeals, random: Random, tokenName: string) {
  const { access } = seals;
  return {
    findId: async (tx: Transaction, email: string): Promise<number | undefined> =>
      (await findUserByEmailIn(tx, access, email))?.id,

    isEmailTaken: (tx: Transaction, email: string) => isEmailTaken(tx, access, email),

    drawUserId: (tx: Transaction) => drawUserId(tx, random),

    /** @param secondFactors the number of factors that the same transaction inserts. */
    async insertUser(tx: Transaction, userId: number, account: AdoptedAccount, secondFactors: number): Promise<void> {
      const { email, passwordHash, admin, language, confirmedAt, createdAt, updatedAt, lastSignedInAt } = account;
      await insertAccount(tx, access, {
        id: userId,
        email,
        ...seals.columnsOf(userId, passwordHash),
        secondFactors,
        admin,
        language,
        createdAt,
        updatedAt,
        confirmedAt,
        lastSignedInAt,
      });
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
      await insertApiToken(tx, access, token);
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
      const user = await findUserIn(tx, access, userId);
      if (user === undefined || user.hasPassword) throw new Error("The account has a password.");
      await users.change(tx, access, userId, seals.columnsOf(userId, passwordHash));
    },

    countFactor: (tx: Transaction, userId: number) => countAddedFactor(tx, access, userId),

    async setCreatedAt(tx: Transaction, userId: number, createdAt: number): Promise<void> {
      await tx.run(setCreation, createdAt, userId);
    },
  };
}
