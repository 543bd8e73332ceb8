import SqliteDriver from "better-sqlite3";

/**
 * Clears data that may have been ended, used or sent since the backup and is easy to create again: sessions, links in emails,
 * unfinished sign-ins, and codes of authenticator apps up to now. Queued emails may have been sent since and are dropped.
 * @param options `now`: ms since the epoch.
 * @returns the numbers of cleared rows, and of the users and API tokens that work again.
 */
export function clearTransientState(path: string, options: { readonly now: number; readonly revokeTokens: boolean }) {
  const connection = new SqliteDriver(path, { fileMustExist: true });
  try {
    connection.pragma("secure_delete = ON");
    connection.pragma("foreign_keys = ON");
    const clear = connection.transaction(() => {
      const run = (text: string, ...parameters: number[]) => connection.prepare(text).run(...parameters).changes;
      const count = (text: string) => Number(connection.prepare(text).pluck().get());
      const emailsDropped = count("SELECT count(due_at) FROM outbox");
      run("DELETE FROM outbox");
      run("DELETE FROM view_notifications");
      run(giveUpLinkDeliveries, options.now);
      run("DELETE FROM mailed_links");
      run("DELETE FROM sign_on_steps");
      run("DELETE FROM processes");
      run("DELETE FROM job_runs");
      run("UPDATE totp_factors SET last_step = ? WHERE last_step < ?", ...twice(Math.floor(options.now / totpStepMs)));
      return {
        emailsDropped,
        sessionsEnded: run("DELETE FROM sessions"),
        tokensRevoked: options.revokeTokens
          ? run("UPDATE api_tokens SET revoked_at = ?, mac = NULL WHERE revoked_at IS NULL", options.now)
          : 0,
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

/** Emails that were not sent by the time of the backup count as given up: they may have been sent since. */
const giveUpLinkDeliveries = `UPDATE link_deliveries SET given_up = ((1 << recipient_count) - 1) & ~sent, settled_at = ?
  WHERE sent | given_up <> (1 << recipient_count) - 1`;

/** RFC 6238: a code is valid for a time step of 30 seconds. */
const totpStepMs = 30_000;

function twice(value: number): [number, number] {
  return [value, value];
}
