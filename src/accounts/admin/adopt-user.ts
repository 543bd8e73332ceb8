import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import { type AccountState, type AdoptedAccount, createAdoptionStore } from "../store/adopting.ts";
import { PasswordSeals } from "../store/password-seals.ts";
import { totpFactors } from "../store/tables.ts";
import { findOtherAdmins, findUserIn } from "../store/users.ts";
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

/** What another installation may change about its user later, as texts that are compared. In the order in which changes are applied. */
export type UserAspects = Readonly<Record<UserAspect, string>>;
export const userAspects = [
  "created_at",
  "email",
  "factor",
  "password",
  "admin",
  "language",
  "confirmed",
  "api_token",
  "last_code",
  "last_use",
] as const;
export type UserAspect = (typeof userAspects)[number];

export function aspectsOf(user: AdoptedUser): UserAspects {
  return {
    created_at: String(user.createdAt),
    email: user.email,
    password: user.passwordHash,
    admin: String(user.admin),
    language: user.language ?? "",
    confirmed: String(user.confirmedAt ?? ""),
    api_token: user.apiToken ?? "",
    factor: user.totp?.secret.toString("hex") ?? "",
    last_code: String(user.totp?.lastStep ?? 0),
    last_use: String(user.lastSignedInAt ?? ""),
  };
}

/** What an earlier adoption imported. */
export interface AdoptedBefore {
  /** The aspects that the other installation has changed since then, or that could not be read then. */
  readonly changed: readonly UserAspect[];
  readonly wasImported: (aspect: UserAspect) => boolean;
  /** Whether this is the value that was imported. */
  readonly isImportedValue: (aspect: UserAspect, value: string) => boolean;
}

export interface UserUpdate {
  readonly updated: readonly UserAspect[];
  /** It was changed here meanwhile, and stays. */
  readonly kept: readonly UserAspect[];
  /** Not possible: email address or API token belong to another user here. */
  readonly refused: readonly UserAspect[];
}

const adoptedTokenName = "Password Pusher";

const adoptionStore = ({ access, keyring }: AccountKeys) =>
  createAdoptionStore(new PasswordSeals({ access, keyring: () => keyring }), adoptedTokenName);

interface AccountKeys {
  readonly keyring: Keyring;
  readonly access: AccessKeys;
}

export type AdoptedAccounts = ReturnType<typeof createAdoptedAccounts>;

/** Compares adopted accounts with what was adopted. Only reads. */
export function createAdoptedAccounts({ keyring, access }: AccountKeys) {
  const store = adoptionStore({ keyring, access });

  /** The values of an account here. The API token is known as a digest only: whether there is one is compared. */
  function valuesHere(userId: number, here: AccountState): Omit<UserAspects, "created_at" | "api_token"> {
    const row = { id: userId, ownerId: userId };
    const secret = here.totpSealed && keyring.open(totpFactors.seals.totpSecret, row, here.totpSealed);
    return {
      email: here.user.email,
      password: here.passwordHash,
      admin: String(here.user.admin),
      language: here.user.language ?? "",
      confirmed: String(here.user.confirmedAt ?? ""),
      factor: here.totpSealed === null ? "" : (secret?.toString("hex") ?? "unreadable"),
      last_code: String(here.lastStep ?? 0),
      last_use: String(here.lastSignedInAt ?? ""),
    };
  }

  function isTouched(aspect: UserAspect, userId: number, here: AccountState, before: AdoptedBefore): boolean {
    if (aspect === "created_at" || !before.wasImported(aspect)) return false;
    if (aspect !== "api_token") return !before.isImportedValue(aspect, valuesHere(userId, here)[aspect]);
    return before.isImportedValue(aspect, "") !== (here.adoptedTokens === 0);
  }

  return {
    valuesHere,
    isTouched,
    /** Whether nobody has used or changed the account since it was adopted. undefined: it does not exist. */
    async isUntouched(userId: number, before: AdoptedBefore, connection: ReadConnection): Promise<boolean | undefined> {
      const here = await store.findState(connection, userId);
      if (here === undefined) return undefined;
      const { passkeys, ownTokens, ownPushes } = here;
      return (
        passkeys + ownTokens + ownPushes === 0 &&
        userAspects.every((aspect) => !isTouched(aspect, userId, here, before))
      );
    },
    /** Whether an adopted API token of the account has ended here. */
    hasEndedToken: (userId: number, connection: ReadConnection) => store.hasRevokedToken(connection, userId),
    /** Whether no administrator would be left without the account. @param leaving accounts that are no administrators any more. */
    async isLastAdmin(userId: number, leaving: ReadonlySet<number>, connection: ReadConnection): Promise<boolean> {
      const user = await findUserIn(connection, access, userId);
      if (user === undefined || !user.admin || user.disabledAt !== null) return false;
      return (await findOtherAdmins(connection, access, userId)).every(({ id }) => leaving.has(id));
    },
  };
}

export type UserAdoption = ReturnType<typeof createUserAdoption>;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is older than the rule.
export function createUserAdoption(
  deps: AccountKeys & {
    readonly db: Database;
    readonly clock: Clock;
    readonly random: Random;
    /** The other installation has changed the address. Runs in the same transaction, with the user as it was before. */
    readonly onEmailChanged: (tx: Transaction, before: User, email: string) => Promise<void>;
  },
) {
  const { db, keyring, access, clock, random } = deps;
  const store = adoptionStore(deps);
  const { valuesHere, isTouched } = createAdoptedAccounts(deps);

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
    const sealed = keyring.seal(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, totp.secret);
    await store.insertTotp(tx, {
      userId,
      secretSealed: sealed,
      lastStep: totp.lastStep,
      confirmedAt: clock.now(),
    });
  }

  type Result = "updated" | "kept" | "refused" | "same";

  /** Without a password, factor or passkey set here. */
  const hasNoCredentials = ({ user, totpSealed, passkeys }: AccountState) =>
    !user.hasPassword && totpSealed === null && passkeys === 0;

  async function putFactor(tx: Transaction, userId: number, here: AccountState, totp: AdoptedUser["totp"]) {
    if (here.totpSealed !== null) await store.removeTotp(tx, userId);
    await putTotp(tx, userId, totp);
    if (totp !== null) await store.countFactor(tx, userId);
  }

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: it is older than the rule.
  async function apply(
    tx: Transaction,
    { userId, user, before }: { userId: number; user: AdoptedUser; before: AdoptedBefore },
    aspect: UserAspect,
  ): Promise<Result> {
    const here = await store.findState(tx, userId);
    if (here === undefined) return "kept";
    const value = aspectsOf(user)[aspect];
    const touched = isTouched(aspect, userId, here, before);
    const wasImported = before.wasImported(aspect);
    if (aspect !== "created_at" && aspect !== "api_token" && valuesHere(userId, here)[aspect] === value) return "same";
    switch (aspect) {
      case "created_at":
        await store.setCreatedAt(tx, userId, user.createdAt);
        return "updated";
      case "email":
        if (touched) return "kept";
        if (await store.isEmailTaken(tx, user.email)) return "refused";
        await store.change(tx, userId, { email: user.email });
        await deps.onEmailChanged(tx, here.user, user.email);
        return "updated";
      case "factor":
        // Set here: kept. Removed here: the second factor is the stricter choice.
        if (wasImported ? touched && here.totpSealed !== null : !hasNoCredentials(here)) return "kept";
        await putFactor(tx, userId, here, user.totp);
        // It was not imported without the factor.
        if (!wasImported) await store.setPassword(tx, userId, user.passwordHash);
        return "updated";
      case "password":
        if (touched || (!wasImported && (here.user.hasPassword || !hasSameFactor(userId, here, user)))) return "kept";
        await store.setPassword(tx, userId, user.passwordHash);
        return "updated";
      case "admin":
        if (touched) return "kept";
        await store.change(tx, userId, { admin: user.admin });
        return "updated";
      case "language":
        if (touched) return "kept";
        await store.change(tx, userId, { language: user.language });
        return "updated";
      case "confirmed":
        if (touched) return "kept";
        await store.change(tx, userId, { confirmedAt: user.confirmedAt });
        return "updated";
      case "api_token": {
        if (touched) return "kept";
        const token = readTokenDigest(user.apiToken);
        await store.removeTokens(tx, userId);
        if (await isTaken(tx, userId, token)) return "refused";
        await putToken(tx, userId, token);
        return "updated";
      }
      case "last_code":
        if (!hasSameFactor(userId, here, user)) return "same";
        await store.advanceStep(tx, userId, user.totp?.lastStep ?? 0);
        return "same";
      case "last_use":
        await store.advanceUse(tx, userId, user.lastSignedInAt ?? 0);
        return "same";
    }
  }

  function hasSameFactor(userId: number, here: AccountState, user: AdoptedUser): boolean {
    return valuesHere(userId, here).factor === aspectsOf(user).factor;
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
        if (!details.merged) {
          await store.insertUser(tx, userId, user, user.totp === null ? 0 : 1);
          await putTotp(tx, userId, user.totp);
        }
        if (!details.tokenTaken) await putToken(tx, userId, token);
        return { outcome: "adopted", userId, ...details };
      }),
    /**
     * Updates an adopted user in one transaction. What was changed here meanwhile stays.
     * @param settle runs last in the transaction.
     */
    update: (
      userId: number,
      user: AdoptedUser,
      before: AdoptedBefore,
      settle: (tx: Transaction, update: UserUpdate) => Promise<void>,
    ): Promise<UserUpdate> =>
      db.writeSerialized("accounts", async (tx) => {
        const results: Record<Result, UserAspect[]> = { updated: [], kept: [], refused: [], same: [] };
        for (const aspect of userAspects.filter((each) => before.changed.includes(each))) {
          results[await apply(tx, { userId, user, before }, aspect)].push(aspect);
        }
        if (results.updated.some((aspect) => ["email", "password", "factor"].includes(aspect))) {
          await store.endAccess(tx, userId);
        }
        await settle(tx, results);
        return results;
      }),
  };
}
