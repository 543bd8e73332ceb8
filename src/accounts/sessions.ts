import { type Clock, dayMs, minuteMs, secondMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { digest, keyedDigest } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { Place, Session, User } from "./account.ts";
import type { AccountsDeps } from "./accounts.ts";
import { createLastUse } from "./last-use.ts";
import type { SessionStore } from "./sqlite/sessions.ts";

const lifetimeMs = 14 * dayMs;
/** Half signed in: long enough to fetch the telephone, too short to be worth stealing. */
const waitingMs = 10 * minuteMs;
/** Signing in again and again ends one's own oldest sessions instead of filling the store. */
const perUserMax = 50;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

interface Deps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: AccountsDeps["settings"];
  readonly onUseNotRecorded: AccountsDeps["onUseNotRecorded"];
}

export interface Sessions {
  signOut(sessionToken: string): Promise<void>;
  /** undefined: unknown, ended, idle for too long, of a disabled user, or nobody may sign in here. */
  authenticateSession(sessionToken: string): Promise<Session | undefined>;
  /** For the sweeper: removes at most `sessionsMax` sessions that have run out. @returns how many. */
  removeExpiredSessions(sessionsMax: number): Promise<number>;
}

interface OpenSessions {
  readonly door: Sessions;
  /**
   * A session that waits for the second factor when the user has one.
   * @returns its token, a new one each time: one fixed beforehand by somebody else never becomes valid.
   */
  start(user: User, place: Place, now: number): Promise<string>;
}

export function createSessions({ store, clock, random, settings, onUseNotRecorded }: Deps): OpenSessions {
  const idleMs = settings.sessionTimeoutSeconds * secondMs;
  const lastUse = createLastUse<string>({
    intervalMs: Math.min(minuteMs, idleMs / 4),
    record: (digestHex, now) => store.recordSessionUse(Buffer.from(digestHex, "hex"), now),
    onFailure: (error) => onUseNotRecorded("session", error),
  });

  return {
    async start(user, place, now) {
      const token = makeOpaqueToken(random);
      await store.insertSession({
        ...{ digest: digest(token), userId: user.id, waitsForFactor: user.hasSecondFactor, place, now, perUserMax },
      });
      return token;
    },

    door: {
      async signOut(sessionToken) {
        if (tokenShape.test(sessionToken)) await store.deleteSession(digest(sessionToken));
      },

      async authenticateSession(sessionToken) {
        if (settings.loginsDisabled || !tokenShape.test(sessionToken)) return undefined;
        const now = clock.now();
        const tokenDigest = digest(sessionToken);
        const found = store.findSession(tokenDigest);
        if (found === undefined) return undefined;
        const { seenAt, ...session } = found;
        const endsAt = session.createdAt + (session.waitsForFactor ? waitingMs : lifetimeMs);
        if (now >= seenAt + idleMs || now >= endsAt) return undefined;
        lastUse.note(tokenDigest.toString("hex"), seenAt, now);
        const formToken = keyedDigest(Buffer.from(sessionToken), "form token").toString("base64url");
        return { ...session, formToken };
      },

      // Use is no longer recorded once a session is refused, so those over their lifetime become idle ones too.
      removeExpiredSessions: (sessionsMax) => store.deleteSessionsSeenBefore(clock.now() - idleMs, sessionsMax),
    },
  };
}
