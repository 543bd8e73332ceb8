import { pushKinds } from "../../base/push-kinds.ts";
import {
  underFileKey,
  underMasterKey,
  underMasterKeyAndClient,
  underPushKey,
  underStoredLinkKey,
} from "../../crypto/sealed-column.ts";
import {
  type BooleanKeyOf,
  boolean,
  bound,
  bytes,
  harmless,
  integer,
  nullable,
  oneOf,
  type RowOf,
  reasons,
  type StoredRowOf,
  sealed,
  Table,
  text,
  withDefault,
} from "../../database/table.ts";
import { auditKinds, bulkOwners, encryptions, endReasons, payloadFormats } from "../stored-values.ts";

// Times in ms since the epoch.

const { job, limit, shown } = reasons;
const pushKey = "the key of the push is derived from it";
const payload = "the payload is bound to it";
const sealedFor = "sealed values are bound to it";
const keyedDigest = "a keyed digest: without the index secret nobody can compute one";

const ofPush = { id: "id", owner: "owner_id" };
const rowSecret = underMasterKey("row secrets", {
  id: "pushes.id",
  owner: "pushes.owner_id",
  key: "row_secrets.id",
  from: "pushes LEFT JOIN row_secrets ON row_secrets.id = pushes.row_secret_id AND pushes.ended_at IS NULL",
});
/** The link of an answer to a request without an account. */
const anonymousUrlToken = underMasterKey("labels", { ...ofPush, only: "anonymous" });
const name = underMasterKey("labels", ofPush);
const note = underMasterKey("labels", ofPush);
const fileDetails = underMasterKey("labels", {
  id: "files.id",
  owner: "pushes.owner_id",
  from: "files LEFT JOIN pushes ON pushes.id = files.push_id",
  only: "owned",
});
const linkDelivery = underMasterKey("labels", {
  id: "link_deliveries.id",
  owner: "pushes.owner_id",
  from: "link_deliveries LEFT JOIN pushes ON pushes.id = link_deliveries.push_id",
  only: "owned",
});
const linkSecret = underMasterKey("link secrets", {
  id: "user_id",
  owner: "user_id",
  key: "link_secrets.id",
  from: "link_secret_users JOIN link_secrets ON link_secrets.id = link_secret_id",
});
/** A copy of a push's row secret, for the idempotency key of a claim. */
const claimRetry = underMasterKeyAndClient("claim retries");
/** The key of a file, for a download ticket. */
const downloadTicket = underMasterKeyAndClient("download tickets");
/** The key of a file that is sent in several requests, for the address of its upload. */
const resumableUpload = underMasterKeyAndClient("resumable uploads");

const pushColumns = {
  id: bound(integer, pushKey),
  linkCheck: bound(bytes, "a keyed check over the url_token: nobody without the index secret can compute one"),
  kind: bound(oneOf(pushKinds), pushKey),
  ownerId: bound(nullable(integer), pushKey),
  createdAt: harmless(integer, limit),
  updatedAt: harmless(integer, shown),
  expiresAt: harmless(integer, limit),
  endedAt: harmless(withDefault(nullable(integer), null), "an ended push has no row secret any more"),
  endReason: harmless(withDefault(nullable(oneOf(endReasons)), null), shown),
  expireAfterDays: harmless(integer, limit),
  expireAfterViews: harmless(integer, limit),
  /** Counted views, without refusals after the end. */
  views: harmless(withDefault(integer, 0), limit),
  /** Retrievals refused after the end, counted only while they change `views_remaining`. */
  refusals: harmless(withDefault(integer, 0), limit),
  /** Number of events in the audit trail; the first is the creation. */
  auditCount: harmless(withDefault(integer, 1), shown),
  deletableByViewer: harmless(boolean, limit),
  retrievalStep: harmless(boolean, limit),
  notifyOnView: harmless(boolean, limit),
  /** Everybody with the link sees the owner's address. */
  senderShown: harmless(boolean, "whose push it is and the account's address are authenticated"),
  sealGeneration: bound(integer, pushKey),
  rowSecretId: bound(integer, "a row secret opens only for its push"),
  storedBytes: harmless(integer, limit),
  /** 1: the push may have claims that can be repeated. Not `boolean`, because it is no option of the push. */
  keepsPayload: harmless(withDefault(integer, 0), job),
  /** 1: the push answers a request of its owner, whose views count. Not `boolean`: see above. */
  isAnswer: harmless(withDefault(integer, 0), limit),
  /** The client that created a live anonymous push. Nobody may read such a push's audit trail, so it has no entry for that. */
  creatorAddress: harmless(withDefault(nullable(text), null), "it is the address of bulk deletions"),
  encryption: harmless(withDefault(oneOf(encryptions), "none"), "a server can show another page anyway"),
  encryptionCheck: harmless(
    withDefault(nullable(text), null),
    "with another one the content does not open in the browser",
  ),
  payloadFormat: bound(withDefault(oneOf(payloadFormats), "text"), payload),
  /** 32 bytes; empty for an imported push that had ended. See `derivePushKey`. */
  keyCheck: bound(bytes, pushKey),
  /** See `makePassphraseSalt`: it begins with the number of the parameter set. */
  passphraseSalt: bound(nullable(bytes), pushKey),
  /** See `ownerChecks`. null: the push has no owner. */
  ownerCheck: bound(nullable(bytes), "a keyed check over id, owner and link_check"),
  /** null: not stored. */
  tokenSealed: sealed(nullable(bytes), { urlToken: underStoredLinkKey, anonymousUrlToken }),
  nameSealed: sealed(nullable(bytes), { name }),
  noteSealed: sealed(nullable(bytes), { note }),
};
export const pushes = new Table("pushes", pushColumns);
/** For rows to insert. A row secret id of null: the secret that the transaction has just appended. */
export const newPushes = new Table("pushes", {
  ...pushColumns,
  rowSecretId: { ...pushColumns.rowSecretId, ...nullable(integer) },
}).omit("keepsPayload");
/** Only PostgreSQL has the claim id: over a network the answer to a claim can be lost. */
export const claimedPushes = new Table("pushes", { lastClaimId: harmless(nullable(integer), job) });

/**
 * The options of a push are its boolean columns. Requests and edits may contain each of them, and a new column needs no
 * further code for that.
 */
export type PushOption = BooleanKeyOf<typeof pushes>;
export type PushOptions<Value = boolean> = Readonly<Record<PushOption, Value>>;
export const pushOptions = pushes.pick(...pushes.booleanKeys);

/** A literal, whose shape the engine knows: an object that a loop fills costs several times as much. */
export function optionsBy<Value>(choose: (option: PushOption) => Value): PushOptions<Value> {
  return {
    deletableByViewer: choose("deletableByViewer"),
    retrievalStep: choose("retrievalStep"),
    notifyOnView: choose("notifyOnView"),
    senderShown: choose("senderShown"),
  };
}

/** The columns that a read returns. The others are only conditions of statements, and the address of bulk endings. */
export const readPushes = pushes.omit("keepsPayload", "creatorAddress");
export type StoredPush = StoredRowOf<typeof readPushes>;

export const importedLinks = new Table("imported_links", {
  digest: bound(bytes, keyedDigest),
  pushId: bound(integer, "the link is part of the key of the push"),
});

export const files = new Table("files", {
  id: bound(integer, payload),
  pushId: bound(integer, payload),
  /** From 1, in the order of the form. Positions of removed files are not used again. */
  position: bound(integer, payload),
  blobKey: harmless(text, "another file does not open under the key of this one"),
  sizeBytes: bound(integer, payload),
  /** The details of an anonymous push are under the key of the file. */
  detailsSealed: sealed(bytes, { fileDetails, anonymousFileDetails: underFileKey }),
  keySealed: sealed(bytes, { fileKey: underPushKey }),
});
export const readFiles = files.omit("pushId");

const auditEntryColumns = {
  pushId: harmless(integer, shown),
  /** From 1, in the order of events; negative: the entry that counts all further events of its kind. */
  sequence: harmless(integer, shown),
  kind: harmless(oneOf(auditKinds), shown),
  userId: harmless(nullable(integer), shown),
  address: harmless(text, shown),
  userAgent: harmless(text, shown),
  referrer: harmless(text, shown),
  /** How many events of this kind the entry counts; more than 1 only beyond the per-push limit. */
  times: harmless(withDefault(integer, 1), shown),
  createdAt: harmless(integer, shown),
  updatedAt: harmless(integer, shown),
};
export const auditEntries = new Table("audit_entries", auditEntryColumns);
/** Only PostgreSQL has the claim id, see `claimedPushes`. */
export const claimedEntries = new Table("audit_entries", {
  ...auditEntryColumns,
  claimId: harmless(nullable(integer), job),
});
export const readAuditEntries = auditEntries.omit("pushId");

export const linkDeliveries = new Table("link_deliveries", {
  id: bound(integer, sealedFor),
  pushId: bound(integer, "the details are sealed for the owner of the push"),
  /** The sequence of the audit entry; positive, because entries of that kind are never folded. */
  sequence: harmless(integer, shown),
  recipientCount: harmless(integer, shown),
  detailsSealed: sealed(bytes, { linkDelivery }),
  /** Bit sets of recipients: bit n is the nth in the list, from 0. An email that was given up may still be sent. */
  sent: harmless(withDefault(integer, 0), shown),
  givenUp: harmless(withDefault(integer, 0), shown),
  /** An email of it failed and will be retried. */
  putOff: harmless(withDefault(boolean, false), shown),
  /** When the last recipient was settled; null: not yet. */
  settledAt: harmless(withDefault(nullable(integer), null), shown),
});

const rowSecretColumns = {
  id: bound(integer, "its value opens only for the row that names it"),
  sealed: sealed(bytes, { rowSecret, claimRetry, downloadTicket, resumableUpload }),
};
export const rowSecrets = new Table("row_secrets", rowSecretColumns);
/** For rows to insert. An id of null: the next one. */
export const newRowSecrets = new Table("row_secrets", {
  ...rowSecretColumns,
  id: { ...rowSecretColumns.id, ...nullable(integer) },
});
export const linkSecrets = new Table("link_secrets", {
  id: harmless(integer, "a secret opens only for its user"),
  sealed: sealed(bytes, { linkSecret }),
});
export const linkSecretUsers = new Table("link_secret_users", {
  userId: bound(integer, sealedFor),
  linkSecretId: bound(integer, "a secret opens only for its user"),
});
export const payloads = new Table("payloads", {
  pushId: bound(integer, payload),
  sealed: sealed(bytes, { payload: underPushKey }),
});
export const claimRetries = new Table("claim_retries", {
  pushId: bound(integer, "the copy of the row secret is bound to it"),
  digest: bound(bytes, keyedDigest),
  rowSecretId: bound(nullable(integer), "the copy opens only with the client's key"),
  expiresAt: harmless(integer, limit),
  earlierViews: harmless(integer, shown),
  earlierViewAt: harmless(nullable(integer), shown),
});
export const creationKeys = new Table("creation_keys", {
  userId: harmless(integer, "a repeated creation answers only with a push whose link is sealed for this user"),
  digest: bound(bytes, keyedDigest),
  pushId: harmless(integer, "a repeated creation answers only with a push whose link is sealed for this user"),
  takenAt: harmless(integer, limit),
  given: harmless(integer, "a repeated creation answers only with a push whose link is sealed for this user"),
});
export const uploads = new Table("uploads", {
  blobKey: harmless(text, "a file that belongs to no push yet is removed"),
  /** 0 for a user's upload. */
  anonymousBytes: harmless(withDefault(integer, 0), limit),
  renewedAt: harmless(integer, limit),
});
const resumableUploadColumns = {
  digest: bound(bytes, keyedDigest),
  blobKey: harmless(text, "another file does not open under the key of this one"),
  fileId: bound(integer, sealedFor),
  ownerId: bound(nullable(integer), sealedFor),
  /** Throttle key of the client; "" for a user's upload. */
  client: harmless(text, limit),
  rowSecretId: bound(integer, "the key of the file opens only with the address of the upload"),
  detailsSealed: sealed(bytes, { uploadDetails: underFileKey }),
  sizeBytes: harmless(integer, limit),
  receivedBytes: harmless(integer, limit),
  run: harmless(withDefault(integer, 0), job),
  runUntil: harmless(withDefault(integer, 0), job),
  expiresAt: harmless(integer, limit),
};
export const resumableUploads = new Table("resumable_uploads", resumableUploadColumns);
/** For rows to insert. A row secret id of null: see `newPushes`. */
export const newResumableUploads = new Table("resumable_uploads", {
  ...resumableUploadColumns,
  rowSecretId: { ...resumableUploadColumns.rowSecretId, ...nullable(integer) },
});
export const blobDeletions = new Table("blob_deletions", {
  blobKey: harmless(text, "who can write to the database can delete"),
  /** 0: at once, whatever the clock says. */
  dueAt: harmless(withDefault(integer, 0), job),
  attempts: harmless(withDefault(integer, 0), job),
});
export const downloadTickets = new Table("download_tickets", {
  digest: bound(bytes, keyedDigest),
  pushId: bound(integer, "the key of the file is sealed for it"),
  fileId: bound(integer, "the key of the file is sealed for it"),
  rowSecretId: bound(integer, "the key of the file opens only with the ticket"),
  waitsForStore: harmless(withDefault(boolean, false), limit),
  expiresAt: harmless(integer, limit),
  /** The time of expiry if the store of files does not answer. */
  latestExpiry: harmless(integer, limit),
});
export const viewNotifications = new Table("view_notifications", {
  pushId: harmless(integer, "the email about a view goes to the owner of the push and has no link"),
  sequence: harmless(integer, shown),
});
export const linkDeliveryDays = new Table("link_delivery_days", {
  ownerId: harmless(integer, limit),
  day: harmless(integer, limit),
  recipientCount: harmless(integer, limit),
});

const ends = "who can write to the database can end pushes";
export const bulkEndings = new Table("bulk_endings", {
  id: harmless(integer, job),
  /** As `networkText` writes it; "": any. */
  network: harmless(text, ends),
  createdBefore: harmless(integer, ends),
  largerThanBytes: harmless(integer, ends),
  owners: harmless(oneOf(bulkOwners), ends),
  /** The administrator, for the audit trails of owned pushes. null: a command. */
  adminId: harmless(nullable(integer), shown),
  address: harmless(text, shown),
  userAgent: harmless(text, shown),
  requestedAt: harmless(integer, shown),
  /** Pushes are examined in the order of their ids. This is the last one. */
  lastId: harmless(withDefault(integer, 0), job),
  ended: harmless(withDefault(integer, 0), shown),
  endedBytes: harmless(withDefault(integer, 0), shown),
  finishedAt: harmless(withDefault(nullable(integer), null), job),
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

export type BulkEnding = RowOf<typeof bulkEndings>;
