import { dayMs, secondMs } from "../../base/clock.ts";
import type { ListedSession, SessionOfUser } from "../account.ts";
import type { AccountsDeps } from "../deps.ts";
import type { createSessionSearch, SessionPosition, SessionSearch } from "../store/session-search.ts";
import type { SessionStore, SessionsSince } from "../store/sessions.ts";

/** For a session whose user chose to stay signed in. */
const persistentIdleMsMin = 30 * dayMs;
const sessionsPerPage = 50;
/** Sessions that one search of the browsers examines: the rest follows on the next page. */
const examinedMax = 2_000;

type Settings = Pick<AccountsDeps["settings"], "sessionTimeoutSeconds" | "sessionMaxSeconds">;

/** How long sessions last, and which of them have not ended. */
export function sessionTimes({ sessionTimeoutSeconds, sessionMaxSeconds }: Settings) {
  const idleMs = sessionTimeoutSeconds * secondMs;
  const persistentIdleMs = Math.max(persistentIdleMsMin, idleMs);
  const lifetimeMs = sessionMaxSeconds * secondMs;
  const since = (now: number): SessionsSince => ({
    idle: now - idleMs,
    persistentIdle: now - persistentIdleMs,
    createdAfter: now - lifetimeMs,
  });
  return { idleMs, persistentIdleMs, lifetimeMs, since };
}

export function createSessionLists(
  deps: Pick<AccountsDeps, "clock"> & {
    readonly store: Pick<SessionStore, "listSessions">;
    readonly search: ReturnType<typeof createSessionSearch>;
    readonly settings: Settings;
  },
) {
  const { store, search, clock, settings } = deps;
  const times = sessionTimes(settings);
  return {
    /** The valid sessions, last seen first. */
    listSessions: (userId: number): Promise<readonly ListedSession[]> =>
      store.listSessions(userId, times.since(clock.now())),

    /**
     * The valid sessions of all users, last seen first, `sessionsPerPage` at most.
     * @param isWanted examines at most 2,000 sessions; without it, all are wanted.
     * @returns `next`: where the list goes on; null: it ends.
     */
    async searchSessions(
      asked: SessionSearch,
      isWanted?: (session: SessionOfUser) => boolean,
    ): Promise<{ readonly found: readonly SessionOfUser[]; readonly next: SessionPosition | null }> {
      // One more than a page has says whether another page follows.
      const limit = isWanted === undefined ? sessionsPerPage + 1 : examinedMax;
      const email = asked.email.trim().toLowerCase().normalize("NFC");
      // No address contains NUL, and PostgreSQL's text type does not allow it.
      if (email.includes("\0")) return { found: [], next: null };
      const { found, examined } = await search({ ...asked, email }, times.since(clock.now()), limit);
      const wanted = isWanted === undefined ? found : found.filter(isWanted);
      const shown = wanted.slice(0, sessionsPerPage);
      if (wanted.length > shown.length) return { found: shown, next: shown.at(-1) ?? null };
      return { found: shown, next: examined.length === limit ? (examined.at(-1) ?? null) : null };
    },
  };
}
