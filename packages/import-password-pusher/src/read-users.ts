import type { Lack, SourceRow, SourceTotp, SourceUser, UserPart } from "../../../src/import/source.ts";
import { textOf, timeOf, truthOf, wholeNumberOf } from "./cells.ts";
import type { Findings } from "./findings.ts";
import { readInGroups } from "./in-groups.ts";
import type { Lockbox } from "./lockbox.ts";
import type { SourceQueries } from "./store/queries.ts";
import type { SourceRecord } from "./store/source-rows.ts";

export interface UserReading {
  readonly queries: SourceQueries;
  readonly lockbox: Lockbox;
  readonly findings: Findings;
  /** undefined: not given; then backup codes cannot be checked. */
  readonly secretKeyBase: string | undefined;
}

const noWayIn =
  "so it comes without its password, which alone must not let in: set one with `sealpush user set-password`";

const noSecretKeyBase =
  "Its backup codes hang on SECRET_KEY_BASE, which was not given, and cannot be checked without it.";

export function readUsers(reading: UserReading, afterId: number): AsyncIterable<SourceRow<SourceUser, UserPart>> {
  const { userIds: ids, userSizes: sizes, users } = reading.queries;
  const fetch = async (group: readonly number[]) => {
    const records = new Map((await users(group)).map((record) => [wholeNumberOf(record.id), record]));
    return group.map((id) => userOf(reading, id, records.get(id)));
  };
  return readInGroups<SourceUser, UserPart>({ ids, sizes, fetch }, afterId);
}

function userOf(reading: UserReading, id: number, record: SourceRecord | undefined): SourceRow<SourceUser, UserPart> {
  if (record === undefined) return { outcome: "unreadable", id, reason: "The database lists it and does not have it." };
  const email = textOf(record.email)?.trim() ?? "";
  if (email === "") return { outcome: "unreadable", id, reason: "It has no e-mail address." };
  const admin = truthOf(record.admin);
  if (admin === undefined) reading.findings.note("adminUnreadable", id);
  const lacks: Lack<UserPart>[] = [];
  const totp = totpOf(reading, id, record, lacks);
  const confirmedAt = timeOf(record.confirmed_at) ?? null;
  const [createdAt, updatedAt] = [timeOf(record.created_at), timeOf(record.updated_at)];
  if (createdAt === undefined) {
    const reason = "When it was made (created_at) cannot be read: the nearest time on record stands in for it.";
    lacks.push({ part: "created_at", reason });
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
  return { outcome: "read", id, row, lacks };
}

/**
 * Only a factor that is in force: opening the page that sets one up stores a secret already. "lost": one is in force and
 * cannot be had; then the password alone would let in where it has not before.
 */
function totpOf(
  { lockbox, findings, secretKeyBase }: UserReading,
  id: number,
  record: SourceRecord,
  lacks: Lack<UserPart>[],
): SourceTotp | null | "lost" {
  // What is neither yes nor no must not turn a factor off.
  if (truthOf(record.otp_required_for_login) === false) return null;
  const sealed = textOf(record.otp_secret_ciphertext) ?? "";
  if (sealed === "") {
    lacks.push({ part: "factor", reason: `Its second factor is in force and has no secret, ${noWayIn}.` });
    return "lost";
  }
  const opening = lockbox.open({ table: "users", column: "otp_secret_ciphertext" }, sealed);
  if (opening.outcome === "unreadable") {
    lacks.push({ part: "factor", reason: `No key opens its second factor, ${noWayIn}.` });
    return "lost";
  }
  if (opening.underDefaultKey) findings.note("userUnderDefaultKey", id);
  const digests = digestsOf(textOf(record.otp_backup_code_digests));
  if (digests === undefined) {
    lacks.push({ part: "backup_codes", reason: "Its backup codes cannot be read: new ones must be made." });
  }
  const left = digests ?? [];
  if (left.length > 0 && secretKeyBase === undefined) lacks.push({ part: "backup_codes", reason: noSecretKeyBase });
  return {
    secret: opening.text,
    lastStepAt: wholeNumberOf(record.last_otp_timestep) ?? null,
    backupCodes:
      left.length === 0 || secretKeyBase === undefined
        ? null
        : { key: secretKeyBase, messagePrefix: `${id}:`, digests: left },
  };
}

/** A JSON array of hex digests; undefined: it is none. */
function digestsOf(text: string | null): readonly string[] | undefined {
  if (text === null || text.trim() === "") return [];
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return [];
    const isDigest = (entry: unknown): entry is string => typeof entry === "string" && /^[0-9a-f]{64}$/.test(entry);
    return Array.isArray(value) && value.every(isDigest) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
