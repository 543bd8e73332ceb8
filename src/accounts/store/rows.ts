import type { User } from "../account.ts";

export interface UserRow {
  user_id: number;
  email: string;
  admin: number;
  user_created_at: number;
  confirmed_at: number | null;
  disabled_at: number | null;
  language: string | null;
  has_password: number;
  has_second_factor: number;
}

/** Of a statement that reads from `users`. */
export const userColumns = `users.id AS user_id, email, admin, users.created_at AS user_created_at, users.confirmed_at,
  disabled_at, language, CASE WHEN users.password_hash <> '' THEN 1 ELSE 0 END AS has_password,
  CASE WHEN EXISTS (SELECT 1 FROM totp_factors WHERE totp_factors.user_id = users.id)
   OR EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = users.id) THEN 1 ELSE 0 END AS has_second_factor`;

/** All rows but the first ones, in messages that both engines have. */
export const allBeyond = "LIMIT 1000000000 OFFSET ?";

export function toUser(row: UserRow): User {
  return {
    id: row.user_id,
    email: row.email,
    admin: row.admin === 1,
    createdAt: row.user_created_at,
    confirmedAt: row.confirmed_at,
    disabledAt: row.disabled_at,
    language: row.language,
    hasPassword: row.has_password === 1,
    hasSecondFactor: row.has_second_factor === 1,
  };
}
