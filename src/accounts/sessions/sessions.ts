import { type Clock, dayMs, minuteMs, secondMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { digest, keyedDigest } from "../../crypto/digests.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction } from "../../database/database.ts";
import type { ClientContext, ListedSession, Session, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import { createLastUse } from "../last-use.ts";
import type { SessionStore } from "../store/sessions.ts";
import type { KnownClients } from "./known-clients.ts";

const lifetimeMs = 14 * dayMs;
/** Half signed in: long enough to fetch the telephone, too short to be worth stealing. */
const waitingMs = 10 * minuteMs;
/** Signing in again and again ends one's own oldest sessions instead of filling the store. */
const perUserMax = 50;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

interface Deps {
  readonly store: SessionStore;
  readonly knownClients: Pick<KnownClients, "note">;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: AccountsDeps["settings"];
  readonly onUseNotRecorded: AccountsDeps["onUseNotRecorded"];
}

export interface Sessions {
  signOut(sessionToken: string): Promise<void>;
  /** undefined: unknown, ended, idle for too long, of a disabled user, or nobody may sign in here. */
  authenticateSession(sessionToken: string): Promise<Session | undefined>;
  /** Those that work, last seen first. */
  listSessions(userId: number): Promise<readonly ListedSession[]>;
  /** false: no such session of that user. */
  endSession(userId: number, sessionId: number): Promise<boolean>;
  /** Sign out everywhere else. @param keptId the session that asks for it. */
  endOtherSessions(userId: number, keptId: number): Promise<void>;
  /** For the sweeper: removes at most `sessionsMax` sessions that have run out. @returns how many. */
  removeExpiredSessions(sessionsMax: number): Promise<number>;
}

/** A guard that is asked inside the transaction that starts the session, and what must happen together with the start. */
export type Guard = (tx: Transaction) => Promise<boolean>;

/**
 * The one way sessions begin, for whatever lets people in. Each gives a new token, so that one fixed beforehand by
 * somebody else never becomes valid; undefined: the user is gone or disabled by now, or a guard did not hold. A complete
 * session notes its place (known-clients.ts) in the same transaction.
 */
export interface SessionStarts {
  /**
   * One that waits for the second factor when the user has one.
   */
  start(user: Pick<User, "id">, client: ClientContext, now: number, provided?: Guard): Promise<string | undefined>;
  /**
   * One whose user has shown everything.
   * @param replacesToken of the session that waited: it ends in the same transaction, and had to be there still.
   * @param provided as in `start`; what it writes stays also when it says false.
   */
  startComplete(
    user: Pick<User, "id">,
    client: ClientContext,
    now: number,
    replacesToken?: string,
    provided?: Guard,
  ): Promise<string | undefined>;
}

const always: Guard = async () => true;

export function createSessions(deps: Deps): SessionStarts & { readonly door: Sessions } {
  return { ...sessionStarts(deps), door: sessionDoor(deps) };
}

function sessionStarts({ store, knownClients, random }: Deps): SessionStarts {
  type Start = Pick<Parameters<SessionStore["insertSession"]>[0], "complete" | "replaces" | "provided">;

  async function start(
    user: Pick<User, "id">,
    client: ClientContext,
    now: number,
    more: Start,
  ): Promise<string | undefined> {
    const token = makeOpaqueToken(random);
    const started = await store.insertSession({
      ...{ digest: digest(token), userId: user.id, client, now, perUserMax },
      ...more,
      onComplete: (tx, fresh) => knownClients.note(tx, fresh, client, now),
    });
    return started ? token : undefined;
  }

  return {
    start: (user, client, now, provided = always) =>
      start(user, client, now, { complete: false, replaces: null, provided }),
    startComplete(user, client, now, replacesToken, provided = always) {
      const replaces = replacesToken === undefined ? null : { digest: digest(replacesToken), since: now - waitingMs };
      return start(user, client, now, { complete: true, replaces, provided });
    },
  };
}

function sessionDoor({ store, clock, settings, onUseNotRecorded }: Deps): Sessions {
  const idleMs = settings.sessionTimeoutSeconds * secondMs;
  const lastUse = createLastUse<string>({
    intervalMs: Math.min(minuteMs, idleMs / 4),
    record: (digestHex, now) => store.recordSessionUse(Buffer.from(digestHex, "hex"), now),
    onFailure: (error) => onUseNotRecorded("session", error),
  });

  return {
    async signOut(sessionToken) {
      if (tokenShape.test(sessionToken)) await store.deleteSession(digest(sessionToken));
    },

    async authenticateSession(sessionToken) {
      if (settings.loginsDisabled || !tokenShape.test(sessionToken)) return undefined;
      const now = clock.now();
      const tokenDigest = digest(sessionToken);
      const found = await store.findSession(tokenDigest);
      if (found === undefined) return undefined;
      const { seenAt, ...session } = found;
      const endsAt = session.createdAt + (session.waitsForFactor ? waitingMs : lifetimeMs);
      if (now >= seenAt + idleMs || now >= endsAt) return undefined;
      lastUse.note(tokenDigest.toString("hex"), seenAt, now);
      const formToken = keyedDigest(Buffer.from(sessionToken), "form token").toString("base64url");
      return { ...session, formToken };
    },

    listSessions(userId) {
      const now = clock.now();
      return store.listSessions(userId, now - idleMs, now - lifetimeMs);
    },

    endSession: async (userId, sessionId) =>
      Number.isSafeInteger(sessionId) && (await store.deleteSessionOf(userId, sessionId)),

    endOtherSessions: (userId, keptId) => store.deleteOtherSessions(userId, keptId),

    // Use is no longer recorded once a session is refused, so those over their lifetime become idle ones too.
    removeExpiredSessions: (sessionsMax) => store.deleteSessionsSeenBefore(clock.now() - idleMs, sessionsMax),
  };
}
