import { pushKinds } from "../../base/push-kinds.ts";
import {
  type BooleanKeyOf,
  boolean,
  bytes,
  integer,
  nullable,
  oneOf,
  type RowOf,
  type StoredRowOf,
  Table,
  text,
  withDefault,
} from "../../database/table.ts";
import { auditKinds } from "../audit/audit-trail.ts";
import { encryptions, endReasons } from "../push.ts";

/** Columns are either readable metadata or sealed. Times in ms since the epoch. */
const pushColumns = {
  id: integer,
  linkCheck: bytes,
  kind: oneOf(pushKinds),
  ownerId: nullable(integer),
  createdAt: integer,
  updatedAt: integer,
  expiresAt: integer,
  endedAt: withDefault(nullable(integer), null),
  endReason: withDefault(nullable(oneOf(endReasons)), null),
  expireAfterDays: integer,
  expireAfterViews: integer,
  views: withDefault(integer, 0),
  /** Retrievals refused after the end, counted only while they change `views_remaining`. */
  refusals: withDefault(integer, 0),
  /** Number of events in the audit trail; the first is the creation. */
  auditCount: withDefault(integer, 1),
  deletableByViewer: boolean,
  retrievalStep: boolean,
  /** The owner gets an email for each counted view. */
  notifyOnView: boolean,
  sealGeneration: integer,
  rowSecretId: integer,
  storedBytes: integer,
  /** 1: the push may have claims that can be repeated. Not `boolean`, because it is no option of the push. */
  keepsPayload: withDefault(integer, 0),
  /** 1: the push answers a request of its owner, whose views count. Not `boolean`: see above. */
  isAnswer: withDefault(integer, 0),
  /** The client that created a live anonymous push. Nobody may read such a push's audit trail, so it has no entry for that. */
  creatorAddress: withDefault(nullable(text), null),
  encryption: withDefault(oneOf(encryptions), "none"),
  /** See `EndToEnd.check`. */
  encryptionCheck: withDefault(nullable(text), null),
  /** 32 bytes; empty for an imported push that had ended. See `derivePushKey`. */
  keyCheck: bytes,
  /** See `makePassphraseSalt`: it begins with the number of the parameter set. */
  passphraseSalt: nullable(bytes),
  tokenSealed: nullable(bytes),
  nameSealed: nullable(bytes),
  noteSealed: nullable(bytes),
};
export const pushes = new Table("pushes", pushColumns);
/** For rows to insert. A row secret id of null: the secret that the transaction has just appended. */
export const newPushes = new Table("pushes", { ...pushColumns, rowSecretId: nullable(integer) }).omit("keepsPayload");

/**
 * The options of a push are its boolean columns. Requests and edits may contain each of them, and a new column needs no
 * further code for that.
 */
export type PushOption = BooleanKeyOf<typeof pushes>;
export type PushOptions<Value = boolean> = Readonly<Record<PushOption, Value>>;
export const pushOptions = pushes.pick(...pushes.booleanKeys);

/** A value for each option. */
export function optionsBy<Value>(choose: (option: PushOption) => Value): PushOptions<Value> {
  const options: Partial<Record<PushOption, Value>> = {};
  for (const option of pushOptions.keys) options[option] = choose(option);
  return options as PushOptions<Value>;
}

/** The columns that a read returns. The others are only conditions of statements, and the address of bulk endings. */
export const readPushes = pushes.omit("linkCheck", "keepsPayload", "creatorAddress");
export type StoredPush = StoredRowOf<typeof readPushes>;

export const importedLinks = new Table("imported_links", { digest: bytes, pushId: integer });

export const files = new Table("files", {
  id: integer,
  pushId: integer,
  /** From 1, in the order of the form. Positions of removed files are not used again. */
  position: integer,
  blobKey: text,
  sizeBytes: integer,
  detailsSealed: bytes,
  /** Under the key of the push. */
  keySealed: bytes,
});
export const readFiles = files.omit("pushId");

const auditEntryColumns = {
  pushId: integer,
  /** From 1, in the order of events; negative: the entry that counts all further events of its kind. */
  sequence: integer,
  kind: oneOf(auditKinds),
  userId: nullable(integer),
  address: text,
  userAgent: text,
  referrer: text,
  times: withDefault(integer, 1),
  createdAt: integer,
  updatedAt: integer,
};
export const auditEntries = new Table("audit_entries", auditEntryColumns);
/** Only PostgreSQL has the claim id: over a network the answer to a claim can be lost. */
export const claimedEntries = new Table("audit_entries", { ...auditEntryColumns, claimId: nullable(integer) });
export const readAuditEntries = auditEntries.omit("pushId");

export const linkDeliveries = new Table("link_deliveries", {
  id: integer,
  pushId: integer,
  /** The sequence of the audit entry; positive, because entries of that kind are never folded. */
  sequence: integer,
  recipientCount: integer,
  detailsSealed: bytes,
  /** Bit sets of recipients: bit n is the nth in the list, from 0. An email that was given up may still be sent. */
  sent: withDefault(integer, 0),
  givenUp: withDefault(integer, 0),
  /** An email of it failed and will be retried. */
  putOff: withDefault(boolean, false),
  /** When the last recipient was settled; null: not yet. */
  settledAt: withDefault(nullable(integer), null),
});

export const rowSecrets = new Table("row_secrets", { id: integer, sealed: bytes });
/** For rows to insert. An id of null: the next one. */
export const newRowSecrets = new Table("row_secrets", { id: nullable(integer), sealed: bytes });
export const payloads = new Table("payloads", { pushId: integer, sealed: bytes });
export const uploads = new Table("uploads", {
  blobKey: text,
  /** 0 for a user's upload. */
  anonymousBytes: withDefault(integer, 0),
  renewedAt: integer,
});
/** See `createResumableUploads`. */
export const resumableUploads = new Table("resumable_uploads", {
  digest: bytes,
  blobKey: text,
  fileId: integer,
  ownerId: nullable(integer),
  /** Throttle key of the client; "" for a user's upload. */
  client: text,
  rowSecretId: integer,
  detailsSealed: bytes,
  sizeBytes: integer,
  receivedBytes: integer,
  run: withDefault(integer, 0),
  runUntil: withDefault(integer, 0),
  expiresAt: integer,
});
export const blobDeletions = new Table("blob_deletions", {
  blobKey: text,
  /** 0: at once, whatever the clock says. */
  dueAt: withDefault(integer, 0),
  attempts: withDefault(integer, 0),
});
/** See `createDownloadTickets`. */
export const downloadTickets = new Table("download_tickets", {
  digest: bytes,
  pushId: integer,
  fileId: integer,
  /** The row of the file's sealed key. */
  rowSecretId: integer,
  waitsForStore: withDefault(boolean, false),
  expiresAt: integer,
  latestExpiry: integer,
});
export const viewNotifications = new Table("view_notifications", { pushId: integer, sequence: integer });
export const linkDeliveryDays = new Table("link_delivery_days", {
  ownerId: integer,
  day: integer,
  recipientCount: integer,
});

/** Which pushes a request of an administrator ends; the numbers are stored and never change. */
export const bulkOwners = { all: 0, anonymous: 1, owned: 2 } as const;

export const bulkEndings = new Table("bulk_endings", {
  id: integer,
  /** As `networkText` writes it; "": any. */
  network: text,
  createdBefore: integer,
  largerThanBytes: integer,
  owners: oneOf(bulkOwners),
  /** The administrator, for the audit trails of owned pushes. null: a command. */
  adminId: nullable(integer),
  address: text,
  userAgent: text,
  requestedAt: integer,
  /** Pushes are examined in the order of their ids. This is the last one. */
  lastId: withDefault(integer, 0),
  ended: withDefault(integer, 0),
  endedBytes: withDefault(integer, 0),
  finishedAt: withDefault(nullable(integer), null),
});

/** A push as it is stored, without the columns that only the store uses. Times in ms since the epoch. */
export type PushRow = Omit<RowOf<typeof readPushes>, "auditCount" | "rowSecretId" | "storedBytes">;
/** A push whose content is not sealed yet. */
export type UnsealedPushRow = Omit<PushRow, "keyCheck">;

/** A push with the sealed values that a claim opens; both are null once the push has ended. */
export interface SealedPush {
  readonly row: PushRow;
  readonly rowSecretSealed: Buffer | null;
  readonly payloadSealed: Buffer | null;
  /** Most pushes have no files, so files are read only if this is true. */
  readonly hasFiles: boolean;
}

export type FileRow = Omit<RowOf<typeof files>, "pushId">;

/** The part of a push that a search reads first; nothing in it is sealed. */
export type PushSummary = Pick<PushRow, "id" | "kind" | "createdAt" | "expiresAt" | "endedAt"> & {
  /** Length of the sealed name and note together; 0: the push has neither. */
  readonly labelBytes: number;
};

export type SealedLabels = Pick<PushRow, "nameSealed" | "noteSealed">;

export type TrailRow = RowOf<typeof readAuditEntries>;
