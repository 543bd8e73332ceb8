import type { Clock } from "../base/clock.ts";
import { isVerifiableBcrypt } from "../crypto/bcrypt.ts";
import { digest } from "../crypto/digests.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Unit } from "../db/database.ts";
import { isApiToken } from "./api-tokens.ts";
import { type ImportedCodeKey, writeImportedCodeKey } from "./imported-codes.ts";
import { createAdoptingStore } from "./store/adopting.ts";
import { importedCodeContext, totpContext } from "./store/factors.ts";

/** Somebody from another installation, as he stood there. Times in ms since the epoch. */
export interface AdoptedUser {
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
  /** In the clear; what is kept of it is its digest. */
  readonly apiToken: string | null;
  readonly totp: {
    readonly secret: Buffer;
    /** In Unix time / 30 s: no code of it or of an earlier one counts. */
    readonly lastStep: number;
    /** `digests` as `importedCodeDigest` returns them. */
    readonly backupCodes: (ImportedCodeKey & { readonly digests: readonly Buffer[] }) | null;
  } | null;
}

/** Runs first in the unit that writes the user. @returns false: it came in before; then nothing is written. */
export type NoteAdoption = (unit: Unit, userId: number) => Promise<boolean>;

export type Adoption =
  /** `tokenTaken`: another user here has that very API token, so it was left out. */
  | { readonly outcome: "adopted"; readonly userId: number; readonly tokenTaken: boolean }
  | { readonly outcome: "known" }
  /** Nothing was written: an account with this e-mail is here, and was not to be used. */
  | { readonly outcome: "email_taken" };

export interface UserAdoption {
  /**
   * One unit for each user.
   * @param merge an account that has the e-mail here gets the API token, and stays as it is in everything else.
   */
  adopt(user: AdoptedUser, merge: boolean, note: NoteAdoption): Promise<Adoption>;
}

export const adoptedTokenName = "Password Pusher";

const argon2idShape = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=\d\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
/** A hash that costs more is not taken: whoever knows its e-mail could keep the server busy. */
const argon2Max = { kibibytes: 131_072, passes: 10 };

/** Whether somebody can sign in here by the password that a hash from elsewhere is of. */
export function isAdoptableHash(hash: string): boolean {
  if (isVerifiableBcrypt(hash)) return true;
  const [, kibibytes = "", passes = ""] = argon2idShape.exec(hash) ?? [];
  return kibibytes !== "" && Number(kibibytes) <= argon2Max.kibibytes && Number(passes) <= argon2Max.passes;
}

export function createUserAdoption(deps: {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}): UserAdoption {
  const { db, keyring, clock } = deps;
  const store = createAdoptingStore(adoptedTokenName);

  async function putToken(unit: Unit, userId: number, token: string | null): Promise<{ tokenTaken: boolean }> {
    if (token === null) return { tokenTaken: false };
    if (!isApiToken(token)) throw new Error("The API token has another shape than tokens have.");
    return { tokenTaken: !(await store.insertToken(unit, userId, digest(token), clock.now())) };
  }

  async function putFactors(unit: Unit, userId: number, totp: NonNullable<AdoptedUser["totp"]>): Promise<void> {
    const sealed = keyring.seal(totpContext(userId), totp.secret);
    await store.insertTotp(unit, userId, sealed, totp.lastStep, clock.now());
    if (totp.backupCodes === null) return;
    const key = keyring.seal(importedCodeContext(userId), writeImportedCodeKey(totp.backupCodes));
    await store.insertCodes(unit, userId, key, totp.backupCodes.digests);
  }

  return {
    adopt: (user, merge, note) =>
      db.writeInTurn("accounts", async (unit): Promise<Adoption> => {
        const present = await store.findId(unit, user.email);
        if (present !== undefined) {
          if (!merge) return { outcome: "email_taken" };
          if (!(await note(unit, present))) return { outcome: "known" };
          return { outcome: "adopted", userId: present, ...(await putToken(unit, present, user.apiToken)) };
        }
        const userId = await store.nextUserId(unit);
        if (!(await note(unit, userId))) return { outcome: "known" };
        await store.insertUser(unit, userId, user);
        if (user.totp !== null) await putFactors(unit, userId, user.totp);
        return { outcome: "adopted", userId, ...(await putToken(unit, userId, user.apiToken)) };
      }),
  };
}
