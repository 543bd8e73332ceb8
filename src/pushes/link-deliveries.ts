import type { Keyring } from "../crypto/keyring.ts";
import type { SealedColumn } from "../database/database.ts";
import type { RowOf } from "../database/table.ts";
import type { LinkDeliveryReport, LinkDeliveryStatus } from "./push.ts";
import type { linkDeliveries } from "./store/tables.ts";

/**
 * A link delivery: the link of an owned push, mailed to some addresses. It lies beside its entry of the audit trail, which is
 * of the kind `creation_email_send`.
 */
export type LinkDeliveryRow = RowOf<typeof linkDeliveries>;

/** What only the push's owner may read. */
export interface LinkDeliveryDetails {
  /** As they were given, separated by commas. */
  readonly recipients: string;
  readonly locale: string | null;
  /** How it ended elsewhere, for one that was imported: nothing of it is sent from here. */
  readonly past?: Pick<LinkDeliveryReport, "status" | "successfulSends" | "errorMessage">;
}

/** Of one push, over its whole life: a list for people one knows, nothing that mails the world. */
export const recipientsMax = 5;

const detailsContext = (id: number) => `linkDelivery:${id}:details`;

/** For the rotation of keys. */
export const sealedLinkDeliveries: SealedColumn = {
  table: "link_deliveries",
  idColumn: "id",
  sealedColumn: "details_sealed",
  contextOf: (id) => detailsContext(Number(id)),
};

export function splitRecipients(recipients: string): readonly string[] {
  return recipients.split(",").map((address) => address.trim());
}

export function sealLinkDelivery(keyring: Keyring, id: number, details: LinkDeliveryDetails): Buffer {
  return keyring.seal(detailsContext(id), Buffer.from(JSON.stringify(details), "utf8"));
}

/**
 * One from elsewhere, for `insertDispatch` of store/link-deliveries.ts, in the transaction that writes its audit entry.
 * @param place `id` from the ids named "link deliveries"; `sequence` of the audit entry.
 */
export function pastLinkDelivery(
  keyring: Keyring,
  place: { readonly id: number; readonly pushId: number; readonly sequence: number },
  report: LinkDeliveryReport,
): LinkDeliveryRow {
  const { recipients, locale, proceedAt, ...past } = report;
  return {
    ...place,
    recipientCount: splitRecipients(recipients).length,
    detailsSealed: sealLinkDelivery(keyring, place.id, { recipients, locale, past }),
    // Settled, whatever it says: no letter of it is on its way.
    ...{ sent: 0, givenUp: allOf(splitRecipients(recipients).length), putOff: false, settledAt: proceedAt },
  };
}

/** @throws Error when the details do not open: they were changed, or their master key is gone. */
export function reportOf(row: LinkDeliveryRow, keyring: Keyring): LinkDeliveryReport {
  const { recipients, locale, past } = openDetails(row, keyring);
  if (past !== undefined) return { recipients, locale, ...past, proceedAt: row.settledAt };
  const addresses = splitRecipients(recipients);
  const { sent } = row;
  const status = statusOf(row, addresses.length);
  const isOver = status !== "pending" && status !== "processing";
  return {
    ...{ recipients, locale, status },
    successfulSends:
      status === "pending" ? null : addresses.filter((_, place) => (sent & (1 << place)) !== 0).join(","),
    proceedAt: isOver ? row.settledAt : null,
    errorMessage: errorMessages[status],
  };
}

function statusOf({ sent, givenUp, putOff }: LinkDeliveryRow, count: number): LinkDeliveryStatus {
  const settled = sent | givenUp;
  if (settled === 0 && !putOff) return "pending";
  const all = allOf(count);
  if (settled !== all) return "processing";
  if (sent === all) return "completed";
  return sent === 0 ? "failed" : "partially_failed";
}

function allOf(count: number): number {
  return (1 << count) - 1;
}

const errorMessages: Readonly<Record<LinkDeliveryStatus, string | null>> = {
  pending: null,
  processing: null,
  completed: null,
  partially_failed: "Some of the e-mails could not be sent.",
  failed: "None of the e-mails could be sent.",
};

function openDetails({ id, detailsSealed }: LinkDeliveryRow, keyring: Keyring): LinkDeliveryDetails {
  const plain = keyring.open(detailsContext(id), detailsSealed);
  const details: unknown = plain === undefined ? undefined : JSON.parse(plain.toString("utf8"));
  if (!isDetails(details)) throw new Error(`The details of linkDelivery ${id} do not open.`);
  return details;
}

/** It was sealed here, for this row: only its shape could be another version's. */
function isDetails(value: unknown): value is LinkDeliveryDetails {
  return typeof value === "object" && value !== null && "recipients" in value && typeof value.recipients === "string";
}
