import { minuteMs } from "../../base/clock.ts";
import { clientKey, parseAddress } from "../../base/networks.ts";
import { userAgentLengthMax } from "../../base/user-agent.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { Database, Transaction, WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { widestNetworkOf } from "../../limits/client-shares.ts";
import type { ClientContext, ListedSession, Session, SessionWay, User } from "../account.ts";
import { providerLogouts, sessions, users } from "./tables.ts";
import { allBeyond, findUserIn, markUsed, nextId, openUser, type UserRow, userColumns } from "./users.ts";

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: number;
  /** A session that replaces another one takes its value instead. */
  readonly way: SessionWay;
  /** The user has already shown every factor. */
  readonly complete: boolean;
  /** The browser keeps the cookie when it closes. A session that replaces another one takes its value instead. */
  readonly persistent: boolean;
  /** The user has proved to be there. A session that replaces another one has, by the factor. */
  readonly isProved: boolean;
  /** As in `StartOptions`. A session that replaces another one takes its value instead. */
  readonly adminUntil: number | null;
  /** null: the session does not begin with a sign-on. A session that replaces another one takes its value instead. */
  readonly providerSession: ProviderSession | null;
  /** The session that has waited for the second factor; null: none. It must have begun after `since`. */
  readonly replaces: { readonly digest: Buffer; readonly since: number } | null;
  readonly client: ClientContext;
  readonly now: number;
  /** The user's oldest sessions beyond it end. */
  readonly perUserMax: number;
  /** Runs in the same transaction, after every other check; false: no session is started. */
  readonly provided: (tx: Transaction) => Promise<boolean>;
  /** Runs in the same transaction when the session is complete. */
  readonly onComplete: (tx: Transaction, user: User) => Promise<void>;
}

/** Sessions that were not seen since, or were begun before, have ended. */
export interface SessionsSince {
  readonly idle: number;
  readonly persistentIdle: number;
  readonly createdAfter: number;
}

interface StoredSession extends Omit<Session, "formToken" | "cookieSeconds"> {
  readonly persistent: boolean;
  readonly adminUntil: number | null;
  readonly seenAt: number;
}

const reading = sessions.reading("seenAt");

const byDigest = sql<[digest: Buffer], UserRow & UnopenedRow<typeof reading>>(
  `SELECT ${userColumns}, ${reading.selectList}
   FROM sessions JOIN users ON users.id = sessions.user_id WHERE digest = ? AND disabled_at IS NULL`,
);
const byId = sql<[sessionId: number], UnopenedRow<typeof reading>>(
  `SELECT ${reading.selectList} FROM sessions WHERE id = ?`,
);
const listed = sessions.reading("seenAt", "address", "userAgent");
const sessionsOf = sql<
  [userId: number, idle: number, persistentIdle: number, createdAfter: number],
  UnopenedRow<typeof listed>
>(
  `SELECT ${listed.selectList} FROM sessions
   WHERE user_id = ? AND waits_for_factor = 0 AND (seen_at > ? OR persistent = 1 AND seen_at > ?) AND created_at > ? ORDER BY seen_at DESC, id DESC`,
);
const recordUse = sql<[now: number, digest: Buffer]>("UPDATE sessions SET seen_at = ? WHERE digest = ?");
const removeSession = sql<[digest: Buffer]>("DELETE FROM sessions WHERE digest = ?");
const removeSessionOf = sql<[sessionId: number, userId: number]>("DELETE FROM sessions WHERE id = ? AND user_id = ?");
const removeSessions = sql<[userId: number, exceptId: number | null]>(
  "DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?",
);
const idle = "SELECT digest FROM sessions WHERE persistent = ? AND seen_at <= ? ORDER BY seen_at LIMIT ?";
const removeIdle = sql<[persistent: number, seenAt: number, sessionsMax: number]>({
  sqlite: `DELETE FROM sessions WHERE digest IN (${idle})`,
  // As an array, which is evaluated once: a join could run the limited SELECT again for each row.
  postgres: `DELETE FROM sessions WHERE digest = ANY (ARRAY(${idle} FOR UPDATE SKIP LOCKED))`,
});
const waitingSession = sql<[digest: Buffer, userId: number, since: number], UnopenedRow<typeof reading>>(
  `SELECT ${reading.selectList} FROM sessions
   WHERE digest = ? AND user_id = ? AND waits_for_factor = 1 AND created_at > ?`,
);
/** Without those that wait. Threat: somebody who knows only the password signs in until the user is signed out everywhere. */
const dropOldest = sql<[userId: number, keptMax: number]>(
  `DELETE FROM sessions WHERE digest IN
     (SELECT digest FROM sessions WHERE user_id = ? AND waits_for_factor = 0 ORDER BY created_at DESC, digest ${allBeyond})`,
);
const oldestWaiting = sql<[userId: number], { digest: Buffer; address: string }>(
  "SELECT digest, address FROM sessions WHERE user_id = ? AND waits_for_factor = 1 ORDER BY created_at, digest",
);
const insertSession = sessions.insertion();
const recordSignIn = sql<[now: number, userId: number]>(
  "UPDATE users SET last_signed_in_at = ?, sign_in_count = sign_in_count + 1 WHERE id = ?",
);

/**
 * Part of every change of a password or of factors: ends the user's other sessions.
 * @param exceptId the session that makes the change; null: all sessions end.
 */
export async function endSessions(tx: WriteConnection, userId: number, exceptId: number | null): Promise<void> {
  await tx.run(removeSessions, userId, exceptId);
}

/** Requires the accounts lock. @returns the user's complete session; undefined: it has ended or waits for a factor. */
export async function findCompleteSession(tx: Transaction, access: AccessKeys, sessionId: number, userId: number) {
  const session = reading.open(access, await tx.one(byId, sessionId));
  return session?.userId === userId && !session.waitsForFactor ? session : undefined;
}

/** Requires the accounts lock. @returns whose complete session has ended; undefined: there is none with this id. */
export async function endAnySession(tx: Transaction, access: AccessKeys, sessionId: number): Promise<User | undefined> {
  const session = reading.open(access, await tx.one(byId, sessionId));
  if (session === undefined || session.waitsForFactor) return undefined;
  await tx.run(removeSessionOf, sessionId, session.userId);
  return findUserIn(tx, access, session.userId);
}

/** A logout that the provider reported: of one session there, or of all of a user. */
export interface LogoutToken {
  readonly issuer: string;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  /** In seconds since the epoch, by the provider's clock. Sessions whose ID token is newer go on. */
  readonly issuedAt: number;
}

/** What the provider said about the session that a session here began with. */
export type ProviderSession = Pick<LogoutToken, "issuer" | "sid" | "issuedAt"> & { readonly subject: string };

const logoutKeptMs = 10 * minuteMs;
const insertLogout = providerLogouts.insert(
  "ON CONFLICT (key) DO UPDATE SET issued_at = excluded.issued_at, received_at = excluded.received_at WHERE excluded.issued_at >= provider_logouts.issued_at",
);
const oldLogouts = "SELECT key FROM provider_logouts WHERE received_at <= ? LIMIT ?";
const removeOldLogouts = sql<[receivedAt: number, logoutsMax: number]>({
  sqlite: `DELETE FROM provider_logouts WHERE key IN (${oldLogouts})`,
  postgres: `DELETE FROM provider_logouts WHERE key = ANY (ARRAY(${oldLogouts} FOR UPDATE SKIP LOCKED))`,
});
const findLogout = sql<[ofSubject: string, ofSid: string, issuedAt: number, receivedAfter: number], { one: number }>(
  "SELECT 1 AS one FROM provider_logouts WHERE (key = ? OR key = ?) AND issued_at >= ? AND received_at > ? LIMIT 1",
);
const removeLogoutsOf = sql<[userId: number]>(
  "DELETE FROM provider_logouts WHERE key IN (SELECT 'sub ' || issuer || ' ' || subject FROM identities WHERE user_id = ?)",
);
const removeOfSubject = sql<[subject: string, issuedAt: number]>(
  "DELETE FROM sessions WHERE provider_subject = ? AND provider_issued_at <= ?",
);
const removeOfSid = sql<[sid: string, issuedAt: number]>(
  "DELETE FROM sessions WHERE provider_sid = ? AND provider_issued_at <= ?",
);
/** Another provider, after a change of the settings, can give the same id to somebody else. No issuer contains a blank. */
const at = (issuer: string, id: string) => `${issuer} ${id}`;
const keyOf = ({ issuer, sid, subject }: Pick<LogoutToken, "issuer" | "sid" | "subject">) =>
  sid === undefined ? `sub ${at(issuer, subject ?? "")}` : `sid ${at(issuer, sid)}`;

/** Their keys have the subjects of the account, which is about to be deleted. */
export async function forgetLogouts(tx: Transaction, userId: number): Promise<void> {
  await tx.run(removeLogoutsOf, userId);
}

/** Requires the accounts lock. */
async function isLoggedOut(
  tx: Transaction,
  { issuer, subject, sid, issuedAt }: ProviderSession,
  now: number,
): Promise<boolean> {
  const ofSubject = keyOf({ issuer, sid: undefined, subject });
  const ofSid = sid === undefined ? ofSubject : keyOf({ issuer, sid, subject });
  return (await tx.one(findLogout, ofSubject, ofSid, issuedAt, now - logoutKeptMs)) !== undefined;
}

/** The user has just proved to be there. Requires the accounts lock. @returns false: the complete session has ended. */
export async function setProved(
  tx: Transaction,
  access: AccessKeys,
  { id, user }: Pick<Session, "id" | "user">,
  now: number,
): Promise<boolean> {
  const session = await findCompleteSession(tx, access, id, user.id);
  return session !== undefined && (await sessions.change(tx, access, id, { provedAt: now }));
}

function providerSessionOf(row: {
  readonly providerSid: string | null;
  readonly providerSubject: string | null;
  readonly providerIssuedAt: number | null;
}): ProviderSession | null {
  const { providerSid, providerSubject, providerIssuedAt: issuedAt } = row;
  if (providerSubject === null || issuedAt === null) return null;
  const issuer = providerSubject.slice(0, providerSubject.indexOf(" "));
  const idIn = (stored: string) => stored.slice(issuer.length + 1);
  return {
    issuer,
    sid: providerSid === null ? undefined : idIn(providerSid),
    subject: idIn(providerSubject),
    issuedAt,
  };
}

/** As `providerSessionOf` reads them. */
function columnsOf(session: ProviderSession | null) {
  if (session === null) return { providerSid: null, providerSubject: null, providerIssuedAt: null };
  const { issuer, sid, subject, issuedAt } = session;
  return {
    providerSid: sid === undefined ? null : at(issuer, sid),
    providerSubject: at(issuer, subject),
    providerIssuedAt: issuedAt,
  };
}

/**
 * Ends the oldest waiting session of the network that has most of them, until `keptMax` are left. Threat: somebody who knows only
 * the password signs in until the user's own session no longer waits.
 */
async function dropWaiting(tx: Transaction, userId: number, keptMax: number): Promise<void> {
  const waiting = await tx.all(oldestWaiting, userId);
  const networks = [...Map.groupBy(waiting, ({ address }) => networkOf(address)).values()];
  for (let excess = waiting.length - keptMax; excess > 0; excess -= 1) {
    const ended = networks.reduce((one, other) => (other.length > one.length ? other : one)).shift();
    if (ended !== undefined) await tx.run(removeSession, ended.digest);
  }
}

function networkOf(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text : widestNetworkOf(clientKey(address));
}

/** Requires the accounts lock. Writes nothing when it refuses. */
async function insert(tx: Transaction, access: AccessKeys, session: NewSession): Promise<boolean> {
  const { digest, userId, complete, replaces, client, now, perUserMax, provided, onComplete } = session;
  let { way, isProved, persistent, adminUntil, providerSession } = session;
  // Read again: the user may have changed since the sign-in began.
  const user = await findUserIn(tx, access, userId);
  if (user === undefined || user.disabledAt !== null) return false;
  if (replaces !== null) {
    const opened = reading.open(access, await tx.one(waitingSession, replaces.digest, userId, replaces.since));
    if (opened === undefined) return false;
    ({ way, persistent, adminUntil } = opened);
    providerSession = providerSessionOf(opened);
    isProved = true;
  }
  if (providerSession !== null && (await isLoggedOut(tx, providerSession, now))) return false;
  if (!(await provided(tx))) return false;
  if (replaces !== null) await tx.run(removeSession, replaces.digest);
  // Before the new session is inserted: it must stay even if the clock was set back since the others began.
  const waitsForFactor = !complete && user.hasSecondFactor;
  if (waitsForFactor) await dropWaiting(tx, userId, perUserMax - 1);
  else await tx.run(dropOldest, userId, perUserMax - 1);
  const userAgent = client.userAgent.slice(0, userAgentLengthMax);
  const id = await nextId(tx, "sessions");
  const { address } = client;
  const atProvider = columnsOf(providerSession);
  const deciding = { provedAt: isProved ? now : null, waitsForFactor, persistent, adminUntil, ...atProvider };
  const row = { digest, id, userId, way, createdAt: now, seenAt: now, ...deciding, address, userAgent };
  await insertSession(tx, access, row);
  if (waitsForFactor) return true;
  await tx.run(recordSignIn, now, userId);
  if (providerSession !== null) await users.change(tx, access, userId, { lastSignedOnAt: now, isUnused: false });
  else await markUsed(tx, access, userId);
  await onComplete(tx, user);
  return true;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(db: Database, access: AccessKeys) {
  const { read } = db;
  const autocommit = db.autocommit({ retry: "whenNotExecuted" });
  const idempotent = db.autocommit({ retry: "idempotent" });
  return {
    /** @returns false: the user is gone or disabled, the session to replace no longer waits, or `provided` returned false. */
    insertSession: (session: NewSession): Promise<boolean> =>
      db.writeSerialized("accounts", (tx) => insert(tx, access, session)),

    /** @returns undefined also for a session of a disabled user. */
    async findSession(digest: Buffer): Promise<StoredSession | undefined> {
      const row = await read.one(byDigest, digest);
      const session = reading.open(access, row);
      const user = openUser(access, row);
      // The MAC of the row names the user, and the join could name another one.
      if (session === undefined || user?.id !== session.userId || user.disabledAt !== null) return undefined;
      const { id, createdAt, seenAt, provedAt, waitsForFactor, persistent, adminUntil } = session;
      return { id, user, waitsForFactor, persistent, adminUntil, createdAt, provedAt, seenAt };
    },

    /** Complete ones; last seen first. */
    async listSessions(userId: number, since: SessionsSince): Promise<readonly ListedSession[]> {
      const { idle, persistentIdle, createdAfter } = since;
      const rows = listed.openAll(access, await read.all(sessionsOf, userId, idle, persistentIdle, createdAfter));
      return rows.map(({ id, createdAt, seenAt, address, userAgent }) => ({
        id,
        createdAt,
        seenAt,
        address,
        userAgent,
      }));
    },

    async recordSessionUse(digest: Buffer, now: number): Promise<void> {
      await autocommit.run(recordUse, now, digest);
    },

    async deleteSession(digest: Buffer): Promise<void> {
      await idempotent.run(removeSession, digest);
    },

    /** @returns false: the user has no such session. */
    deleteSessionOf: async (userId: number, sessionId: number): Promise<boolean> =>
      (await autocommit.run(removeSessionOf, sessionId, userId)) === 1,

    deleteOtherSessions: (userId: number, keptId: number) => endSessions(idempotent, userId, keptId),

    /** @returns how many were deleted, at most `sessionsMax`. */
    deleteSessionsSeenBefore: (persistent: boolean, seenAt: number, sessionsMax: number): Promise<number> =>
      autocommit.run(removeIdle, persistent ? 1 : 0, seenAt, sessionsMax),

    /** @returns how many logouts that prevent no sign-on any more were deleted, at most `logoutsMax`. */
    deleteOldLogouts: (now: number, logoutsMax: number): Promise<number> =>
      autocommit.run(removeOldLogouts, now - logoutKeptMs, logoutsMax),

    /** See `LogoutToken`. Sign-ons of that time that are still under way start no session. */
    endProviderSessions: (logout: LogoutToken, now: number): Promise<void> =>
      db.writeSerialized("accounts", async (tx) => {
        const { issuer, sid, subject, issuedAt } = logout;
        const key = keyOf(logout);
        await tx.run(insertLogout, ...providerLogouts.values({ key, issuedAt, receivedAt: now }));
        await (sid === undefined
          ? tx.run(removeOfSubject, at(issuer, subject ?? ""), issuedAt)
          : tx.run(removeOfSid, at(issuer, sid), issuedAt));
      }),
  };
}
