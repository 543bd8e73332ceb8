import { SqliteDriver } from "../../database/sqlite/driver.ts";

/** Their keys among the row secrets are overwritten, like those that have expired. */
const tablesWithKeys = ["download_tickets", "resumable_uploads"] as const;

/** What may have been ended, used or sent since the backup, and is easy to create again. A backup has no unfinished uploads. */
export const clearedTables = [
  ...tablesWithKeys,
  "uploads",
  "outbox",
  "view_notifications",
  "mailed_links",
  "sign_on_steps",
  "processes",
  "job_runs",
  "sessions",
  "provider_logouts",
] as const;

/**
 * Clears the tables above and voids codes of authenticator apps up to now. Queued emails may have been sent since. API tokens
 * may have been revoked since: they are revoked unless they are to stay.
 * @param options `now`: ms since the epoch.
 * @returns the numbers of cleared rows, and of the users and API tokens that work again.
 */
export function clearTransientState(path: string, options: { readonly now: number; readonly keepTokens: boolean }) {
  const connection = new SqliteDriver(path, { fileMustExist: true });
  try {
    connection.pragma("secure_delete = ON");
    connection.pragma("foreign_keys = ON");
    const clear = connection.transaction(() => {
      const run = (text: string, ...parameters: number[]) => connection.prepare(text).run(...parameters).changes;
      const count = (text: string) => Number(connection.prepare(text).pluck().get());
      const emailsDropped = count("SELECT count(due_at) FROM outbox");
      const sessionsEnded = count("SELECT count(*) FROM sessions");
      for (const table of [...tablesWithKeys, "claim_retries"]) run(destroyKeysOf(table));
      // The idempotency keys stay used.
      run("UPDATE claim_retries SET row_secret_id = NULL");
      run(
        "DELETE FROM payloads WHERE push_id IN (SELECT id FROM pushes WHERE keeps_payload = 1 AND ended_at IS NOT NULL)",
      );
      run("UPDATE pushes SET keeps_payload = 0 WHERE keeps_payload = 1");
      for (const table of clearedTables) run(`DELETE FROM ${table}`);
      run(giveUpLinkDeliveries, options.now);
      run("UPDATE totp_factors SET last_step = ? WHERE last_step < ?", ...twice(Math.floor(options.now / totpStepMs)));
      return {
        emailsDropped,
        sessionsEnded,
        tokensRevoked: options.keepTokens
          ? 0
          : run("UPDATE api_tokens SET revoked_at = ?, mac = NULL WHERE revoked_at IS NULL", options.now),
        /** API tokens that work now. Some may have been revoked since the backup. */
        tokensInUse: count("SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL"),
        users: count("SELECT count(*) FROM users"),
      };
    });
    const cleared = clear.immediate();
    // No other process has the database open, so this also removes the deleted rows from the log.
    connection.pragma("wal_checkpoint(TRUNCATE)");
    return cleared;
  } finally {
    connection.close();
  }
}

/** In place: the same width in the same row moves no bytes (see the schema). */
function destroyKeysOf(table: string): string {
  return `UPDATE row_secrets SET sealed = zeroblob(length(sealed)) WHERE id IN (SELECT row_secret_id FROM ${table})`;
}

/** Emails that were not sent by the time of the backup count as given up: they may have been sent since. */
const giveUpLinkDeliveries = `UPDATE link_deliveries SET given_up = ((1 << recipient_count) - 1) & ~sent, settled_at = ?
  WHERE sent | given_up <> (1 << recipient_count) - 1`;

/** RFC 6238: a code is valid for a time step of 30 seconds. */
const totpStepMs = 30_000;

function twice(value: number): [number, number] {
  return [value, value];
}
