import type { Clock } from "../../base/clock.ts";
import type { InTransaction } from "../../database/database.ts";
import type { User } from "../account.ts";
import type { AdministrationStore } from "../store/administration.ts";

export interface UserSummary {
  readonly user: User;
  readonly lastSignedInAt: number | null;
  readonly tokensInUse: number;
}

/** Who acts. From a shell: no user, and no address. */
export interface Administrator {
  readonly userId: number | null;
  readonly email: string;
  readonly address: string;
}

/** One line of what administrators did. `subject`: an e-mail address, an id or a name; never a secret. */
export interface AdminEntry {
  readonly createdAt: number;
  readonly adminId: number | null;
  readonly adminEmail: string;
  readonly action: AdminAction;
  readonly subject: string;
  readonly address: string;
}

export const adminActions = [
  "made_admin",
  "removed_admin",
  "disabled",
  "enabled",
  "reset_factors",
  "deleted_user",
  "created_user",
  "set_password",
  "ended_push",
  "retried_mail",
  "discarded_mail",
  "changed_branding",
  "restored_backup",
] as const;

export type AdminAction = (typeof adminActions)[number];

/** `user`: as it was before. "last_admin": nobody would be left who can administer; nothing was changed. */
export type Change = { readonly outcome: "done" | "last_admin"; readonly user: User } | { readonly outcome: "unknown" };

const pageSize = 50;

export function createAdministration(deps: {
  readonly store: AdministrationStore;
  readonly findUser: (userId: number) => Promise<User | undefined>;
  readonly clock: Clock;
}) {
  const { store, findUser, clock } = deps;

  const entryAbout = async (userId: number, action: AdminAction, by: Administrator) => ({
    ...{ by, action, now: clock.now() },
    subject: (await findUser(userId))?.email ?? String(userId),
  });

  return {
    /** By a part of the e-mail; newest first, 50 a page. `page` from 1. */
    async searchUsers(text: string, page: number): Promise<readonly UserSummary[]> {
      // No address holds one, and PostgreSQL's texts cannot.
      if (text.includes("\0")) return [];
      const part = text.trim().toLowerCase().normalize("NFC");
      return store.searchUsers({ text: part, now: clock.now(), limit: pageSize, offset: (page - 1) * pageSize });
    },
    /** What a user is already is done too; nothing changes, and the trail says nothing. */
    setAdmin: async (userId: number, admin: boolean, by: Administrator): Promise<Change> =>
      store.setAdmin(userId, admin, await entryAbout(userId, admin ? "made_admin" : "removed_admin", by)),
    /** A disabled user can do nothing: sessions end, tokens are refused; pushes and links stay. Twice: as `setAdmin`. */
    setDisabled: async (userId: number, disabled: boolean, by: Administrator): Promise<Change> =>
      store.setDisabled(userId, disabled, await entryAbout(userId, disabled ? "disabled" : "enabled", by)),
    /**
     * The account and all of this room that belongs to it; `domain.deleteAccount` is the whole of it, pushes included.
     * `by` null: the user himself, which is no act of administration.
     */
    deleteUser: async (userId: number, by: Administrator | null): Promise<Change> =>
      store.deleteUser(userId, clock.now(), by === null ? null : await entryAbout(userId, "deleted_user", by)),
    /** The line of what administrators do outside of this room, for the change that it tells of to take along. */
    adminEntry: (action: AdminAction, subject: string, by: Administrator): InTransaction => {
      const entry = { by, action, subject, now: clock.now() };
      return (tx) => store.recordAction(tx, entry);
    },
    /** Newest first, 50 a page; the newest 10,000 are kept. */
    listAdminEntries: (page: number): Promise<readonly AdminEntry[]> =>
      store.listEntries(pageSize, (page - 1) * pageSize),
  };
}
