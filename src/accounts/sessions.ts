import { type Clock, dayMs, minuteMs, secondMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { User } from "./account.ts";
import type { Accounts, AccountsDeps } from "./accounts.ts";
import { createLastUse } from "./last-use.ts";
import type { AccountStore } from "./store-sqlite.ts";

const lifetimeMs = 14 * dayMs;
/** Signing in again and again ends one's own oldest sessions instead of filling the store. */
const perUserMax = 50;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

interface Deps {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly sessionTimeoutSeconds: number;
  readonly onUseNotRecorded: AccountsDeps["onUseNotRecorded"];
}

interface Sessions {
  readonly door: Pick<Accounts, "signOut" | "authenticateSession" | "removeExpiredSessions">;
  /** @returns the session's token, a new one each time: one fixed beforehand by somebody else never becomes valid. */
  start(user: User, now: number): Promise<string>;
}

export function createSessions({ store, clock, random, sessionTimeoutSeconds, onUseNotRecorded }: Deps): Sessions {
  const idleMs = sessionTimeoutSeconds * secondMs;
  const lastUse = createLastUse<string>({
    intervalMs: Math.min(minuteMs, idleMs / 4),
    record: (digestHex, now) => store.recordSessionUse(Buffer.from(digestHex, "hex"), now),
    onFailure: (error) => onUseNotRecorded("session", error),
  });

  return {
    async start(user, now) {
      const token = makeOpaqueToken(random);
      await store.insertSession({ digest: digest(token), userId: user.id, now, perUserMax });
      return token;
    },

    door: {
      async signOut(sessionToken) {
        if (tokenShape.test(sessionToken)) await store.deleteSession(digest(sessionToken));
      },

      async authenticateSession(sessionToken) {
        if (!tokenShape.test(sessionToken)) return undefined;
        const now = clock.now();
        const tokenDigest = digest(sessionToken);
        const session = store.findSession(tokenDigest);
        if (session === undefined) return undefined;
        if (now >= session.seenAt + idleMs || now >= session.createdAt + lifetimeMs) return undefined;
        lastUse.note(tokenDigest.toString("hex"), session.seenAt, now);
        return session.user;
      },

      // Use is no longer recorded once a session is refused, so those over their lifetime become idle ones too.
      removeExpiredSessions: (sessionsMax) => store.deleteSessionsSeenBefore(clock.now() - idleMs, sessionsMax),
    },
  };
}
