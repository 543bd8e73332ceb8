import type { Lack, PushPart, SourceAuditEntry, SourceNotification, SourceTrail } from "../../../src/import/source.ts";
import { textOf, timeOf, wholeNumberOf } from "./cells.ts";
import type { Findings } from "./findings.ts";
import type { Lockbox } from "./lockbox.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

export interface TrailReading {
  readonly queries: Pick<SourceQueries, "auditEntries" | "notifications">;
  readonly lockbox: Lockbox;
  readonly findings: Findings;
}

/** In the order of the numbers by which the source keeps them. */
export const auditKinds: readonly SourceAuditEntry["kind"][] = [
  ...(["creation", "view", "failed_view", "expire", "failed_passphrase"] as const),
  ...(["admin_view", "owner_view", "edit", "creation_email_send"] as const),
];
const statuses: readonly SourceNotification["status"][] = [
  ...(["pending", "processing", "completed", "partially_failed", "failed"] as const),
];

/** The trail of one push, whole: the source stops at 2000 entries. Texts stay as they are, messages of 1.x included. */
export async function readTrail(reading: TrailReading, pushId: number): Promise<SourceTrail> {
  try {
    return await trailOf(reading, pushId);
  } catch (error) {
    if (!(error instanceof SourceReadError)) throw error;
    return { entries: [], lacks: [{ part: "trail", reason: "The database cannot read its audit trail." }] };
  }
}

async function trailOf(reading: TrailReading, pushId: number): Promise<SourceTrail> {
  const records = await reading.queries.auditEntries(pushId);
  const lacks: Lack<PushPart>[] = [];
  const notifications = await notificationsOf(reading, records, lacks);
  const entries: SourceAuditEntry[] = [];
  for (const record of records) {
    const id = wholeNumberOf(record.id) ?? 0;
    const kind = auditKinds[wholeNumberOf(record.kind) ?? -1];
    const createdAt = timeOf(record.created_at);
    if (kind === undefined || createdAt === undefined) {
      const what = kind === undefined ? "kind is not known" : "time (created_at) cannot be read";
      lacks.push({ part: "trail", reason: `The audit entry ${id} is left out: its ${what}.` });
      continue;
    }
    const userId = wholeNumberOf(record.user_id) ?? null;
    if (userId === null && textOf(record.user_id) !== null) {
      lacks.push({ part: "people", reason: `Who did what the audit entry ${id} tells of (user_id) cannot be read.` });
    }
    entries.push({
      ...{ id, kind, createdAt },
      userId,
      address: textOf(record.ip) ?? "",
      userAgent: textOf(record.user_agent) ?? "",
      referrer: textOf(record.referrer) ?? "",
      updatedAt: timeOf(record.updated_at) ?? createdAt,
      notification: notifications.get(id) ?? null,
    });
  }
  return { entries, lacks };
}

/** By the id of their audit entry. */
async function notificationsOf(
  reading: TrailReading,
  entries: readonly SourceRecord[],
  lacks: Lack<PushPart>[],
): Promise<ReadonlyMap<number, SourceNotification>> {
  const ids = entries
    .filter((entry) => auditKinds[wholeNumberOf(entry.kind) ?? -1] === "creation_email_send")
    .map((entry) => wholeNumberOf(entry.id))
    .filter((id) => id !== undefined);
  const found = new Map<number, SourceNotification>();
  if (ids.length === 0) return found;
  for (const record of await reading.queries.notifications(ids)) {
    const auditId = wholeNumberOf(record.audit_log_id);
    if (auditId !== undefined) found.set(auditId, notificationOf(reading, record, lacks));
  }
  return found;
}

function notificationOf(
  { lockbox, findings }: TrailReading,
  record: SourceRecord,
  lacks: Lack<PushPart>[],
): SourceNotification {
  const id = wholeNumberOf(record.id) ?? 0;
  let [whole, underDefaultKey] = [true, false];
  const opened = (column: string): string | null => {
    const sealed = textOf(record[column]);
    if (sealed === null || sealed === "") return sealed;
    const opening = lockbox.open({ table: "notify_by_emails", column }, sealed);
    if (opening.outcome === "unreadable") {
      whole = false;
      return null;
    }
    if (opening.underDefaultKey) underDefaultKey = true;
    return opening.text;
  };
  const status = statuses[wholeNumberOf(record.status) ?? -1];
  const notification: SourceNotification = {
    recipients: addressesIn(opened("recipients_ciphertext")),
    locale: opened("locale_ciphertext") || null,
    status: status ?? "failed",
    successfulSends: opened("successful_sends_ciphertext"),
    errorMessage: opened("error_message_ciphertext"),
    proceedAt: timeOf(record.proceed_at) ?? null,
  };
  if (underDefaultKey) findings.note("notificationUnderDefaultKey", id);
  if (status === undefined) {
    lacks.push({
      part: "notifications",
      reason: `The status of the mail ${id} in its audit trail is not known: it is told as failed.`,
    });
  }
  if (!whole) lacks.push({ part: "notifications", reason: `No key opens all of the mail ${id} in its audit trail.` });
  return notification;
}

function addressesIn(text: string | null): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((address) => address.trim())
    .filter((address) => address !== "");
}
