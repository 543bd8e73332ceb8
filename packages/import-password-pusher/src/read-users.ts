import { booleanOf, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import type { Lockbox } from "./lockbox.ts";
import { readInBatches } from "./read-in-batches.ts";
import type { MissingPart, SourceRow, SourceTotp, SourceUser, UserPart } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import type { SourceRecord } from "./store/source-rows.ts";
import type { Warnings } from "./warnings.ts";

export interface UserContext {
  readonly queries: SourceQueries;
  readonly lockbox: Lockbox;
  readonly rowWarnings: Warnings;
}

const withoutPassword =
  "so the account is imported without its password, which alone must not be enough to sign in. Set a new one with " +
  "`sealpush user set-password`";

export function readUsers(context: UserContext, afterId: number): AsyncIterable<SourceRow<SourceUser, UserPart>> {
  const { userIds: ids, userSizes: sizes, users } = context.queries;
  const fetch = async (group: readonly number[]) => {
    const records = new Map((await users(group)).map((record) => [wholeNumberOf(record.id), record]));
    return group.map((id) => userOf(context, id, records.get(id)));
  };
  return readInBatches<SourceUser, UserPart>({ ids, sizes, fetch }, afterId);
}

function userOf(context: UserContext, id: number, record: SourceRecord | undefined): SourceRow<SourceUser, UserPart> {
  if (record === undefined)
    return { outcome: "unreadable", id, reason: "The index of the database lists it, but its row is missing." };
  const email = textOf(record.email)?.trim() ?? "";
  if (email === "") return { outcome: "unreadable", id, reason: "It has no email address." };
  const admin = booleanOf(record.admin);
  if (admin === undefined) context.rowWarnings.add("adminUnreadable", id);
  const missingParts: MissingPart<UserPart>[] = [];
  const totp = totpOf(context, id, record, missingParts);
  const confirmedAt = timeOf(record.confirmed_at) ?? null;
  if ((textOf(record.unconfirmed_email) ?? "") !== "") context.rowWarnings.add("pendingAddress", id);
  if (textOf(record.locked_at) !== null) context.rowWarnings.add("locked", id);
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
  { lockbox, rowWarnings }: UserContext,
  id: number,
  record: SourceRecord,
  missingParts: MissingPart<UserPart>[],
): SourceTotp | null | "lost" {
  // A damaged value must not turn the factor off.
  if (booleanOf(record.otp_required_for_login) === false) return null;
  const sealed = textOf(record.otp_secret_ciphertext) ?? "";
  if (sealed === "") {
    missingParts.push({
      part: "factor",
      reason: `Its two-step sign-in is active and has no secret, ${withoutPassword}.`,
    });
    return "lost";
  }
  const opening = lockbox.open({ table: "users", column: "otp_secret_ciphertext" }, sealed);
  if (opening.outcome === "unreadable") {
    missingParts.push({ part: "factor", reason: `No key opens its two-step sign-in, ${withoutPassword}.` });
    return "lost";
  }
  if (opening.underDefaultKey) rowWarnings.add("userUnderDefaultKey", id);
  // Keeping them would mean to keep the other installation's SECRET_KEY_BASE.
  if (/[0-9a-f]{64}/.test(textOf(record.otp_backup_code_digests) ?? "")) rowWarnings.add("backupCodesLeft", id);
  return { secret: opening.text, lastStepAt: wholeNumberOf(record.last_otp_timestep) ?? null };
}
