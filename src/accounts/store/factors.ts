import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { findCompleteSession } from "./sessions.ts";
import { backupCodes, totpFactors, users } from "./tables.ts";

interface FactorSummary {
  readonly appAddedAt: number | null;
  readonly backupCodesLeft: number;
}

const summary = sql<[userId: number, userId: number], FactorSummary>(
  `SELECT (SELECT confirmed_at FROM totp_factors WHERE user_id = ?) AS appAddedAt,
     (SELECT count(*) FROM backup_codes WHERE user_id = ?) AS backupCodesLeft`,
);

const factorState = users.reading();
const factorStateOf = sql<[userId: number], UnopenedRow<typeof factorState>>(
  `SELECT ${factorState.selectList} FROM users WHERE id = ?`,
);

const totpSecret = totpFactors.pick("secretSealed").select<[userId: number]>("WHERE user_id = ?");
const putTotpSecret = totpFactors.insert(
  `ON CONFLICT (user_id) DO UPDATE SET
     secret_sealed = excluded.secret_sealed, last_step = excluded.last_step, confirmed_at = excluded.confirmed_at`,
);
const claimStep = sql<[step: number, userId: number, step: number]>(
  "UPDATE totp_factors SET last_step = ? WHERE user_id = ? AND last_step < ?",
);
const removeTotpSecret = sql<[userId: number]>("DELETE FROM totp_factors WHERE user_id = ?");

const claimCode = sql<[userId: number, digest: Buffer]>("DELETE FROM backup_codes WHERE user_id = ? AND digest = ?");
const anyCode = sql<[userId: number], { userId: number }>(
  "SELECT user_id AS userId FROM backup_codes WHERE user_id = ? LIMIT 1",
);
const removeCodes = sql<[userId: number]>("DELETE FROM backup_codes WHERE user_id = ?");
const insertCode = backupCodes.insert();

/** @returns undefined: the user is gone, or this server did not write the row. */
async function findFactorState(tx: Transaction, access: AccessKeys, userId: number) {
  return factorState.open(access, await tx.one(factorStateOf, userId));
}

/** Authenticator app and passkeys together, as this server has counted them. */
async function countFactors(tx: Transaction, access: AccessKeys, userId: number): Promise<number> {
  return (await findFactorState(tx, access, userId))?.secondFactors ?? 0;
}

const factorRows = sql<[userId: number, userId: number], { count: number }>(
  `SELECT (SELECT count(*) FROM totp_factors WHERE user_id = ?) + (SELECT count(*) FROM passkeys WHERE user_id = ?)
     AS count`,
);

async function setFactorCount(tx: Transaction, access: AccessKeys, userId: number, count: number): Promise<void> {
  if (!(await users.change(tx, access, userId, { secondFactors: count }))) throw new Error("The user is gone.");
}

/** Part of every transaction that adds a factor. */
export async function countAddedFactor(tx: Transaction, access: AccessKeys, userId: number): Promise<void> {
  await setFactorCount(tx, access, userId, (await countFactors(tx, access, userId)) + 1);
}

/**
 * Part of every transaction that removes a factor, after the removal. The rows alone must not lower the count, because a
 * writer of the database can delete them; nor may the removal of a row that such a writer has put back turn the second
 * factor off while the account has one.
 */
export async function countRemovedFactor(tx: Transaction, access: AccessKeys, userId: number): Promise<void> {
  const left = (await tx.one(factorRows, userId, userId))?.count ?? 0;
  await setFactorCount(tx, access, userId, Math.max((await countFactors(tx, access, userId)) - 1, left));
}

export type FactorStore = ReturnType<typeof createFactorStore>;

/** Authenticator apps, backup codes and failed attempts. Functions that take a transaction require the accounts lock. */
export function createFactorStore(db: Pick<Database, "read">, access: AccessKeys) {
  return {
    /** `appAddedAt` null: there is no authenticator app. */
    findFactors: async (userId: number): Promise<FactorSummary> =>
      (await db.read.one(summary, userId, userId)) ?? { appAddedAt: null, backupCodesLeft: 0 },

    /** Authenticator app and passkeys together. */
    countFactors: (tx: Transaction, userId: number) => countFactors(tx, access, userId),

    /** For an account that has none left. */
    forgetFactors: (tx: Transaction, userId: number) => setFactorCount(tx, access, userId, 0),

    /** Whether the session still exists and is complete. */
    isSessionComplete: async (tx: Transaction, sessionId: number, userId: number) =>
      (await findCompleteSession(tx, access, sessionId, userId)) !== undefined,

    findTotpSecret: async (tx: Transaction, userId: number) => (await tx.one(totpSecret, userId))?.secretSealed,

    /** Replaces an existing secret. @param step of the code that confirmed it. */
    async putTotp(
      tx: Transaction,
      userId: number,
      { secretSealed, step, now }: { readonly secretSealed: Buffer; readonly step: number; readonly now: number },
    ): Promise<void> {
      const isNew = (await tx.one(totpSecret, userId)) === undefined;
      await tx.run(putTotpSecret, ...totpFactors.values({ userId, secretSealed, lastStep: step, confirmedAt: now }));
      if (isNew) await countAddedFactor(tx, access, userId);
    },

    /** @returns false: a code of this step or of a later one has been used. */
    claimTotpStep: async (tx: Transaction, userId: number, step: number) =>
      (await tx.run(claimStep, step, userId, step)) === 1,

    async removeTotp(tx: Transaction, userId: number): Promise<void> {
      if ((await tx.run(removeTotpSecret, userId)) === 1) await countRemovedFactor(tx, access, userId);
    },

    /** @returns false: there is no such code, or it has been used. */
    claimBackupCode: async (tx: Transaction, userId: number, digest: Buffer) =>
      (await tx.run(claimCode, userId, digest)) === 1,

    hasBackupCodes: async (tx: Transaction, userId: number) => (await tx.one(anyCode, userId)) !== undefined,

    /** Removes all earlier codes. */
    async replaceBackupCodes(tx: Transaction, userId: number, digests: readonly Buffer[]): Promise<void> {
      await tx.run(removeCodes, userId);
      for (const digest of digests) await tx.run(insertCode, ...backupCodes.values({ userId, digest }));
    },

    /** @returns undefined: the user is gone, or this server did not write the row. */
    async readFailures(tx: Transaction, userId: number): Promise<FactorFailures | undefined> {
      const state = await findFactorState(tx, access, userId);
      return state && { count: state.factorFailures, since: state.factorFailuresSince };
    },

    async writeFailures(tx: Transaction, userId: number, { count, since }: FactorFailures): Promise<void> {
      await users.change(tx, access, userId, { factorFailures: count, factorFailuresSince: since });
    },
  };
}

/** The stored counter of one account. */
export interface FactorFailures {
  readonly count: number;
  /** When the window began, in milliseconds since the epoch. */
  readonly since: number;
}
