import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { RowOf } from "../../database/table.ts";
import { type linkSecrets, linkSecretUsers } from "./tables.ts";
import { destroySealed } from "./write-operations.ts";

export type LinkSecret = RowOf<typeof linkSecrets>;

const secretOf = sql<[userId: number], LinkSecret>(
  `SELECT link_secrets.id, sealed FROM link_secret_users JOIN link_secrets ON link_secrets.id = link_secret_id
   WHERE user_id = ?`,
);
const append = sql<[sealed: Buffer], { id: number }>("INSERT INTO link_secrets (sealed) VALUES (?) RETURNING id");
const assign = linkSecretUsers.insert("ON CONFLICT (user_id) DO NOTHING");
const unassign = sql<[userId: number], { id: number }>(
  "DELETE FROM link_secret_users WHERE user_id = ? RETURNING link_secret_id AS id",
);
const destroy = sql<[id: number]>(destroySealed("link_secrets", "id = ?"));

/** A condition of statements that write what was sealed under a secret. Parameters: the user, and the id of the secret. */
export const isCurrentSecret = "EXISTS (SELECT 1 FROM link_secret_users WHERE user_id = ? AND link_secret_id = ?)";

export const findLinkSecret = (connection: ReadConnection, userId: number): Promise<LinkSecret | undefined> =>
  connection.one(secretOf, userId);

/** Gives the user a secret. Changes nothing if there is one. */
export async function insertLinkSecret(tx: Transaction, userId: number, sealed: Buffer): Promise<void> {
  const appended = await tx.one(append, sealed);
  if (appended === undefined) throw new Error("No link secret was appended.");
  const assigned = await tx.run(assign, ...linkSecretUsers.values({ userId, linkSecretId: appended.id }));
  if (assigned === 0) await tx.run(destroy, appended.id);
}

export async function destroyLinkSecret(tx: Transaction, userId: number): Promise<void> {
  const unassigned = await tx.one(unassign, userId);
  if (unassigned !== undefined) await tx.run(destroy, unassigned.id);
}
