import type { Random } from "../../base/random.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { bytes, integer, nullable, type RowOf, RowShape, type StoredRowOf } from "../../database/table.ts";
import { allScopes } from "../account.ts";
import { countAddedFactor, countRemovedFactor } from "./factors.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { endSessions } from "./sessions.ts";
import { apiTokens, totpFactors, users } from "./tables.ts";
import { drawUserId, findUserByEmailIn, isEmailTaken, nextId, openUser, type UserRow, userColumns } from "./users.ts";

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

/** An account as it is now. */
const state = new RowShape({
  passwordSealed: nullable(bytes),
  lastSignedInAt: nullable(integer),
  /** null: there is no authenticator app. */
  totpSealed: nullable(bytes),
  lastStep: nullable(integer),
  passkeys: integer,
  adoptedTokens: integer,
  /** API tokens that were made or used here. */
  ownTokens: integer,
  /** Pushes that were created here. */
  ownPushes: integer,
});
export type AccountState = NonNullable<Awaited<ReturnType<ReturnType<typeof createAdoptionStore>["findState"]>>>;

const insertAccount = users.insertion();
const insertTotpSecret = totpFactors.insert();
const insertApiToken = apiTokens.insertion("ON CONFLICT (digest) DO NOTHING");

const stateColumns = state.selectExpressions({
  passwordSealed: "users.password_sealed",
  lastSignedInAt: "users.last_signed_in_at",
  totpSealed: "totp_factors.secret_sealed",
  lastStep: "totp_factors.last_step",
  passkeys: "(SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id)",
  adoptedTokens: `(SELECT count(*) FROM api_tokens
     WHERE api_tokens.user_id = users.id AND api_tokens.name = ? AND api_tokens.revoked_at IS NULL)`,
  ownTokens: `(SELECT count(*) FROM api_tokens
     WHERE api_tokens.user_id = users.id AND (api_tokens.name <> ? OR api_tokens.last_used_at IS NOT NULL))`,
  ownPushes: `(SELECT count(*) FROM pushes WHERE pushes.owner_id = users.id
     AND NOT EXISTS (SELECT 1 FROM imported_links WHERE imported_links.push_id = pushes.id))`,
});
const stateOf = sql<[tokenName: string, tokenName: string, userId: number], UserRow & StoredRowOf<typeof state>>(
  `SELECT ${userColumns}, ${stateColumns}
   FROM users LEFT JOIN totp_factors ON totp_factors.user_id = users.id WHERE users.id = ?`,
);
const removeTokens = sql<[userId: number, tokenName: string]>(
  "DELETE FROM api_tokens WHERE user_id = ? AND name = ? AND revoked_at IS NULL",
);
const revokedToken = sql<[userId: number, tokenName: string], { found: number }>(
  "SELECT 1 AS found FROM api_tokens WHERE user_id = ? AND name = ? AND revoked_at IS NOT NULL LIMIT 1",
);
const removeTotpSecret = sql<[userId: number]>("DELETE FROM totp_factors WHERE user_id = ?");
const advanceStep = sql<[step: number, userId: number, step: number]>(
  "UPDATE totp_factors SET last_step = ? WHERE user_id = ? AND last_step < ?",
);
const advanceUse = sql<[signedInAt: number, userId: number, signedInAt: number]>(
  "UPDATE users SET last_signed_in_at = ? WHERE id = ? AND coalesce(last_signed_in_at, 0) < ?",
);
const removeLinks = sql<[userId: number]>("DELETE FROM mailed_links WHERE user_id = ?");
const removeCodes = sql<[userId: number]>("DELETE FROM backup_codes WHERE user_id = ?");
const setCreation = sql<[createdAt: number, userId: number]>("UPDATE users SET created_at = ? WHERE id = ?");
const holderOf = apiTokens.unverified("userId").select<[digest: Buffer]>("WHERE digest = ?");

/** All functions require the accounts lock. @param tokenName of the adopted API tokens. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is older than the rule.
export function createAdoptionStore(seals: PasswordSeals, tokenName: string) {
  const { access } = seals;
  return {
    findId: async (tx: Transaction, email: string): Promise<number | undefined> =>
      (await findUserByEmailIn(tx, access, email))?.id,

    isEmailTaken: (tx: Transaction, email: string) => isEmailTaken(tx, access, email),

    drawUserId: (tx: Transaction, random: Random) => drawUserId(tx, random),

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

    /** Does nothing when some user has a token with this digest. */
    async insertToken(tx: Transaction, userId: number, digest: Buffer, now: number): Promise<void> {
      const id = await nextId(tx, "api_tokens");
      const token = { id, userId, name: tokenName, digest, scopes: allScopes, createdAt: now };
      await insertApiToken(tx, access, token);
    },

    findTokenHolder: async (tx: Transaction, digest: Buffer): Promise<number | undefined> =>
      (await tx.one(holderOf, digest))?.userId,

    /** @returns undefined: the account is gone, or this server did not write it. */
    async findState(connection: ReadConnection, userId: number) {
      const row = await connection.one(stateOf, tokenName, tokenName, userId);
      const user = openUser(access, row);
      if (row === undefined || user === undefined) return undefined;
      const { passwordSealed, ...found } = state.decode(row);
      return { ...found, user, passwordHash: seals.open(user, passwordSealed) };
    },

    async setPassword(tx: Transaction, userId: number, passwordHash: string): Promise<void> {
      await users.change(tx, access, userId, seals.columnsOf(userId, passwordHash));
    },

    async change(
      tx: Transaction,
      userId: number,
      changes: Partial<Pick<AdoptedAccount, "email" | "admin" | "language" | "confirmedAt">>,
    ): Promise<void> {
      await users.change(tx, access, userId, changes);
    },

    /** Whether an adopted token of the account has been revoked. */
    hasRevokedToken: async (connection: ReadConnection, userId: number): Promise<boolean> =>
      (await connection.one(revokedToken, userId, tokenName)) !== undefined,

    removeTokens: (tx: Transaction, userId: number) => tx.run(removeTokens, userId, tokenName),

    async removeTotp(tx: Transaction, userId: number): Promise<void> {
      if ((await tx.run(removeTotpSecret, userId)) === 0) return;
      await tx.run(removeCodes, userId);
      await countRemovedFactor(tx, access, userId);
    },

    /** Codes of this step and of earlier ones are refused. */
    advanceStep: (tx: Transaction, userId: number, step: number) => tx.run(advanceStep, step, userId, step),

    advanceUse: (tx: Transaction, userId: number, at: number) => tx.run(advanceUse, at, userId, at),

    /** After a change of what signs in. */
    async endAccess(tx: Transaction, userId: number): Promise<void> {
      await endSessions(tx, userId, null);
      await tx.run(removeLinks, userId);
    },

    countFactor: (tx: Transaction, userId: number) => countAddedFactor(tx, access, userId),

    async setCreatedAt(tx: Transaction, userId: number, createdAt: number): Promise<void> {
      await tx.run(setCreation, createdAt, userId);
    },
  };
}
