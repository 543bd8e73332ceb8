import SqliteDriver from "better-sqlite3";

/** What of a restored database was made void, and what works again in the state that the backup has. */
export interface Revived {
  readonly sessionsEnded: number;
  readonly emailsDropped: number;
  readonly tokensRevoked: number;
  /** API tokens that work now; some may have been revoked since the backup. */
  readonly tokensInUse: number;
  readonly users: number;
}

/**
 * A backup knows nothing of what was ended, used or sent since. What a person makes anew in a moment does not come
 * back: sessions, links in mails, sign-ins under way, codes of authenticator apps up to this moment. Mails that waited
 * may have left since and are not sent again. @param now ms since the epoch.
 */
export function forgetRevived(
  path: string,
  options: { readonly now: number; readonly revokeTokens: boolean },
): Revived {
  const connection = new SqliteDriver(path, { fileMustExist: true });
  try {
    connection.pragma("secure_delete = ON");
    connection.pragma("foreign_keys = ON");
    const forget = connection.transaction((): Revived => {
      const run = (text: string, ...parameters: number[]) => connection.prepare(text).run(...parameters).changes;
      const count = (text: string) => Number(connection.prepare(text).pluck().get());
      const emailsDropped = count("SELECT count(due_at) FROM outbox");
      run("DELETE FROM outbox");
      run("DELETE FROM view_notifications");
      run(giveUpLinkDeliveries, options.now);
      run("DELETE FROM mailed_links");
      run("DELETE FROM sign_on_steps");
      run("DELETE FROM processes");
      run("UPDATE totp_factors SET last_step = ? WHERE last_step < ?", ...twice(Math.floor(options.now / totpStepMs)));
      return {
        emailsDropped,
        sessionsEnded: run("DELETE FROM sessions"),
        tokensRevoked: options.revokeTokens
          ? run("UPDATE api_tokens SET revoked_at = ? WHERE revoked_at IS NULL", options.now)
          : 0,
        tokensInUse: count("SELECT count(*) FROM api_tokens WHERE revoked_at IS NULL"),
        users: count("SELECT count(*) FROM users"),
      };
    });
    const revived = forget.immediate();
    // Nobody else has it open: what was deleted is then in no log either.
    connection.pragma("wal_checkpoint(TRUNCATE)");
    return revived;
  } finally {
    connection.close();
  }
}

/** What became of their emails nobody knows: those that the backup does not know to have left count as given up. */
const giveUpLinkDeliveries = `UPDATE link_deliveries SET given_up = ((1 << recipient_count) - 1) & ~sent, settled_at = ?
  WHERE sent | given_up <> (1 << recipient_count) - 1`;

/** RFC 6238: a code is that of the 30 seconds it was made in. */
const totpStepMs = 30_000;

function twice(value: number): [number, number] {
  return [value, value];
}
