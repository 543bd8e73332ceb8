import type { Random } from "../../base/random.ts";
import type { Transaction } from "../../database/database.ts";
import type { RowOf } from "../../database/table.ts";
import { allScopes } from "../account.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { apiTokens, totpFactors, users } from "./tables.ts";
import { drawUserId, findUserByEmailIn, isEmailTaken, markUsed, nextId } from "./users.ts";

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

/** The name of adopted API tokens. */
export const adoptedTokenName = "Password Pusher";

const insertAccount = users.insertion();
const insertTotpSecret = totpFactors.insert();
const insertApiToken = apiTokens.insertion("ON CONFLICT (digest) DO NOTHING");

const holderOf = apiTokens.unverified("userId").select<[digest: Buffer]>("WHERE digest = ?");

/** All functions require the accounts lock. */
export function createAdoptionStore(seals: PasswordSeals) {
  const { access } = seals;
  return {
    findId: async (tx: Transaction, email: string): Promise<number | undefined> =>
      (await findUserByEmailIn(tx, access, email))?.id,

    /** What is imported into an account was somebody's: no sign-on may link the account without a question. */
    markUsed: (tx: Transaction, userId: number) => markUsed(tx, access, userId),

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
        // An adopted account counts as used: nobody takes it over by signing up with its address.
        lastSignedInAt: lastSignedInAt ?? updatedAt,
      });
    },

    async insertTotp(tx: Transaction, totp: RowOf<typeof totpFactors>): Promise<void> {
      await tx.run(insertTotpSecret, ...totpFactors.values(totp));
    },

    /** Does nothing when some user has a token with this digest. */
    async insertToken(tx: Transaction, userId: number, digest: Buffer, now: number): Promise<void> {
      const id = await nextId(tx, "api_tokens");
      const token = { id, userId, name: adoptedTokenName, digest, scopes: allScopes, createdAt: now };
      await insertApiToken(tx, access, token);
    },

    findTokenHolder: async (tx: Transaction, digest: Buffer): Promise<number | undefined> =>
      (await tx.one(holderOf, digest))?.userId,
  };
}
