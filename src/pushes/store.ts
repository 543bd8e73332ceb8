import type { InTransaction } from "../database/database.ts";
import type { AuditRecord } from "./audit/audit-trail.ts";
import type {
  LinkDeliveryRefusal,
  NewLinkDelivery,
  PushLinkDeliveries,
  ViewNotifications,
} from "./notification-store.ts";
import type { EndReason, KindName, PushTotals, SurveyedPush } from "./push.ts";
import type { FileRow, PushGlance, PushRow, SealedLabels, SealedPush, TrailRow } from "./store/tables.ts";

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
  /** Drawn for this claim alone, 48 random bits: when its answer is lost on the way, it is found again by it. */
  readonly claimId: number;
  readonly sealGeneration: number;
  /** The push must not have run out at this instant. */
  readonly now: number;
  /** An owner's look on a page is logged but not counted. */
  readonly counted: boolean;
  /** What the push was when it was opened. It decides nothing, but tells which way of writing is the likely one. */
  readonly seen: Pick<PushRow, "views" | "expireAfterViews" | "ownerId" | "notifyOnView"> &
    Pick<SealedPush, "hasFiles">;
  /** It is another's view, which the owner is told of if that is wanted. */
  readonly byAnother: boolean;
  readonly audit: AuditRecord;
  /** When the blobs of a push that ends here may go. */
  readonly blobsDueAt: number;
}

/** What an edit writes. Absent: stays as it is in the row, whatever that is by then. */
export interface PushChange {
  readonly pushId: number;
  readonly ownerId: number;
  readonly sealGeneration: number;
  /** The push must not have run out at this instant, neither by its old time nor by its new one. */
  readonly now: number;
  readonly expiry?: { readonly expiresAt: number; readonly expireAfterDays: number } | undefined;
  readonly expireAfterViews?: number | undefined;
  readonly deletableByViewer?: boolean | undefined;
  readonly retrievalStep?: boolean | undefined;
  readonly notifyOnView?: boolean | undefined;
  readonly name?: SealedLabel | undefined;
  readonly note?: SealedLabel | undefined;
  readonly content?: ContentChange | undefined;
}

export interface SealedLabel {
  /** null: the label is removed. */
  readonly sealed: Buffer | null;
}

/** Sealed for the generation after the one that was read. */
export interface ContentChange {
  readonly linkSalt: Buffer;
  readonly passphraseSalt: Buffer | null;
  readonly dataKeySealed: Buffer;
  readonly payloadSealed: Buffer;
  readonly storedBytes: number;
  readonly keptFiles: readonly Pick<FileRow, "id" | "keySealed">[];
  readonly addedFiles: readonly FileRow[];
  /** Their blobs are due for deletion at once. */
  readonly removedFileIds: readonly number[];
}

/** `refused`: the guard let nothing through. `upload_swept`: an added file's upload is no longer on record. */
export type ChangeOutcome =
  | { readonly outcome: "changed"; readonly row: PushRow }
  | { readonly outcome: "refused" }
  | { readonly outcome: "upload_swept" };

export interface EndRequest {
  readonly pushId: number;
  readonly reason: EndReason;
  /** For the reason "time": the push is ended only if its time was up by then. */
  readonly endedAt: number;
  /** 0: at once, whatever the clock says. */
  readonly blobsDueAt: number;
  readonly audit: AuditRecord | null;
}

export type InsertOutcome = "inserted" | "upload_swept" | LinkDeliveryRefusal;

/**
 * Where pushes lie. Every method is one atomic step; one that writes returns only when what it wrote is durable.
 * The guards are inside the writes: what was read before decides nothing.
 */
export interface PushStore {
  /** All of it happens, or nothing. `upload_swept`: one of the files' uploads is no longer on record, as an orphan. */
  insert(push: NewPush, audit: AuditRecord, linkDelivery?: NewLinkDelivery): Promise<InsertOutcome>;
  find(tokenDigest: Buffer): Promise<PushRow | undefined>;
  findById(pushId: number): Promise<PushRow | undefined>;
  findSealed(tokenDigest: Buffer): Promise<SealedPush | undefined>;
  /** In the order they were added. */
  files(pushId: number): Promise<readonly FileRow[]>;

  /** @returns the push as it stands after the claim; undefined when the guard refused and nothing was written. */
  claimView(claim: ViewClaim): Promise<PushRow | undefined>;
  /** Guarded like a claim, and by the views used so far: they stay below the limit. All of it happens, or nothing. */
  change(change: PushChange, audit: AuditRecord): Promise<ChangeOutcome>;
  /** @returns false when it had ended already, or its time is not up. */
  end(request: EndRequest, together?: InTransaction): Promise<boolean>;
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

  addUpload(blobKey: string, now: number): Promise<void>;
  /** @returns false when one of them is no longer on record (it was swept as an orphan). */
  renewUploads(uploads: readonly UploadRecord[], now: number): Promise<boolean>;
  /** Their blobs go into the deletion queue, due at once. */
  abandonUploads(blobKeys: readonly string[]): Promise<void>;

  readonly linkDeliveries: PushLinkDeliveries;
  readonly viewNotifications: ViewNotifications;
  readonly lists: PushLists;
  readonly surveys: PushSurveys;
  readonly upkeep: PushUpkeep;
}

/** For the owner's pages. Lists of pushes are newest first. */
export interface PushLists {
  /** Those of one state and kind (null: of any). */
  filtered(
    ownerId: number,
    filter: { readonly state: "active" | "expired" | "all"; readonly kind: KindName | null },
    now: number,
    limit: number,
    offset: number,
  ): Promise<readonly PushRow[]>;
  /** The next ones after `last` (null: the first). `active` leaves out what is written down as ended, nothing else. */
  glances(
    ownerId: number,
    state: "active" | "all",
    last: Pick<PushGlance, "id" | "createdAt"> | null,
    limit: number,
  ): Promise<readonly PushGlance[]>;
  /** By the id of their push, as far as they are there. */
  labels(pushIds: readonly number[]): Promise<ReadonlyMap<number, SealedLabels>>;
  /** In the order of the ids, without those that are gone. */
  byIds(pushIds: readonly number[]): Promise<readonly PushRow[]>;
  /** Newest first. */
  trail(pushId: number, limit: number, offset: number): Promise<readonly TrailRow[]>;
  /** Entries with events later than the end; a refused view of the same instant is later, too. */
  countAfterEnd(pushId: number, endedAt: number): Promise<number>;
  /** Entries of one event each, in the order of the events. @param sequence of the last one that is known; 0: none. */
  trailFrom(pushId: number, sequence: number, limit: number): Promise<readonly TrailRow[]>;
  /** At most one of each kind. */
  foldedTrail(pushId: number): Promise<readonly TrailRow[]>;
}

/** For administrators. */
export interface PushSurveys {
  /** Newest first. */
  before(pushId: number, limit: number): Promise<readonly SurveyedPush[]>;
  totals(): Promise<PushTotals>;
}

/** What happens to the pushes of an account that is deleted. */
export interface PushDepartures {
  /** Ends what has not ended and takes away all that was the owner's. @returns how many pushes, at most `limit`. */
  releaseOwned(ownerId: number, now: number, limit: number): Promise<number>;
  /** Accounts that are gone, in the order of their ids. */
  departedOwners(afterId: number, limit: number): Promise<readonly number[]>;
  /** Those that went before then and left nothing. */
  forgetDeparted(departedBefore: number): Promise<number>;
}

/**
 * The sweeper's part, which all processes share. Each call is bounded by `limit` and returns how much it did; what another
 * process works on is left to it.
 */
export interface PushUpkeep extends PushDepartures {
  /** Ends pushes whose time was up by then; their blobs may go `blobsGraceMs` after it. */
  endDue(now: number, limit: number, blobsGraceMs: number): Promise<number>;
  removeTombstones(endedBefore: number, limit: number): Promise<number>;
  purgeOwned(endedBefore: number, limit: number): Promise<number>;
  abandonOrphans(renewedBefore: number, limit: number): Promise<number>;
  /**
   * Those due by then, which nobody else is given until `leasedUntil`: of several processes each works on its own. What a
   * crash leaves undone is due again after it.
   */
  leaseBlobDeletions(
    dueBy: number,
    leasedUntil: number,
    limit: number,
  ): Promise<readonly { readonly blobKey: string; readonly attempts: number }[]>;
  blobDeleted(blobKey: string): Promise<void>;
  postponeBlobDeletion(blobKey: string, dueAt: number): Promise<void>;
  /** Takes away the leading run of overwritten key rows, but for the margin that shields their living neighbours. */
  trimDataKeys(limit: number): Promise<number>;
  /** Bytes of payloads and files in live pushes that nobody owns, and of such files on their way in. */
  anonymousBytes(): Promise<number>;
}
