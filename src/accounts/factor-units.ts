import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Transaction } from "../database/database.ts";
import type { NoticeName, Outbox } from "../mail/outbox.ts";
import type { ClientContext, Session, User } from "./account.ts";
import type { Administrator, RecordInTransaction } from "./administration.ts";
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
  readonly client: ClientContext;
}

/** What every change of factors consists of: in the transaction that `change` begins. */
export interface FactorUnits {
  /** Runs `work` in one transaction of the accounts' turn, provided that the session stands and has proven what it had to. */
  change<T>(
    asking: Asking,
    isProven: boolean,
    work: (tx: Transaction, user: User, now: number) => Promise<T>,
  ): Promise<T | UnitRefusal>;
  putTotp(tx: Transaction, userId: number, secret: Uint8Array, step: number, now: number): Promise<void>;
  /** In place of all before. @returns them, as people read them. */
  putBackupCodes(tx: Transaction, userId: number): Promise<readonly string[]>;
  /** The same for an account that has never had any; null: it has had some. */
  putFirstBackupCodes(tx: Transaction, userId: number): Promise<readonly string[] | null>;
  /** The owner is told by mail, and whoever else is signed in no longer is. */
  announce(tx: Transaction, asking: Asking, notice: NoticeName, subject: string, now: number): Promise<void>;
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
  readonly recordInTransaction: RecordInTransaction;
}): FactorUnits {
  const { db, clock, random, keyring, outbox, factors, passkeys } = deps;

  function put(
    tx: Transaction,
    user: User,
    notice: NoticeName,
    subject: string,
    client: Pick<ClientContext, "address" | "userAgent">,
    now: number,
  ): Promise<void> {
    const { address, userAgent } = client;
    const content = { kind: "notice", notice, subject, at: now, address, userAgent } as const;
    return outbox.put(tx, { to: user.email, language: user.language, content }, now);
  }

  async function putBackupCodes(tx: Transaction, userId: number): Promise<readonly string[]> {
    const codes = makeBackupCodes(random);
    const digests = codes.map((code) => backupCodeDigest(readBackupCode(code) ?? code));
    await factors.replaceBackupCodes(tx, userId, digests);
    return codes;
  }

  return {
    change: ({ session }, isProven, work) =>
      db.writeSerialized("accounts", async (tx) => {
        const { user } = session;
        if (!(await factors.sessionStands(tx, session.id, user.id))) return { outcome: "over" };
        if (!isProven && (await factors.countFactors(tx, user.id)) > 0) return { outcome: "unproven" };
        return work(tx, user, clock.now());
      }),

    putTotp: (tx, userId, secret, step, now) =>
      factors.putTotp(tx, userId, keyring().seal(totpContext(userId), secret), step, now),

    putBackupCodes,

    putFirstBackupCodes: async (tx, userId) =>
      (await factors.hasBackupCodes(tx, userId)) ? null : putBackupCodes(tx, userId),

    async announce(tx, { session, client }, notice, subject, now) {
      await endSessions(tx, session.user.id, session.id);
      await put(tx, session.user, notice, subject, client, now);
    },

    async reset(userId, by) {
      const user = await deps.findUser(userId);
      if (user === undefined) return { outcome: "unknown" };
      return db.writeSerialized("accounts", async (tx) => {
        const now = clock.now();
        if ((await factors.countFactors(tx, userId)) === 0) return { outcome: "no_factors", user };
        await factors.removeTotp(tx, userId);
        await passkeys.removePasskeys(tx, userId);
        await factors.replaceBackupCodes(tx, userId, []);
        await factors.writeFailures(tx, userId, { count: 0, since: now });
        await endSessions(tx, userId, null);
        await put(tx, user, "factor_removed", "", nowhere, now);
        await deps.recordInTransaction(tx, "reset_factors", user.email, by, now);
        return { outcome: "done", user };
      });
    },
  };
}
