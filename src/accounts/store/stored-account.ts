import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import type { UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { PasswordSeals } from "./password-seals.ts";
import { apiTokens, totpFactors, users } from "./tables.ts";

/** The name of adopted API tokens. */
export const adoptedTokenName = "Password Pusher";

const reading = users.reading("passwordSealed");
const accountById = sql<
  [userId: number],
  UnopenedRow<typeof reading> & { readonly totpSealed: Buffer | null; readonly passkeys: number }
>(
  `SELECT ${reading.selectList}, totp_factors.secret_sealed AS totpSealed,
     (SELECT count(*) FROM passkeys WHERE passkeys.user_id = users.id) AS passkeys
   FROM users LEFT JOIN totp_factors ON totp_factors.user_id = users.id WHERE users.id = ?`,
);
const tokenReading = apiTokens.reading("revokedAt");
const tokenByDigest = sql<[digest: Buffer], UnopenedRow<typeof tokenReading>>(
  `SELECT ${tokenReading.selectList} FROM api_tokens WHERE digest = ?`,
);

const revokedToken = sql<[userId: number, tokenName: string], { found: number }>(
  "SELECT 1 AS found FROM api_tokens WHERE user_id = ? AND name = ? AND revoked_at IS NOT NULL LIMIT 1",
);

export type StoredAccount = Exclude<Awaited<ReturnType<typeof findStoredAccount>>, "missing" | "forged">;

/**
 * For comparisons: an account with its opened credentials. Only reads. @returns "forged": this server did not write the row.
 */
export async function findStoredAccount(
  connection: ReadConnection,
  { access, keyring }: { readonly access: AccessKeys; readonly keyring: Keyring },
  userId: number,
) {
  const row = await connection.one(accountById, userId);
  if (row === undefined) return "missing";
  const user = reading.open(access, row);
  if (user === undefined) return "forged";
  const { totpSealed, passkeys } = row;
  const { email, admin, hasPassword, secondFactors, disabledAt, passwordSealed } = user;
  return {
    email,
    admin,
    secondFactors,
    hasPassword,
    isDisabled: disabledAt !== null,
    /** "": none, or its seal does not open. */
    passwordHash: new PasswordSeals({ access, keyring: () => keyring }).open(user, passwordSealed),
    /** The rows of authenticator apps and passkeys. Fewer than `secondFactors`: one was lost. */
    factorRows: passkeys + (totpSealed === null ? 0 : 1),
    /** null: no authenticator app. undefined: its seal does not open. */
    totpSecret:
      totpSealed === null
        ? null
        : keyring.open(totpFactors.seals.totpSecret, { id: userId, ownerId: userId }, totpSealed),
  };
}

/** For comparisons. Only reads. @returns "forged": this server did not write the row. */
export async function findStoredToken(connection: ReadConnection, access: AccessKeys, token: string) {
  const row = await connection.one(tokenByDigest, access.digest("api_token", token));
  if (row === undefined) return "missing";
  // A revoked token has no MAC any more.
  if (row.tokenRevokedAt !== null) return "revoked";
  const opened = tokenReading.open(access, row);
  return opened === undefined ? "forged" : { userId: opened.userId, expiresAt: opened.expiresAt };
}

/** Whether an adopted API token of the account has ended here. */
export async function hasEndedAdoptedToken(connection: ReadConnection, userId: number): Promise<boolean> {
  return (await connection.one(revokedToken, userId, adoptedTokenName)) !== undefined;
}
