import { textOf, timeOf, wholeNumberOf } from "./cells.ts";
import { openerOf, type ReaderContext } from "./read-in-batches.ts";
import {
  auditKinds,
  deliveryStatuses,
  type MissingPart,
  type SourceAuditEntry,
  type SourceNotification,
  type SourceTrail,
} from "./source.ts";
import { type SourceRecord, unlessDamaged } from "./store/source-rows.ts";

/** The complete audit trail of a push. The source keeps at most 2000 entries. Texts are unchanged, including those of 1.x. */
export async function readTrail(context: ReaderContext, pushId: number): Promise<SourceTrail> {
  return await unlessDamaged<SourceTrail>(trailOf(context, pushId), () => ({
    entries: [],
    missingParts: [{ part: "trail", reason: "The database cannot read its audit trail." }],
  }));
}

async function trailOf(context: ReaderContext, pushId: number): Promise<SourceTrail> {
  const records = await context.queries.auditEntries(pushId);
  const missingParts: MissingPart[] = [];
  const notifications = await notificationsOf(context, records, missingParts);
  const entries: SourceAuditEntry[] = [];
  for (const record of records) {
    const id = wholeNumberOf(record.id) ?? 0;
    const kind = auditKinds[wholeNumberOf(record.kind) ?? -1];
    const createdAt = timeOf(record.created_at);
    if (kind === undefined || createdAt === undefined) {
      const what = kind === undefined ? "kind is not known" : "time (created_at) cannot be read";
      missingParts.push({ part: "trail", reason: `The audit entry ${id} is left out: its ${what}.` });
      continue;
    }
    const userId = wholeNumberOf(record.user_id) ?? null;
    if (userId === null && textOf(record.user_id) !== null) {
      missingParts.push({ part: "people", reason: `The user (user_id) of the audit entry ${id} cannot be read.` });
    }
    entries.push({
      id,
      kind,
      createdAt,
      userId,
      address: textOf(record.ip) ?? "",
      userAgent: textOf(record.user_agent) ?? "",
      referrer: textOf(record.referrer) ?? "",
      updatedAt: timeOf(record.updated_at) ?? createdAt,
      notification: notifications.get(id) ?? null,
    });
  }
  return { entries, missingParts };
}

/** By the id of their audit entry. */
async function notificationsOf(
  context: ReaderContext,
  entries: readonly SourceRecord[],
  missingParts: MissingPart[],
): Promise<ReadonlyMap<number, SourceNotification>> {
  const ids = entries
    .filter((entry) => auditKinds[wholeNumberOf(entry.kind) ?? -1] === "creation_email_send")
    .map((entry) => wholeNumberOf(entry.id))
    .filter((id) => id !== undefined);
  const found = new Map<number, SourceNotification>();
  for (const record of await context.queries.rows("notify_by_emails", "audit_log_id", ids)) {
    const auditId = wholeNumberOf(record.audit_log_id);
    if (auditId !== undefined) found.set(auditId, notificationOf(context, record, missingParts));
  }
  return found;
}

function notificationOf(context: ReaderContext, record: SourceRecord, missingParts: MissingPart[]): SourceNotification {
  const id = wholeNumberOf(record.id) ?? 0;
  const open = openerOf(context, "notify_by_emails", record);
  const [recipients, locale, successfulSends, errorMessage] = sealedColumns.map(open);
  const status = deliveryStatuses[wholeNumberOf(record.status) ?? -1];
  if (status === undefined) {
    const reason = `The status of the link delivery ${id} in its audit trail is not known. It is imported as failed.`;
    missingParts.push({ part: "notifications", reason });
  }
  if ([recipients, locale, successfulSends, errorMessage].includes(undefined)) {
    const reason = `No key opens all values of the link delivery ${id} in its audit trail.`;
    missingParts.push({ part: "notifications", reason });
  }
  const addresses = (recipients ?? "").split(",").map((address) => address.trim());
  return {
    recipients: addresses.filter((address) => address !== ""),
    locale: locale || null,
    status: status ?? "failed",
    successfulSends: successfulSends ?? null,
    errorMessage: errorMessage ?? null,
    proceedAt: timeOf(record.proceed_at) ?? null,
  };
}

const sealedColumns = [
  "recipients_ciphertext",
  "locale_ciphertext",
  "successful_sends_ciphertext",
  "error_message_ciphertext",
] as const;
