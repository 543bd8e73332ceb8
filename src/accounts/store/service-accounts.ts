import type { Random } from "../../base/random.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import type { PasswordSeals } from "./password-seals.ts";
import { deletedUsers, users } from "./tables.ts";
import { drawUserId, openTokenUser, type UserRow, userById, userColumns } from "./users.ts";

const byGroup = sql<[groupId: number], UserRow>(`SELECT ${userColumns} FROM users WHERE service_group_id = ?`);
const insertUser = users.insertion();
const removeAccount = sql<[groupId: number], { id: number }>(
  "DELETE FROM users WHERE service_group_id = ? RETURNING id",
);
const markDeleted = deletedUsers.insert();

export type ServiceAccountStore = ReturnType<typeof createServiceAccountStore>;

/** The accounts of groups that have the pushes of service tokens. Functions that take a transaction require the accounts lock. */
export function createServiceAccountStore(read: ReadConnection, seals: PasswordSeals, random: Random) {
  const { access } = seals;

  async function findIn(connection: ReadConnection, groupId: number): Promise<User | undefined> {
    const account = openTokenUser(access, await connection.one(byGroup, groupId));
    // The MAC of the row names the group, and the index could name another one.
    return account?.serviceGroupId === groupId ? account : undefined;
  }

  return {
    /** The group's; undefined: it has never had a service token. */
    find: (groupId: number): Promise<User | undefined> => findIn(read, groupId),

    /** The group whose service account has this id. */
    groupOf: async (userId: number): Promise<number | undefined> =>
      openTokenUser(access, await read.one(userById, userId))?.serviceGroupId,

    /** @returns the id of the group's service account, and whether it is new. */
    async findOrMake(tx: Transaction, groupId: number, now: number): Promise<{ userId: number; isNew: boolean }> {
      const found = await findIn(tx, groupId);
      if (found !== undefined) return { userId: found.id, isNew: false };
      const id = await drawUserId(tx, random);
      await insertUser(tx, access, {
        id,
        // No address looks like this one, so no form and no provider names the account.
        email: `service account ${id}`,
        ...seals.columnsOf(id, ""),
        admin: false,
        language: null,
        createdAt: now,
        updatedAt: now,
        confirmedAt: null,
        serviceGroupId: groupId,
      });
      return { userId: id, isNew: true };
    },

    /** With its tokens. @returns the id of the account, whose pushes are still there; undefined: there is none. */
    async remove(tx: Transaction, groupId: number, now: number): Promise<number | undefined> {
      const removed = await tx.one(removeAccount, groupId);
      if (removed === undefined) return undefined;
      // Pushes only know their owner's id: the job that removes them reads it here.
      await tx.run(markDeleted, ...deletedUsers.values({ userId: removed.id, deletedAt: now }));
      return removed.id;
    },
  };
}
