import type { Database, Transaction } from "../../database/database.ts";
import type { SealedColumn } from "../../database/sealed-column.ts";
import { sql } from "../../database/statement.ts";
import type { FactorFailures } from "../factors/factor-codes.ts";

/** What of the second factors lies in the store beside the passkeys. */
export interface FactorStore extends FactorUnit {
  /** `appAddedAt` null: there is no authenticator app. */
  findFactors(userId: number): Promise<FactorSummary>;
}

interface FactorSummary {
  readonly appAddedAt: number | null;
  readonly backupCodesLeft: number;
}

/** For transactions of the accounts' turn: what decides is read there and not before. */
export interface FactorUnit {
  /** Authenticator app and passkeys together. */
  countFactors(tx: Transaction, userId: number): Promise<number>;
  /** Whether the session is there still, and waits for nothing. */
  sessionStands(tx: Transaction, sessionId: number, userId: number): Promise<boolean>;
  findTotpSecret(tx: Transaction, userId: number): Promise<Buffer | undefined>;
  /** In place of the one before, if any. `step`: of the code that confirmed it. */
  putTotp(tx: Transaction, userId: number, secretSealed: Buffer, step: number, now: number): Promise<void>;
  /** false: a code of this step or of a later one was used already. */
  claimTotpStep(tx: Transaction, userId: number, step: number): Promise<boolean>;
  removeTotp(tx: Transaction, userId: number): Promise<boolean>;
  /** false: no such code, or it was used. */
  claimBackupCode(tx: Transaction, userId: number, digest: Buffer, now: number): Promise<boolean>;
  /** What the user's codes from another installation are checked by; undefined: there are none. */
  findImportedCodeKey(tx: Transaction, userId: number): Promise<Buffer | undefined>;
  hasBackupCodes(tx: Transaction, userId: number): Promise<boolean>;
  /** In place of all before; an empty list removes them. */
  replaceBackupCodes(tx: Transaction, userId: number, digests: readonly Buffer[]): Promise<void>;
  readFailures(tx: Transaction, userId: number): Promise<FactorFailures>;
  writeFailures(tx: Transaction, userId: number, failures: FactorFailures): Promise<void>;
}

export function totpContext(userId: number): string {
  return `user:${userId}:totp-secret`;
}

export function importedCodeContext(userId: number): string {
  return `user:${userId}:imported-code-key`;
}

export const sealedImportedCodeKeys: SealedColumn = {
  table: "imported_backup_code_keys",
  idColumn: "user_id",
  sealedColumn: "key_sealed",
  contextOf: (id) => importedCodeContext(Number(id)),
};

export const sealedTotpSecrets: SealedColumn = {
  table: "totp_factors",
  idColumn: "user_id",
  sealedColumn: "secret_sealed",
  contextOf: (id) => totpContext(Number(id)),
};

const summary = sql<[userId: number, userId: number], FactorSummary>(
  `SELECT (SELECT confirmed_at FROM totp_factors WHERE user_id = ?) AS appAddedAt,
     (SELECT count(*) FROM backup_codes WHERE user_id = ? AND used_at IS NULL) AS backupCodesLeft`,
);

const factorCount = sql<[userId: number, userId: number], { count: number }>(
  `SELECT (SELECT count(*) FROM totp_factors WHERE user_id = ?) + (SELECT count(*) FROM passkeys WHERE user_id = ?)
     AS count`,
);
const completeSession = sql<[sessionId: number, userId: number], { id: number }>(
  "SELECT id FROM sessions WHERE id = ? AND user_id = ? AND waits_for_factor = 0",
);

const totpSecret = sql<[userId: number], { secretSealed: Buffer }>(
  "SELECT secret_sealed AS secretSealed FROM totp_factors WHERE user_id = ?",
);
const putTotpSecret = sql<[userId: number, secretSealed: Buffer, step: number, confirmedAt: number]>(
  `INSERT INTO totp_factors (user_id, secret_sealed, last_step, confirmed_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (user_id) DO UPDATE SET
     secret_sealed = excluded.secret_sealed, last_step = excluded.last_step, confirmed_at = excluded.confirmed_at`,
);
const claimStep = sql<[step: number, userId: number, step: number]>(
  "UPDATE totp_factors SET last_step = ? WHERE user_id = ? AND last_step < ?",
);
const removeTotpSecret = sql<[userId: number]>("DELETE FROM totp_factors WHERE user_id = ?");

const claimCode = sql<[usedAt: number, userId: number, digest: Buffer]>(
  "UPDATE backup_codes SET used_at = ? WHERE user_id = ? AND digest = ? AND used_at IS NULL",
);
const anyCode = sql<[userId: number], { userId: number }>(
  "SELECT user_id AS userId FROM backup_codes WHERE user_id = ? LIMIT 1",
);
const importedCodeKey = sql<[userId: number], { keySealed: Buffer }>(
  "SELECT key_sealed AS keySealed FROM imported_backup_code_keys WHERE user_id = ?",
);
const removeImportedCodeKey = sql<[userId: number]>("DELETE FROM imported_backup_code_keys WHERE user_id = ?");
const removeCodes = sql<[userId: number]>("DELETE FROM backup_codes WHERE user_id = ?");
const insertCode = sql<[userId: number, digest: Buffer]>("INSERT INTO backup_codes (user_id, digest) VALUES (?, ?)");

const failuresOf = sql<[userId: number], FactorFailures>(
  "SELECT factor_failures AS count, factor_failures_since AS since FROM users WHERE id = ?",
);
const setFailures = sql<[count: number, since: number, userId: number]>(
  "UPDATE users SET factor_failures = ?, factor_failures_since = ? WHERE id = ?",
);

export function createFactorStore(db: Pick<Database, "read">): FactorStore {
  return {
    findFactors: async (userId) =>
      (await db.read.one(summary, userId, userId)) ?? { appAddedAt: null, backupCodesLeft: 0 },
    ...{ ...standing, ...totp, ...backupCodes, ...failures },
  };
}

const standing: Pick<FactorUnit, "countFactors" | "sessionStands"> = {
  countFactors: async (tx, userId) => (await tx.one(factorCount, userId, userId))?.count ?? 0,
  sessionStands: async (tx, sessionId, userId) => (await tx.one(completeSession, sessionId, userId)) !== undefined,
};

const totp: Pick<FactorUnit, "findTotpSecret" | "putTotp" | "claimTotpStep" | "removeTotp"> = {
  findTotpSecret: async (tx, userId) => (await tx.one(totpSecret, userId))?.secretSealed,
  async putTotp(tx, userId, secretSealed, step, now) {
    await tx.run(putTotpSecret, userId, secretSealed, step, now);
  },
  claimTotpStep: async (tx, userId, step) => (await tx.run(claimStep, step, userId, step)) === 1,
  removeTotp: async (tx, userId) => (await tx.run(removeTotpSecret, userId)) === 1,
};

const backupCodes: Pick<
  FactorUnit,
  "claimBackupCode" | "findImportedCodeKey" | "hasBackupCodes" | "replaceBackupCodes"
> = {
  claimBackupCode: async (tx, userId, digest, now) => (await tx.run(claimCode, now, userId, digest)) === 1,
  findImportedCodeKey: async (tx, userId) => (await tx.one(importedCodeKey, userId))?.keySealed,
  hasBackupCodes: async (tx, userId) => (await tx.one(anyCode, userId)) !== undefined,
  async replaceBackupCodes(tx, userId, digests) {
    await tx.run(removeCodes, userId);
    await tx.run(removeImportedCodeKey, userId);
    for (const digest of digests) await tx.run(insertCode, userId, digest);
  },
};

const failures: Pick<FactorUnit, "readFailures" | "writeFailures"> = {
  readFailures: async (tx, userId) => (await tx.one(failuresOf, userId)) ?? { count: 0, since: 0 },
  async writeFailures(tx, userId, { count, since }) {
    await tx.run(setFailures, count, since, userId);
  },
};
