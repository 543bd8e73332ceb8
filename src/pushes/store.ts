import type { AuditRecord } from "./audit-trail.ts";
import type { AuditEntry, EndReason, KindName } from "./push.ts";

/** A push as it lies in the store: nothing in it is readable without a key. Times in ms since the epoch. */
export interface PushRow {
  readonly id: number;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly endReason: EndReason | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly views: number;
  /** Retrievals refused after the end, counted while they still change what `views_remaining` says. */
  readonly refusals: number;
  readonly deletableByViewer: boolean;
  readonly retrievalStep: boolean;
  readonly sealGeneration: number;
  readonly linkSalt: Buffer;
  readonly passphraseSalt: Buffer | null;
  readonly tokenSealed: Buffer | null;
  readonly nameSealed: Buffer | null;
  readonly noteSealed: Buffer | null;
}

/** With the boxes that a claim opens; both null once the push has ended. */
export interface SealedPush {
  readonly row: PushRow;
  readonly dataKeySealed: Buffer | null;
  readonly payloadSealed: Buffer | null;
  /** Most pushes have none, and need not be asked for them. */
  readonly hasFiles: boolean;
}

export interface FileRow {
  readonly id: number;
  readonly blobKey: string;
  readonly sizeBytes: number;
  readonly detailsSealed: Buffer;
}

export interface NewPush {
  readonly row: PushRow;
  readonly tokenDigest: Buffer;
  readonly dataKeySealed: Buffer;
  readonly payloadSealed: Buffer;
  readonly files: readonly FileRow[];
  readonly storedBytes: number;
}

export interface UploadRecord {
  readonly blobKey: string;
  /** 0 when somebody signed in sends it. */
  readonly anonymousBytes: number;
}

export interface ViewClaim {
  readonly pushId: number;
  readonly sealGeneration: number;
  /** The push must not have run out at this instant. */
  readonly now: number;
  /** An owner's look on a page is logged but not counted. */
  readonly counted: boolean;
  readonly audit: AuditRecord;
  /** When the blobs of a push that ends here may go. */
  readonly blobsDueAt: number;
}

export interface EndRequest {
  readonly pushId: number;
  readonly reason: EndReason;
  /** For the reason "time": the push is ended only if its time was up by then. */
  readonly endedAt: number;
  /** 0: at once, whatever the clock says. */
  readonly blobsDueAt: number;
  readonly audit: AuditRecord | null;
}

/**
 * Where pushes lie. Every method is one atomic step; one that writes returns only when what it wrote is durable.
 * The guards are inside the writes: what was read before decides nothing.
 */
export interface PushStore {
  /** @returns false when one of the files' uploads is no longer on record (it was swept as an orphan). */
  insert(push: NewPush, audit: AuditRecord): Promise<boolean>;
  find(tokenDigest: Buffer): Promise<PushRow | undefined>;
  findById(pushId: number): Promise<PushRow | undefined>;
  findSealed(tokenDigest: Buffer): Promise<SealedPush | undefined>;
  /** In the order they were added. */
  files(pushId: number): Promise<readonly FileRow[]>;

  /** @returns the push as it stands after the claim; undefined when the guard refused and nothing was written. */
  claimView(claim: ViewClaim): Promise<PushRow | undefined>;
  /** @returns false when it had ended already, or its time is not up. */
  end(request: EndRequest): Promise<boolean>;
  /** Counts and logs a retrieval of a push that has ended. @returns the push as it stands after it. */
  recordRefusal(pushId: number, audit: AuditRecord): Promise<PushRow | undefined>;
  record(pushId: number, audit: AuditRecord): Promise<void>;
  /** Whether the trail has a download by this address since then. */
  hasDownload(pushId: number, address: string, since: number): Promise<boolean>;

  list(
    ownerId: number,
    state: "active" | "expired",
    now: number,
    limit: number,
    offset: number,
  ): Promise<readonly PushRow[]>;
  audit(pushId: number, limit: number, offset: number): Promise<readonly AuditEntry[]>;

  addUpload(blobKey: string, now: number): Promise<void>;
  /** @returns false when one of them is no longer on record (it was swept as an orphan). */
  renewUploads(uploads: readonly UploadRecord[], now: number): Promise<boolean>;
  /** Their blobs go into the deletion queue, due at once. */
  abandonUploads(blobKeys: readonly string[]): Promise<void>;

  readonly upkeep: PushUpkeep;
}

/** The sweeper's part. Each call is bounded by `limit` and returns how much it did. */
export interface PushUpkeep {
  dueForEnd(now: number, limit: number): Promise<readonly { readonly pushId: number; readonly expiresAt: number }[]>;
  endDue(
    pushes: readonly { readonly pushId: number; readonly expiresAt: number }[],
    blobsGraceMs: number,
  ): Promise<number>;
  removeTombstones(endedBefore: number, limit: number): Promise<number>;
  purgeOwned(endedBefore: number, limit: number): Promise<number>;
  abandonOrphans(renewedBefore: number, limit: number): Promise<number>;
  dueBlobDeletions(
    now: number,
    limit: number,
  ): Promise<readonly { readonly blobKey: string; readonly attempts: number }[]>;
  blobDeleted(blobKey: string): Promise<void>;
  postponeBlobDeletion(blobKey: string, dueAt: number): Promise<void>;
  /** Takes away the leading run of overwritten key rows, but for the margin that shields their living neighbours. */
  trimDataKeys(limit: number): Promise<number>;
  /** Bytes of payloads and files in live pushes that nobody owns, and of such files on their way in. */
  anonymousBytes(): Promise<number>;
}
