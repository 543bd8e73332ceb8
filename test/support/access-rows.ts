import { users } from "../../src/accounts/store/tables.ts";
import type { AccessKeys } from "../../src/crypto/access-keys.ts";
import type { Database } from "../../src/database/database.ts";
import { readRows } from "./engine-database.ts";

/** A `TestAccounts`, or a domain. */
type AccessDomain =
  | { readonly db: Database; readonly access: AccessKeys }
  | { readonly db: Database; readonly vault: { readonly access: AccessKeys } };

export function accessOf(domain: AccessDomain): AccessKeys {
  return "access" in domain ? domain.access : domain.vault.access;
}

/** Changes columns of users as this server does, with a valid MAC. @param email undefined: of all users. */
export async function changeUsers(
  domain: AccessDomain,
  changes: Parameters<typeof users.change>[3],
  email?: string,
): Promise<void> {
  const rows = await readRows<{ id: number; email: string }>(domain.db, "SELECT id, email FROM users");
  const wanted = rows.filter((row) => email === undefined || row.email === email);
  if (wanted.length === 0) throw new Error("There is no such user.");
  await domain.db.writeSerialized("accounts", async (tx) => {
    for (const { id } of wanted) {
      if (!(await users.change(tx, accessOf(domain), Number(id), changes))) throw new Error(`User ${id} is forged.`);
    }
  });
}
