import type { Transaction } from "../../database/database.ts";
import { allScopes, type User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import { PasswordSeals } from "../store/password-seals.ts";
import { adoptedTokenName } from "../store/stored-account.ts";
import { apiTokens, totpFactors, users } from "../store/tables.ts";
import { drawUserId, findUserByEmailIn, isEmailTaken, markUsed, nextId } from "../store/users.ts";

/** A user of another installation. Times in milliseconds since the epoch. */
export interface AdoptedUser extends Pick<User, "email" | "admin" | "language" | "confirmedAt" | "createdAt"> {
  readonly updatedAt: number;
  readonly lastSignedInAt: number | null;
  /** bcrypt or Argon2id; "": no password. */
  readonly passwordHash: string;
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

export interface AdoptionDetails {
  /** Into an existing account. */
  readonly merged: boolean;
  /** Another user has the same API token, so it was not adopted. */
  readonly tokenTaken: boolean;
}

type AdoptionDeps = Pick<AccountsDeps, "db" | "keyring" | "access" | "clock" | "random">;

/**
 * One transaction per user.
 * @param merge an existing account with the same email address gets the API token and is otherwise unchanged.
 * @param record first in the transaction that writes the user. It returns false if the user was adopted before; then nothing is written.
 * @returns `email_taken`: nothing was written, because there is an account with this email address and merging was not requested.
 */
export async function adoptUser(
  deps: AdoptionDeps,
  user: AdoptedUser,
  merge: boolean,
  record: (tx: Transaction, userId: number, details: AdoptionDetails) => Promise<boolean>,
): Promise<"adopted" | "known" | "email_taken"> {
  const { db, access, random } = deps;
  return await db.writeSerialized("accounts", async (tx) => {
    const present = (await findUserByEmailIn(tx, access, user.email))?.id;
    const isTakenByAnother = present === undefined && (await isEmailTaken(tx, access, user.email));
    if (isTakenByAnother || (present !== undefined && !merge)) return "email_taken";
    const userId = present ?? (await drawUserId(tx, random));
    const token = user.apiToken === null ? undefined : access.digest("api_token", user.apiToken);
    const holder = token && (await tx.one(holderOf, token));
    const tokenTaken = holder !== undefined && holder.userId !== userId;
    if (!(await record(tx, userId, { merged: present !== undefined, tokenTaken }))) return "known";
    // What is imported into an account was somebody's: no sign-on may link the account without a question.
    if (present !== undefined) await markUsed(tx, access, userId);
    else await putUser(deps, tx, userId, user);
    if (token !== undefined && !tokenTaken) await putToken(deps, tx, userId, token);
    return "adopted";
  });
}

async function putUser(deps: AdoptionDeps, tx: Transaction, userId: number, user: AdoptedUser): Promise<void> {
  const { access, clock } = deps;
  const { passwordHash, apiToken, totp, ...columns } = user;
  await insertAccount(tx, access, {
    ...columns,
    id: userId,
    ...new PasswordSeals(deps).columnsOf(userId, passwordHash),
    secondFactors: totp === null ? 0 : 1,
    // An adopted account counts as used: nobody takes it over by signing up with its address.
    lastSignedInAt: user.lastSignedInAt ?? user.updatedAt,
  });
  if (totp === null) return;
  const { secret, lastStep } = totp;
  const secretSealed = deps.keyring().seal(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, secret);
  await tx.run(insertTotpSecret, ...totpFactors.values({ userId, secretSealed, lastStep, confirmedAt: clock.now() }));
}

/** Does nothing when some user has a token with this digest. */
async function putToken({ access, clock }: AdoptionDeps, tx: Transaction, userId: number, digest: Buffer) {
  const id = await nextId(tx, "api_tokens");
  const token = { id, userId, name: adoptedTokenName, digest, scopes: allScopes, createdAt: clock.now() };
  await insertApiToken(tx, access, token);
}
