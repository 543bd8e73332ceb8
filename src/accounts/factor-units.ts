import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database } from "../db/sqlite.ts";
import type { NoticeName, Outbox } from "../mail/outbox.ts";
import type { Place, Session, User } from "./account.ts";
import type { Administrator, RecordInUnit } from "./administration.ts";
import { backupCodeDigest, makeBackupCodes, readBackupCode } from "./backup-codes.ts";
import type { FactorReset } from "./factor-changes.ts";
import { prepareEndSessions } from "./store/end-sessions.ts";
import { type FactorUnit, totpContext } from "./store/factors.ts";
import type { PasskeyUnit } from "./store/passkeys.ts";

/** "unproven": a factor stands, and nothing has shown that it is its owner who asks. "over": the session has ended. */
export type UnitRefusal = { readonly outcome: "unproven" | "over" };

/** Who changes factors, and from where. */
interface Asking {
  readonly session: Session;
  readonly place: Place;
}

/** What every change of factors consists of. All but `change` and `reset` run inside the unit that they begin. */
export interface FactorUnits {
  /** Runs `work` in one unit of `db.write`, provided that the session stands and has proven what it had to. */
  change<T>(asking: Asking, isProven: boolean, work: (user: User, now: number) => T): Promise<T | UnitRefusal>;
  putTotp(userId: number, secret: Uint8Array, step: number, now: number): void;
  /** In place of all before. @returns them, as people read them. */
  putBackupCodes(userId: number): readonly string[];
  /** The same for an account that has never had any; null: it has had some. */
  putFirstBackupCodes(userId: number): readonly string[] | null;
  /** The owner is told by mail, and whoever else is signed in no longer is. */
  announce(asking: Asking, notice: NoticeName, subject: string, now: number): void;
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
  readonly findUser: (userId: number) => User | undefined;
  readonly recordInUnit: RecordInUnit;
}): FactorUnits {
  const { db, clock, random, keyring, outbox, factors, passkeys } = deps;
  const endSessions = prepareEndSessions(db);

  function put(
    user: User,
    notice: NoticeName,
    subject: string,
    place: Pick<Place, "address" | "userAgent">,
    now: number,
  ) {
    const { address, userAgent } = place;
    const content = { kind: "notice", notice, subject, at: now, address, userAgent } as const;
    outbox.put({ to: user.email, language: user.language, content }, now);
  }

  function putBackupCodes(userId: number): readonly string[] {
    const codes = makeBackupCodes(random);
    const digests = codes.map((code) => backupCodeDigest(readBackupCode(code) ?? code));
    factors.replaceBackupCodes(userId, digests);
    return codes;
  }

  return {
    change: ({ session }, isProven, work) =>
      db.write(() => {
        const { user } = session;
        if (!factors.sessionStands(session.id, user.id)) return { outcome: "over" };
        if (!isProven && factors.countFactors(user.id) > 0) return { outcome: "unproven" };
        return work(user, clock.now());
      }),

    putTotp: (userId, secret, step, now) =>
      factors.putTotp(userId, keyring().seal(totpContext(userId), secret), step, now),

    putBackupCodes,

    putFirstBackupCodes: (userId) => (factors.hasBackupCodes(userId) ? null : putBackupCodes(userId)),

    announce({ session, place }, notice, subject, now) {
      endSessions(session.user.id, session.id);
      put(session.user, notice, subject, place, now);
    },

    async reset(userId, by) {
      const user = deps.findUser(userId);
      if (user === undefined) return { outcome: "unknown" };
      return db.write(() => {
        const now = clock.now();
        if (factors.countFactors(userId) === 0) return { outcome: "no_factors", user };
        factors.removeTotp(userId);
        passkeys.removePasskeys(userId);
        factors.replaceBackupCodes(userId, []);
        factors.writeFailures(userId, { count: 0, since: now });
        endSessions(userId, null);
        put(user, "factor_removed", "", nowhere, now);
        deps.recordInUnit("reset_factors", user.email, by, now);
        return { outcome: "done", user };
      });
    },
  };
}
