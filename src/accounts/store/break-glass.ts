import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { User } from "../account.ts";
import { sessions, users } from "./tables.ts";
import { findOtherAdmins, openUser, type UserRow, userColumns } from "./users.ts";

/** No user has this id. */
const nobody = 0;

const reading = sessions.reading();
const adminsByGroup = sql<[now: number], UserRow & UnopenedRow<typeof reading>>(
  `SELECT ${userColumns}, ${reading.selectList} FROM sessions JOIN users ON users.id = sessions.user_id
   WHERE admin_until > ? AND disabled_at IS NULL`,
);

/** Every administrator who is not disabled, with those whom a group of the provider makes administrators in a session. */
export async function findAdminsIn(
  connection: ReadConnection,
  access: AccessKeys,
  now: number,
): Promise<readonly User[]> {
  const admins = new Map((await findOtherAdmins(connection, access, nobody)).map((user) => [user.id, user]));
  for (const row of await connection.all(adminsByGroup, now)) {
    const session = reading.open(access, row);
    const user = openUser(access, row);
    // The MAC of the session names the user, and the join could name another one.
    if (session !== undefined && user?.id === session.userId) admins.set(user.id, user);
  }
  return [...admins.values()];
}

/** Requires the accounts lock. There may be something in the account from now on: it is linked only with a proof. */
export async function markBreakGlass(tx: Transaction, access: AccessKeys, userId: number, now: number): Promise<void> {
  await users.change(tx, access, userId, { breakGlassAt: now, isUnused: false, updatedAt: now });
}
