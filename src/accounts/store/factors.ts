import type { SealedColumn } from "../../db/sealed-column.ts";
import type { Database } from "../../db/sqlite.ts";
import type { FactorFailures } from "../factor-throttle.ts";

/** What of the second factors lies in the store beside the passkeys. */
export interface FactorStore {
  /** `appAddedAt` null: there is no authenticator app. */
  findFactors(userId: number): { readonly appAddedAt: number | null; readonly backupCodesLeft: number };
  readonly inUnit: FactorUnit;
}

/** Each runs inside a unit of `db.write`: what decides is read there and not before. */
export interface FactorUnit {
  /** Authenticator app and passkeys together. */
  countFactors(userId: number): number;
  /** Whether the session is there still, and waits for nothing. */
  sessionStands(sessionId: number, userId: number): boolean;
  findTotpSecret(userId: number): Buffer | undefined;
  /** In place of the one before, if any. `step`: of the code that confirmed it. */
  putTotp(userId: number, secretSealed: Buffer, step: number, now: number): void;
  /** false: a code of this step or of a later one was used already. */
  claimTotpStep(userId: number, step: number): boolean;
  removeTotp(userId: number): boolean;
  /** false: no such code, or it was used. */
  claimBackupCode(userId: number, digest: Buffer, now: number): boolean;
  hasBackupCodes(userId: number): boolean;
  /** In place of all before; an empty list removes them. */
  replaceBackupCodes(userId: number, digests: readonly Buffer[]): void;
  readFailures(userId: number): FactorFailures;
  writeFailures(userId: number, failures: FactorFailures): void;
}

export function totpContext(userId: number): string {
  return `user:${userId}:totp-secret`;
}

export const sealedTotpSecrets: SealedColumn = {
  table: "totp_factors",
  idColumn: "user_id",
  sealedColumn: "secret_sealed",
  contextOf: (id) => totpContext(Number(id)),
};

export function createFactorStore(db: Database): FactorStore {
  const find = db.reader.prepare<[number, number], { appAddedAt: number | null; backupCodesLeft: number }>(
    `SELECT (SELECT confirmed_at FROM totp_factors WHERE user_id = ?) AS appAddedAt,
       (SELECT count(*) FROM backup_codes WHERE user_id = ? AND used_at IS NULL) AS backupCodesLeft`,
  );
  return {
    findFactors: (userId) => find.get(userId, userId) ?? { appAddedAt: null, backupCodesLeft: 0 },
    inUnit: { ...prepareStanding(db), ...prepareTotp(db), ...prepareBackupCodes(db), ...prepareFailures(db) },
  };
}

function prepareStanding({ writer }: Database): Pick<FactorUnit, "countFactors" | "sessionStands"> {
  const count = writer.prepare<[number, number], { count: number }>(
    `SELECT (SELECT count(*) FROM totp_factors WHERE user_id = ?) + (SELECT count(*) FROM passkeys WHERE user_id = ?)
       AS count`,
  );
  const session = writer.prepare<[number, number], { id: number }>(
    "SELECT id FROM sessions WHERE id = ? AND user_id = ? AND waits_for_factor = 0",
  );
  return {
    countFactors: (userId) => count.get(userId, userId)?.count ?? 0,
    sessionStands: (sessionId, userId) => session.get(sessionId, userId) !== undefined,
  };
}

function prepareTotp({
  writer,
}: Database): Pick<FactorUnit, "findTotpSecret" | "putTotp" | "claimTotpStep" | "removeTotp"> {
  const secret = writer.prepare<[number], { secret_sealed: Buffer }>(
    "SELECT secret_sealed FROM totp_factors WHERE user_id = ?",
  );
  const put = writer.prepare<[number, Buffer, number, number]>(
    `INSERT INTO totp_factors (user_id, secret_sealed, last_step, confirmed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (user_id) DO UPDATE SET
       secret_sealed = excluded.secret_sealed, last_step = excluded.last_step, confirmed_at = excluded.confirmed_at`,
  );
  const claim = writer.prepare<[number, number, number]>(
    "UPDATE totp_factors SET last_step = ? WHERE user_id = ? AND last_step < ?",
  );
  const remove = writer.prepare<[number]>("DELETE FROM totp_factors WHERE user_id = ?");
  return {
    findTotpSecret: (userId) => secret.get(userId)?.secret_sealed,
    putTotp: (userId, secretSealed, step, now) => void put.run(userId, secretSealed, step, now),
    claimTotpStep: (userId, step) => claim.run(step, userId, step).changes === 1,
    removeTotp: (userId) => remove.run(userId).changes === 1,
  };
}

function prepareBackupCodes({
  writer,
}: Database): Pick<FactorUnit, "claimBackupCode" | "hasBackupCodes" | "replaceBackupCodes"> {
  const claim = writer.prepare<[number, number, Buffer]>(
    "UPDATE backup_codes SET used_at = ? WHERE user_id = ? AND digest = ? AND used_at IS NULL",
  );
  const any = writer.prepare<[number], { user_id: number }>(
    "SELECT user_id FROM backup_codes WHERE user_id = ? LIMIT 1",
  );
  const removeAll = writer.prepare<[number]>("DELETE FROM backup_codes WHERE user_id = ?");
  const insert = writer.prepare<[number, Buffer]>("INSERT INTO backup_codes (user_id, digest) VALUES (?, ?)");
  return {
    claimBackupCode: (userId, digest, now) => claim.run(now, userId, digest).changes === 1,
    hasBackupCodes: (userId) => any.get(userId) !== undefined,
    replaceBackupCodes(userId, digests) {
      removeAll.run(userId);
      for (const digest of digests) insert.run(userId, digest);
    },
  };
}

function prepareFailures({ writer }: Database): Pick<FactorUnit, "readFailures" | "writeFailures"> {
  const read = writer.prepare<[number], FactorFailures>(
    "SELECT factor_failures AS count, factor_failures_since AS since FROM users WHERE id = ?",
  );
  const write = writer.prepare<[number, number, number]>(
    "UPDATE users SET factor_failures = ?, factor_failures_since = ? WHERE id = ?",
  );
  return {
    readFailures: (userId) => read.get(userId) ?? { count: 0, since: 0 },
    writeFailures: (userId, { count, since }) => void write.run(count, since, userId),
  };
}
