import { minuteMs, secondMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import type { Transaction } from "../../database/database.ts";
import type { ClientContext, Session, SessionWay, User } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import { createLastUse } from "../last-use.ts";
import type { LogoutToken, ProviderSession, SessionStore } from "../store/sessions.ts";
import type { KnownClients } from "./known-clients.ts";
import { sessionTimes } from "./session-lists.ts";

/** For a session that waits for its second factor: enough time to fetch a phone, too short to be useful when stolen. */
const waitingMs = 10 * minuteMs;
/** Signing in repeatedly ends the user's own oldest sessions instead of filling the database. */
const perUserMax = 50;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

/** A precondition that is checked in the transaction that starts the session. */
export type Guard = (tx: Transaction) => Promise<boolean>;

const always: Guard = async () => true;

const defaults = {
  way: "here",
  provided: always,
  persistent: false,
  isProved: true,
  adminUntil: null,
  providerSession: null,
} as const;

interface StartOptions {
  /** Absent: by a password, a passkey or a sign-up. Where single sign-on is the only way in, such a session does not start. */
  readonly way?: SessionWay;
  /** Its writes are kept even if it returns false. */
  readonly provided?: Guard;
  /** The browser keeps the cookie when it closes. */
  readonly persistent?: boolean;
  /** False: by a sign-on at the provider, which may have asked for nothing. */
  readonly isProved?: boolean;
  /** The provider's groups make the user an administrator until then; null: they do not. */
  readonly adminUntil?: number | null;
  /** What the provider says about its own session; null: the session does not begin with a sign-on. */
  readonly providerSession?: ProviderSession | null;
}

interface CompleteStartOptions extends StartOptions {
  /**
   * The session that waited for the factor: it must still exist, and ends in the same transaction. The new session is persistent
   * if that one was.
   */
  readonly replacesToken?: string;
}

export type SessionStarts = ReturnType<typeof createSessionStarts>;

/**
 * The only way to start sessions. Each one gets a new token, so that an attacker cannot plant a token beforehand. A
 * complete session remembers its client (known-clients.ts) in the same transaction.
 */
export function createSessionStarts(deps: {
  readonly store: SessionStore;
  readonly knownClients: Pick<KnownClients, "note">;
  readonly random: Random;
  readonly access: AccessKeys;
  readonly settings: Pick<AccountsDeps["settings"], "signOnOnly">;
}) {
  const { store, knownClients, random, access, settings } = deps;
  type Start = Pick<
    Parameters<SessionStore["insertSession"]>[0],
    "way" | "complete" | "replaces" | "provided" | "persistent" | "isProved" | "adminUntil" | "providerSession"
  >;

  async function insert(
    user: Pick<User, "id">,
    client: ClientContext,
    now: number,
    start: Start,
  ): Promise<string | undefined> {
    if (settings.signOnOnly && start.way === "here") return undefined;
    const token = makeOpaqueToken(random);
    const started = await store.insertSession({
      digest: access.digest("session", token),
      userId: user.id,
      client,
      now,
      perUserMax,
      ...start,
      onComplete: (tx, fresh) => knownClients.note(tx, fresh, client, now),
    });
    return started ? token : undefined;
  }

  return {
    /**
     * Starts a session, which waits for the second factor if the user has one.
     * @returns its token; undefined: the user is gone or disabled by now, or `provided` returned false.
     */
    start: (
      user: Pick<User, "id">,
      client: ClientContext,
      now: number,
      options: StartOptions = {},
    ): Promise<string | undefined> =>
      // The second factors of this server count no more where single sign-on is the only way in.
      insert(user, client, now, { complete: settings.signOnOnly, replaces: null, ...defaults, ...options }),

    /**
     * Starts a session for a user who has already shown every factor.
     * @returns as `start`.
     */
    startComplete(
      user: Pick<User, "id">,
      client: ClientContext,
      now: number,
      { replacesToken, ...options }: CompleteStartOptions = {},
    ): Promise<string | undefined> {
      const replaces =
        replacesToken === undefined
          ? null
          : { digest: access.digest("session", replacesToken), since: now - waitingMs };
      return insert(user, client, now, { complete: true, replaces, ...defaults, ...options });
    },
  };
}

/** What only the session gives or takes is never in the row of the user: what is made in the session does not keep it. */
function userInSession(
  user: User,
  adminByGroup: boolean,
  { signOnOnly }: Pick<AccountsDeps["settings"], "signOnOnly">,
): User {
  return {
    ...user,
    admin: user.admin || adminByGroup,
    // Nothing asks for them where single sign-on is the only way in.
    ...(signOnOnly && { hasPassword: false, hasSecondFactor: false }),
  };
}

export function createSessions(
  deps: Pick<AccountsDeps, "clock" | "settings" | "access" | "onUseNotRecorded"> & { readonly store: SessionStore },
) {
  const { store, clock, settings, access, onUseNotRecorded } = deps;
  const { idleMs, persistentIdleMs, lifetimeMs } = sessionTimes(settings);
  const lastUse = createLastUse<string>({
    intervalMs: Math.min(minuteMs, idleMs / 4),
    record: (digestHex, now) => store.recordSessionUse(Buffer.from(digestHex, "hex"), now),
    onFailure: (error) => onUseNotRecorded("session", error),
  });

  return {
    async signOut(sessionToken: string): Promise<void> {
      if (tokenShape.test(sessionToken)) await store.deleteSession(access.digest("session", sessionToken));
    },

    /** @returns undefined: unknown, ended, idle for too long, of a disabled user, or signing in is disabled. */
    async authenticateSession(sessionToken: string): Promise<Session | undefined> {
      if (settings.loginsDisabled || !tokenShape.test(sessionToken)) return undefined;
      const now = clock.now();
      const tokenDigest = access.digest("session", sessionToken);
      const found = await store.findSession(tokenDigest);
      if (found === undefined) return undefined;
      const { seenAt, persistent, adminUntil, ...session } = found;
      if (settings.signOnOnly && session.waitsForFactor) return undefined;
      const endsAt = session.createdAt + (session.waitsForFactor ? waitingMs : lifetimeMs);
      if (now >= seenAt + (persistent ? persistentIdleMs : idleMs) || now >= endsAt) return undefined;
      lastUse.note(tokenDigest.toString("hex"), seenAt, now);
      const formToken = access.digest("form_token", sessionToken).toString("base64url");
      // A session that waits lasts for minutes: its cookie need not survive the browser.
      const cookieSeconds = persistent && !session.waitsForFactor ? lifetimeMs / secondMs : undefined;
      const adminByGroup = adminUntil !== null && now < adminUntil;
      const user = userInSession(session.user, adminByGroup, settings);
      return { ...session, user, cookieSeconds, formToken };
    },

    /** The token for forms of people without a session. @param cookie the random value of their entry cookie. */
    entryFormToken: (cookie: string): string => access.digest("form_token", "entry", cookie).toString("base64url"),

    /** @returns false: the user has no such session. */
    endSession: async (userId: number, sessionId: number): Promise<boolean> =>
      Number.isSafeInteger(sessionId) && (await store.deleteSessionOf(userId, sessionId)),

    /** Signs the user out everywhere but in the session `keptId`. */
    endOtherSessions: (userId: number, keptId: number) => store.deleteOtherSessions(userId, keptId),

    /**
     * For the cleanup job, with the provider's logouts. A refused session records no further use, so sessions past their lifetime
     * become idle as well.
     * @returns how many were removed, at most `rowsMax`.
     */
    async removeExpiredSessions(rowsMax: number): Promise<number> {
      const now = clock.now();
      let removed = await store.deleteSessionsSeenBefore(false, now - idleMs, rowsMax);
      removed += await store.deleteSessionsSeenBefore(true, now - persistentIdleMs, rowsMax - removed);
      return removed + (await store.deleteOldLogouts(now, rowsMax - removed));
    },

    /** Ends the sessions that began with the provider's session, or with any of the user's there. Never API tokens. */
    endProviderSessions: (logout: LogoutToken): Promise<void> => store.endProviderSessions(logout, clock.now()),

    /** How long a session lasts without activity if its user chose to stay signed in. */
    persistentIdleSeconds: persistentIdleMs / secondMs,
  };
}
