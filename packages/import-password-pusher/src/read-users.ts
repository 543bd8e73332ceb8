import { booleanOf, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import { SealedRow } from "./lockbox.ts";
import { batchesOf, onlyInIndex, type ReaderContext, readInBatches } from "./read-in-batches.ts";
import type { MissingPart, SourceRow, SourceTotp, SourceUser } from "./source.ts";
import type { SourceRecord } from "./store/source-rows.ts";
import { warnings } from "./warnings.ts";

const withoutPassword =
  "so the account is imported without its password, which alone must not be enough to sign in. Set a new one with " +
  "`sealpush user set-password`";

export function readUsers(context: ReaderContext, afterId: number): AsyncIterable<SourceRow<SourceUser>> {
  const { queries } = context;
  const fetch = async (ids: readonly number[]) => {
    const records = new Map(
      (await queries.rows("users", "id", ids)).map((record) => [wholeNumberOf(record.id), record]),
    );
    return ids.map((id) => userOf(context, id, records.get(id)));
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
  { lockbox, warn }: ReaderContext,
  id: number,
  record: SourceRecord,
  missingParts: MissingPart[],
): SourceTotp | null | "lost" {
  // A damaged value must not turn the factor off.
  if (booleanOf(record.otp_required_for_login) === false) return null;
  const row = new SealedRow(lockbox, "users", record);
  const secret = row.open("otp_secret_ciphertext");
  if (secret === undefined || secret === null || secret === "") {
    const why =
      secret === undefined ? "No key opens its two-step sign-in" : "Its two-step sign-in is active and has no secret";
    missingParts.push({ part: "factor", reason: `${why}, ${withoutPassword}.` });
    return "lost";
  }
  if (row.underDefaultKey) warn(warnings.userUnderDefaultKey, id);
  // Keeping them would mean to keep the other installation's SECRET_KEY_BASE.
  if (/[0-9a-f]{64}/.test(textOf(record.otp_backup_code_digests) ?? "")) warn(warnings.backupCodesLeft, id);
  return { secret, lastStepAt: wholeNumberOf(record.last_otp_timestep) ?? null };
}
