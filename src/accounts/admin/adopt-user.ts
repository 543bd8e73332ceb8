import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { type AdoptedAccount, createAdoptionStore } from "../store/adopting.ts";
import { PasswordSeals } from "../store/password-seals.ts";
import { totpFactors } from "../store/tables.ts";
import { isApiToken } from "../tokens/api-tokens.ts";

/** A user of another installation. */
export interface AdoptedUser extends AdoptedAccount {
  /** In plain text; only its digest is stored. */
  readonly apiToken: string | null;
  readonly totp: {
    readonly secret: Buffer;
    /** In Unix time / 30 s: codes of this step and of earlier ones are refused. */
    readonly lastStep: number;
  } | null;
}

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
  const store = createAdoptionStore(new PasswordSeals({ access, keyring: () => keyring }));

  const readTokenDigest = (token: string | null): Buffer | undefined => {
    if (token !== null && !isApiToken(token)) throw new Error("The API token does not look like an API token.");
    return token === null ? undefined : access.digest("api_token", token);
  };

  async function isTaken(tx: Transaction, userId: number, token: Buffer | undefined): Promise<boolean> {
    const holder = token === undefined ? undefined : await store.findTokenHolder(tx, token);
    return holder !== undefined && holder !== userId;
  }

  async function putTotp(tx: Transaction, userId: number, totp: AdoptedUser["totp"]): Promise<void> {
    if (totp === null) return;
    const secretSealed = keyring.seal(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, totp.secret);
    await store.insertTotp(tx, { userId, secretSealed, lastStep: totp.lastStep, confirmedAt: clock.now() });
  }

  return {
    /**
     * One transaction per user.
     * @param merge an existing account with the same email address gets the API token and is otherwise unchanged.
     */
    adopt: (user: AdoptedUser, merge: boolean, record: RecordAdoption): Promise<Adoption> =>
      db.writeSerialized("accounts", async (tx): Promise<Adoption> => {
        const present = await store.findId(tx, user.email);
        const isTakenByAnother = present === undefined && (await store.isEmailTaken(tx, user.email));
        if (isTakenByAnother || (present !== undefined && !merge)) return { outcome: "email_taken" };
        const userId = present ?? (await store.drawUserId(tx, random));
        const token = readTokenDigest(user.apiToken);
        const details = { merged: present !== undefined, tokenTaken: await isTaken(tx, userId, token) };
        if (!(await record(tx, userId, details))) return { outcome: "known" };
        if (details.merged) await store.markUsed(tx, userId);
        else {
          await store.insertUser(tx, userId, user, user.totp === null ? 0 : 1);
          await putTotp(tx, userId, user.totp);
        }
        if (!details.tokenTaken && token !== undefined) await store.insertToken(tx, userId, token, clock.now());
        return { outcome: "adopted", userId, ...details };
      }),
  };
}
