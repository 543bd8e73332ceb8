import { booleanOf, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import { batchesOf, byId, onlyInIndex, openerOf, type ReaderContext, readInBatches } from "./read-in-batches.ts";
import type { MissingPart, RowWarning, SourceRow, SourceUser } from "./source.ts";
import type { SourceRecord } from "./store/source-rows.ts";

const warnings = {
  backupCodesLeft: [
    "user has backup codes, which are not imported: the user can create new ones after signing in with the authenticator app",
    "users have backup codes, which are not imported: they can create new ones after signing in with the authenticator app",
  ],
  pendingAddress: [
    "user has a new email address that waits for its confirmation. It is not imported, and the old address stays",
    "users have new email addresses that wait for their confirmation. They are not imported, and the old addresses stay",
  ],
  locked: [
    "user is locked there for an hour because of wrong passwords, and is not locked here",
    "users are locked there for an hour because of wrong passwords, and are not locked here",
  ],
  adminUnreadable: [
    "user is imported without administrator rights, because the column admin cannot be read",
    "users are imported without administrator rights, because the column admin cannot be read",
  ],
} as const satisfies Readonly<Record<string, RowWarning>>;

const withoutPassword =
  "so the account is imported without its password, which alone must not be enough to sign in. Set a new one with " +
  "`sealpush user set-password`";

export function readUsers(context: ReaderContext, afterId: number): AsyncIterable<SourceRow<SourceUser>> {
  const { queries } = context;
  const fetch = async (ids: readonly number[]) => {
    const records = byId(await queries.rows("users", "id", ids), "id");
    return ids.map((id) => userOf(context, id, records.get(id)?.[0]));
  };
  return readInBatches({ ...batchesOf(queries, "users"), fetch }, afterId);
}

function userOf(context: ReaderContext, id: number, record: SourceRecord | undefined): SourceRow<SourceUser> {
  if (record === undefined) return { outcome: "unreadable", id, reason: onlyInIndex };
  const email = textOf(record.email)?.trim() ?? "";
  if (email === "") return { outcome: "unreadable", id, reason: "It has no email address." };
  const admin = booleanOf(record.admin);
  if (admin === undefined) context.warn(warnings.adminUnreadable, id);
  const missingParts: MissingPart[] = [];
  const totp = totpOf(context, id, record, missingParts);
  const confirmedAt = timeOf(record.confirmed_at) ?? null;
  if ((textOf(record.unconfirmed_email) ?? "") !== "") context.warn(warnings.pendingAddress, id);
  if (textOf(record.locked_at) !== null) context.warn(warnings.locked, id);
  const [createdAt, updatedAt] = [timeOf(record.created_at), timeOf(record.updated_at)];
  if (createdAt === undefined) {
    const reason = "Its time of creation (created_at) cannot be read. Another time of the row is used instead.";
    missingParts.push({ part: "created_at", reason });
  }
  const row: SourceUser = {
    id,
    email,
    passwordHash: totp === "lost" ? "" : (textOf(record.encrypted_password) ?? ""),
    admin: admin === true,
    language: textOf(record.preferred_language) || null,
    confirmedAt,
    createdAt: createdAt ?? confirmedAt ?? updatedAt ?? 0,
    updatedAt: updatedAt ?? createdAt ?? 0,
    lastSignedInAt: timeOf(record.current_sign_in_at) ?? timeOf(record.last_sign_in_at) ?? null,
    apiToken: textOf(record.authentication_token) || null,
    totp: totp === "lost" ? null : totp,
  };
  return { outcome: "read", id, row, missingParts };
}

/**
 * Reads the factor if it is active: opening the setup page already stores a secret. "lost": the factor is active but cannot be
 * read. Then the password must not be imported either, because it alone was not enough to sign in.
 */
function totpOf(
  context: ReaderContext,
  id: number,
  record: SourceRecord,
  missingParts: MissingPart[],
): SourceUser["totp"] | "lost" {
  // A damaged value must not turn the factor off.
  if (booleanOf(record.otp_required_for_login) === false) return null;
  const secret = openerOf(context, "users", record)("otp_secret_ciphertext");
  if (secret === undefined || secret === null || secret === "") {
    const why =
      secret === undefined ? "No key opens its two-step sign-in" : "Its two-step sign-in is active and has no secret";
    missingParts.push({ part: "factor", reason: `${why}, ${withoutPassword}.` });
    return "lost";
  }
  // Keeping them would mean to keep the other installation's SECRET_KEY_BASE.
  if (/[0-9a-f]{64}/.test(textOf(record.otp_backup_code_digests) ?? "")) context.warn(warnings.backupCodesLeft, id);
  return { secret, lastStepAt: wholeNumberOf(record.last_otp_timestep) ?? null };
}
