import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Unit } from "../db/database.ts";
import type { NoticeName, Outbox } from "../mail/outbox.ts";
import type { Place, Session, User } from "./account.ts";
import type { Administrator, RecordInUnit } from "./administration.ts";
import { backupCodeDigest, makeBackupCodes, readBackupCode } from "./backup-codes.ts";
import { endSessions } from "./store/end-sessions.ts";
import { type FactorUnit, totpContext } from "./store/factors.ts";
import type { PasskeyUnit } from "./store/passkeys.ts";

/** "unproven": a factor stands, and nothing has shown that it is its owner who asks. "over": the session has ended. */
export type UnitRefusal = { readonly outcome: "unproven" | "over" };

export type FactorReset =
  | { readonly outcome: "done" | "no_factors"; readonly user: User }
  | { readonly outcome: "unknown" };

/** Who changes factors, and from where. */
interface Asking {
  readonly session: Session;
  readonly place: Place;
}

/** What every change of factors consists of: in the unit that `change` begins. */
export interface FactorUnits {
  /** Runs `work` in one unit of the accounts' turn, provided that the session stands and has proven what it had to. */
  change<T>(
    asking: Asking,
    isProven: boolean,
    work: (unit: Unit, user: User, now: number) => Promise<T>,
  ): Promise<T | UnitRefusal>;
  putTotp(unit: Unit, userId: number, secret: Uint8Array, step: number, now: number): Promise<void>;
  /** In place of all before. @returns them, as people read them. */
  putBackupCodes(unit: Unit, userId: number): Promise<readonly string[]>;
  /** The same for an account that has never had any; null: it has had some. */
  putFirstBackupCodes(unit: Unit, userId: number): Promise<readonly string[] | null>;
  /** The owner is told by mail, and whoever else is signed in no longer is. */
  announce(unit: Unit, asking: Asking, notice: NoticeName, subject: string, now: number): Promise<void>;
  /** Removes every factor, ends every session, and leaves a line in the administrators' trail. */
  reset(userId: number, by: Administrator): Promise<FactorReset>;
}

/** An administrator's change comes from no place that the account's owner could know. */
const nowhere = { address: "", userAgent: "" };

export function createFactorUnits(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: () => Keyring;
  readonly outbox: Outbox;
  readonly factors: FactorUnit;
  readonly passkeys: PasskeyUnit;
  readonly findUser: (userId: number) => Promise<User | undefined>;
  readonly recordInUnit: RecordInUnit;
}): FactorUnits {
  const { db, clock, random, keyring, outbox, factors, passkeys } = deps;

  function put(
    unit: Unit,
    user: User,
    notice: NoticeName,
    subject: string,
    place: Pick<Place, "address" | "userAgent">,
    now: number,
  ): Promise<void> {
    const { address, userAgent } = place;
    const content = { kind: "notice", notice, subject, at: now, address, userAgent } as const;
    return outbox.put(unit, { to: user.email, language: user.language, content }, now);
  }

  async function putBackupCodes(unit: Unit, userId: number): Promise<readonly string[]> {
    const codes = makeBackupCodes(random);
    const digests = codes.map((code) => backupCodeDigest(readBackupCode(code) ?? code));
    await factors.replaceBackupCodes(unit, userId, digests);
    return codes;
  }

  return {
    change: ({ session }, isProven, work) =>
      db.writeInTurn("accounts", async (unit) => {
        const { user } = session;
        if (!(await factors.sessionStands(unit, session.id, user.id))) return { outcome: "over" };
        if (!isProven && (await factors.countFactors(unit, user.id)) > 0) return { outcome: "unproven" };
        return work(unit, user, clock.now());
      }),

    putTotp: (unit, userId, secret, step, now) =>
      factors.putTotp(unit, userId, keyring().seal(totpContext(userId), secret), step, now),

    putBackupCodes,

    putFirstBackupCodes: async (unit, userId) =>
      (await factors.hasBackupCodes(unit, userId)) ? null : putBackupCodes(unit, userId),

    async announce(unit, { session, place }, notice, subject, now) {
      await endSessions(unit, session.user.id, session.id);
      await put(unit, session.user, notice, subject, place, now);
    },

    async reset(userId, by) {
      const user = await deps.findUser(userId);
      if (user === undefined) return { outcome: "unknown" };
      return db.writeInTurn("accounts", async (unit) => {
        const now = clock.now();
        if ((await factors.countFactors(unit, userId)) === 0) return { outcome: "no_factors", user };
        await factors.removeTotp(unit, userId);
        await passkeys.removePasskeys(unit, userId);
        await factors.replaceBackupCodes(unit, userId, []);
        await factors.writeFailures(unit, userId, { count: 0, since: now });
        await endSessions(unit, userId, null);
        await put(unit, user, "factor_removed", "", nowhere, now);
        await deps.recordInUnit(unit, "reset_factors", user.email, by, now);
        return { outcome: "done", user };
      });
    },
  };
}
