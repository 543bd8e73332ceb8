import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { identities, passkeys, scimUsers, users } from "./tables.ts";

const revokeTokens = sql<[now: number]>("UPDATE api_tokens SET revoked_at = ?, mac = NULL WHERE revoked_at IS NULL");
/** The digests of their secrets are under the old key, so nobody could use them any more. */
const removeAll = ["sessions", "mailed_links", "backup_codes", "sign_on_steps"].map((table) =>
  sql<[]>(`DELETE FROM ${table}`),
);

/**
 * For the transaction that replaces the access secret: accounts, with what SCIM says about them, passkeys and identities of providers get
 * new MACs. All that is found by the digest of a secret ends: sessions, API tokens, emailed links, backup codes. Rows that this server did
 * not write stay invalid. @returns how many accounts, passkeys and identities.
 */
export async function renewAccess(tx: Transaction, from: AccessKeys, to: AccessKeys, now: number): Promise<number> {
  await tx.run(revokeTokens, now);
  for (const remove of removeAll) await tx.run(remove);
  await scimUsers.renew(tx, from, to, "id");
  return (
    (await users.renew(tx, from, to, "id")) +
    (await passkeys.renew(tx, from, to, "id")) +
    (await identities.renew(tx, from, to, "userId"))
  );
}
