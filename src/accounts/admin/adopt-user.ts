import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { sealedColumns } from "../../crypto/sealed-columns.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { type ImportedCodeKey, keptCodeDigest, writeImportedCodeKey } from "../factors/backup-codes.ts";
import { type AdoptedAccount, type Credentials, createAdoptionStore } from "../store/adopting.ts";
import { PasswordSeals } from "../store/password-seals.ts";
import { isApiToken } from "../tokens/api-tokens.ts";

/** A user of another installation. */
export interface AdoptedUser extends AdoptedAccount {
  /** In plain text; only its digest is stored. */
  readonly apiToken: string | null;
  readonly totp: {
    readonly secret: Buffer;
    /** In Unix time / 30 s: codes of this step and of earlier ones are refused. */
    readonly lastStep: number;
    /** `digests` as `importedCodeDigest` returns them. */
    readonly backupCodes: (ImportedCodeKey & { readonly digests: readonly Buffer[] }) | null;
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

/** Parts that may be missing from an adopted user. `factor`: second factor and password, as the password alone must not sign in. */
export const userParts = ["factor", "password", "backup_codes", "api_token", "created_at"] as const;
export type UserPart = (typeof userParts)[number];

export interface UserCompletion {
  readonly filled: readonly UserPart[];
  /** Nothing was changed: the part was set here meanwhile, or the account is gone. */
  readonly superseded: readonly UserPart[];
  /** Not possible: the API token belongs to another user. */
  readonly refused: readonly UserPart[];
}

const adoptedTokenName = "Password Pusher";

export type UserAdoption = ReturnType<typeof createUserAdoption>;

export function createUserAdoption(deps: {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly access: AccessKeys;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const { db, keyring, access, clock, random } = deps;
  const store = createAdoptionStore(new PasswordSeals({ access, keyring: () => keyring }), random, adoptedTokenName);

  const readTokenDigest = (token: string | null): Buffer | undefined => {
    if (token !== null && !isApiToken(token)) throw new Error("The API token does not look like an API token.");
    return token === null ? undefined : access.digest("api_token", token);
  };

  async function isTaken(tx: Transaction, userId: number, token: Buffer | undefined): Promise<boolean> {
    const holder = token === undefined ? undefined : await store.findTokenHolder(tx, token);
    return holder !== undefined && holder !== userId;
  }

  async function putToken(tx: Transaction, userId: number, token: Buffer | undefined): Promise<void> {
    if (token !== undefined) await store.insertToken(tx, userId, token, clock.now());
  }

  async function putTotp(tx: Transaction, userId: number, totp: AdoptedUser["totp"]): Promise<void> {
    if (totp === null) return;
    const sealed = keyring.seal(sealedColumns.totpSecret, { id: userId, ownerId: userId }, totp.secret);
    await store.insertTotp(tx, {
      userId,
      secretSealed: sealed,
      lastStep: totp.lastStep,
      confirmedAt: clock.now(),
    });
    await putCodes(tx, userId, totp);
  }

  async function putCodes(tx: Transaction, userId: number, { backupCodes }: NonNullable<AdoptedUser["totp"]>) {
    if (backupCodes === null) return;
    const key = keyring.seal(
      sealedColumns.importedCodeKey,
      { id: userId, ownerId: userId },
      writeImportedCodeKey(backupCodes),
    );
    const digests = backupCodes.digests.map((digest) => keptCodeDigest(access, userId, digest));
    await store.insertCodes(tx, userId, key, digests);
  }

  type RequestResult = "filled" | "superseded" | "refused";

  async function fill(tx: Transaction, userId: number, user: AdoptedUser, part: UserPart): Promise<RequestResult> {
    const current = await store.findCredentials(tx, userId);
    if (current === undefined) return "superseded";
    switch (part) {
      case "factor":
        // Both or neither: a password or factor that was set here is the owner's choice.
        if (current.hasPassword || current.totpSealed !== null || current.passkeys > 0) return "superseded";
        await store.setFirstPassword(tx, userId, user.passwordHash);
        await putTotp(tx, userId, user.totp);
        if (user.totp !== null) await store.countFactor(tx, userId);
        return "filled";
      case "password":
        if (current.hasPassword || !hasSameFactor(userId, current, user.totp)) return "superseded";
        await store.setFirstPassword(tx, userId, user.passwordHash);
        return "filled";
      case "backup_codes":
        if (user.totp === null || current.codes > 0 || !hasSameFactor(userId, current, user.totp)) return "superseded";
        await putCodes(tx, userId, user.totp);
        return "filled";
      case "api_token": {
        const token = readTokenDigest(user.apiToken);
        if (await isTaken(tx, userId, token)) return "refused";
        await putToken(tx, userId, token);
        return "filled";
      }
      case "created_at":
        await store.setCreatedAt(tx, userId, user.createdAt);
        return "filled";
    }
  }

  function hasSameFactor(userId: number, { totpSealed }: Credentials, totp: AdoptedUser["totp"]): boolean {
    if (totpSealed === null || totp === null) return totpSealed === null && totp === null;
    const secret = keyring.open(sealedColumns.totpSecret, { id: userId, ownerId: userId }, totpSealed);
    return secret?.equals(totp.secret) === true;
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
        const userId = present ?? (await store.drawUserId(tx));
        const token = readTokenDigest(user.apiToken);
        const details = { merged: present !== undefined, tokenTaken: await isTaken(tx, userId, token) };
        if (!(await record(tx, userId, details))) return { outcome: "known" };
        if (!details.merged) {
          await store.insertUser(tx, userId, user, user.totp === null ? 0 : 1);
          await putTotp(tx, userId, user.totp);
        }
        if (!details.tokenTaken) await putToken(tx, userId, token);
        return { outcome: "adopted", userId, ...details };
      }),
    /**
     * Adds parts, in one transaction, that an adopted user lacked and `user` has now.
     * @param settle runs last in the transaction.
     */
    complete: (
      userId: number,
      user: AdoptedUser,
      parts: readonly UserPart[],
      settle: (tx: Transaction, completion: UserCompletion) => Promise<void>,
    ): Promise<UserCompletion> =>
      db.writeSerialized("accounts", async (tx) => {
        const fates: Record<RequestResult, UserPart[]> = { filled: [], superseded: [], refused: [] };
        for (const part of parts) fates[await fill(tx, userId, user, part)].push(part);
        await settle(tx, fates);
        return fates;
      }),
  };
}
