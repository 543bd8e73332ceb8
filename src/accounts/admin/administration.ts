import { type Clock, dayMs } from "../../base/clock.ts";
import type { InTransaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import type { AdministrationStore } from "../store/administration.ts";
import type { AdminAction, AdminEntry, Administrator, Change, UserSummary } from "./admin-actions.ts";

export const usersPerPage = 100;
const entriesPerPage = 50;
const activeDays = 30;

export function createAdministration(deps: {
  readonly store: AdministrationStore;
  readonly findUser: (userId: number) => Promise<User | undefined>;
  readonly clock: Clock;
}) {
  const { store, findUser, clock } = deps;

  const entryAbout = async (userId: number, action: AdminAction, by: Administrator) => ({
    by,
    action,
    now: clock.now(),
    subject: (await findUser(userId))?.email ?? String(userId),
  });

  return {
    /** Newest first, `usersPerPage` a page. @param text a part of the email address. @param page from 1. */
    async searchUsers(text: string, page: number): Promise<readonly UserSummary[]> {
      // No address contains NUL, and PostgreSQL's text type does not allow it.
      if (text.includes("\0")) return [];
      const part = text.trim().toLowerCase().normalize("NFC");
      const offset = (page - 1) * usersPerPage;
      return store.searchUsers({ text: part, now: clock.now(), limit: usersPerPage, offset });
    },
    /** `active`: signed in during the last 30 days. */
    countUsers: () => store.countUsers(clock.now() - activeDays * dayMs),
    findUserSummary: (userId: number): Promise<UserSummary | undefined> => store.findUserSummary(userId, clock.now()),
    /** Succeeds without an audit entry when nothing changes. "unknown" also for one's own promotion. */
    async setAdmin(userId: number, admin: boolean, by: Administrator): Promise<Change> {
      // An administrator by the provider's groups, who must not become one for good.
      if (admin && by.userId === userId && (await findUser(userId))?.admin === false) return { outcome: "unknown" };
      return store.setAdmin(userId, admin, await entryAbout(userId, admin ? "made_admin" : "removed_admin", by));
    },
    /** The email address counts as confirmed. If nothing changes: as `setAdmin`. */
    confirmEmail: async (userId: number, by: Administrator): Promise<Change> =>
      store.confirmEmail(userId, await entryAbout(userId, "confirmed_email", by)),
    /** A disabled user's sessions and API tokens end; pushes and links are kept. If nothing changes: as `setAdmin`. */
    setDisabled: async (userId: number, disabled: boolean, by: Administrator): Promise<Change> =>
      store.setDisabled(userId, disabled, await entryAbout(userId, disabled ? "disabled" : "enabled", by)),
    /** Signs the user out everywhere. API tokens stay. */
    endAllSessions: async (userId: number, by: Administrator): Promise<Change> =>
      store.endSessions(userId, await entryAbout(userId, "ended_sessions", by)),
    /** Ends these sessions, of any user. API tokens stay. */
    endSomeSessions: (sessionIds: readonly number[], by: Administrator): Promise<void> =>
      store.endSomeSessions(sessionIds.filter(Number.isSafeInteger), by, clock.now()),
    /**
     * Deletes the account and its data in this room; `domain.deleteAccount` also removes its pushes.
     * @param by null: the users themselves delete their account, which is not recorded.
     * @param together runs in the transaction before the account is deleted.
     */
    deleteUser: async (userId: number, by: Administrator | null, together?: InTransaction): Promise<Change> =>
      store.deleteUser(
        userId,
        clock.now(),
        by === null ? null : await entryAbout(userId, "deleted_user", by),
        together,
      ),
    /** An audit entry for a change outside of this room, to be written in the change's transaction. */
    adminEntry: (action: AdminAction, subject: string, by: Administrator): InTransaction => {
      const entry = { by, action, subject, now: clock.now() };
      return (tx) => store.recordAction(tx, entry);
    },
    /** Records an access that changes nothing. */
    recordAccess: (action: "read_trail", subject: string, by: Administrator): Promise<void> =>
      store.recordAccess({ by, action, subject, now: clock.now() }),
    /** Newest first, 50 a page. The newest 10,000 are kept, 1,000 of the sign-ons and 1,000 of SCIM. */
    listAdminEntries: (page: number): Promise<readonly AdminEntry[]> =>
      store.listEntries(entriesPerPage, (page - 1) * entriesPerPage),
  };
}
