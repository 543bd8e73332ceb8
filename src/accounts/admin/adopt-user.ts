import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { allScopes } from "../account.ts";
import { PasswordSeals } from "../store/password-seals.ts";
import { adoptedTokenName } from "../store/stored-account.ts";
import { apiTokens, totpFactors, users } from "../store/tables.ts";
import { drawUserId, findUserByEmailIn, isEmailTaken, markUsed, nextId } from "../store/users.ts";

/** A user of another installation. Times in milliseconds since the epoch. */
export interface AdoptedUser {
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
  /** In plain text, of the shape of an API token; only its digest is stored. */
  readonly apiToken: string | null;
  readonly totp: {
    readonly secret: Buffer;
    /** In Unix time / 30 s: codes of this step and of earlier ones are refused. */
    readonly lastStep: number;
  } | null;
}

const insertAccount = users.insertion();
const insertTotpSecret = totpFactors.insert();
const insertApiToken = apiTokens.insertion("ON CONFLICT (digest) DO NOTHING");
const holderOf = apiTokens.unverified("userId").select<[digest: Buffer]>("WHERE digest = ?");

/** How a user was adopted. */
export interface AdoptionDetails {
  /** Merged into an existing account. */
  readonly merged: boolean;
  /** Another user has the same API token, so it was not adopted. */
  readonly tokenTaken: boolean;
}

/** Records the adoption, first in the transaction that writes the user. @returns false: it was adopted before, so nothing is written. */
export type RecordAdoption = (tx: Transaction, userId: number, details: AdoptionDetails) => Promise<boolean>;

export type Adoption =
  | ({ readonly outcome: "adopted"; readonly userId: number } & AdoptionDetails)
  | { readonly outcome: "known" }
  /** Nothing was written: there is an account with this email address, and merging was not requested. */
  | { readonly outcome: "email_taken" };

export type UserAdoption = ReturnType<typeof createUserAdoption>;

export function createUserAdoption({
  db,
  keyring,
  access,
  clock,
  random,
}: {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly access: AccessKeys;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const seals = new PasswordSeals({ access, keyring: () => keyring });

  async function isTaken(tx: Transaction, userId: number, token: Buffer | undefined): Promise<boolean> {
    const holder = token === undefined ? undefined : await tx.one(holderOf, token);
    return holder !== undefined && holder.userId !== userId;
  }

  async function putUser(tx: Transaction, userId: number, user: AdoptedUser): Promise<void> {
    const { email, passwordHash, admin, language, confirmedAt, createdAt, updatedAt, lastSignedInAt, totp } = user;
    await insertAccount(tx, access, {
      id: userId,
      email,
      ...seals.columnsOf(userId, passwordHash),
      secondFactors: totp === null ? 0 : 1,
      admin,
      language,
      createdAt,
      updatedAt,
      confirmedAt,
      // An adopted account counts as used: nobody takes it over by signing up with its address.
      lastSignedInAt: lastSignedInAt ?? updatedAt,
    });
    if (totp === null) return;
    const secretSealed = keyring.seal(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, totp.secret);
    const factor = { userId, secretSealed, lastStep: totp.lastStep, confirmedAt: clock.now() };
    await tx.run(insertTotpSecret, ...totpFactors.values(factor));
  }

  /** Does nothing when some user has a token with this digest. */
  async function putToken(tx: Transaction, userId: number, digest: Buffer): Promise<void> {
    const id = await nextId(tx, "api_tokens");
    const token = { id, userId, name: adoptedTokenName, digest, scopes: allScopes, createdAt: clock.now() };
    await insertApiToken(tx, access, token);
  }

  return {
    /**
     * One transaction per user.
     * @param merge an existing account with the same email address gets the API token and is otherwise unchanged.
     */
    adopt: (user: AdoptedUser, merge: boolean, record: RecordAdoption): Promise<Adoption> =>
      db.writeSerialized("accounts", async (tx): Promise<Adoption> => {
        const present = (await findUserByEmailIn(tx, access, user.email))?.id;
        const isTakenByAnother = present === undefined && (await isEmailTaken(tx, access, user.email));
        if (isTakenByAnother || (present !== undefined && !merge)) return { outcome: "email_taken" };
        const userId = present ?? (await drawUserId(tx, random));
        const token = user.apiToken === null ? undefined : access.digest("api_token", user.apiToken);
        const details = { merged: present !== undefined, tokenTaken: await isTaken(tx, userId, token) };
        if (!(await record(tx, userId, details))) return { outcome: "known" };
        // What is imported into an account was somebody's: no sign-on may link the account without a question.
        if (details.merged) await markUsed(tx, access, userId);
        else await putUser(tx, userId, user);
        if (!details.tokenTaken && token !== undefined) await putToken(tx, userId, token);
        return { outcome: "adopted", userId, ...details };
      }),
  };
}
