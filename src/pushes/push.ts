import type { PushField } from "@sealpush/age/fields";
import type { KindName } from "../base/push-kinds.ts";
import type { AuditEntry } from "./audit/audit-trail.ts";
import type { PublicOptions } from "./push-options.ts";
import type { FileDetails } from "./seals.ts";
import type { PushOptions, PushRow } from "./store/tables.ts";
import type { bulkOwners, EndReason } from "./stored-values.ts";

export type { PushField } from "@sealpush/age/fields";
export type { KindName } from "../base/push-kinds.ts";
export type { Actor } from "./actor.ts";
export type * from "./audit/audit-trail.ts";
export type { BulkEnding, PushOption } from "./store/tables.ts";
export type { AuditKind, EndReason } from "./stored-values.ts";

/** What the server knows of a push that was sealed before it got here, see docs/end-to-end.md. */
export interface EndToEnd {
  /** The content is also sealed under a passphrase, which the server never sees. */
  readonly underPassphrase: boolean;
  /** Tells whether a link has the right key; null: none was sent with the push. */
  readonly check: string | null;
}

export type Lifetime = Pick<PushRow, "expireAfterDays" | "expireAfterViews" | "expiresAt">;

/** A push as owners, viewers and presenters see it. Its only secrets are the labels and the token. */
export interface Push
  extends PublicOptions,
    Lifetime,
    Pick<PushRow, "kind" | "ownerId" | "views" | "createdAt" | "updatedAt"> {
  readonly urlToken: string;
  readonly daysRemaining: number;
  readonly viewsRemaining: number;
  readonly passphraseRequired: boolean;
  /** null: the server receives the content as it is. */
  readonly endToEnd: EndToEnd | null;
  /** Everybody with the link may see the owner's address, which `findSender` returns. */
  readonly showsSender: boolean;
  /** It answers a request of its owner: every view counts, also the owner's. */
  readonly isAnswer: boolean;
  readonly expired: boolean;
  /** Ended by a person, not by a limit. */
  readonly deleted: boolean;
  /** Milliseconds since the epoch; null while active. */
  readonly expiredOn: number | null;
  /** Labels; null when not set or when the caller is not the owner. */
  readonly name: string | null;
  readonly note: string | null;
}

/** A push for its owner, and for the person who has just created it. */
export interface OwnedPush extends Push, PushOptions {
  /** null while active. */
  readonly endReason: EndReason | null;
}

export interface ListedPush extends Omit<OwnedPush, "urlToken"> {
  readonly id: number;
  /** null: this server does not store the link, or not any more. */
  readonly urlToken: string | null;
}

export interface CreatedPush extends OwnedPush {
  /** The push was created by an earlier request under the same idempotency key; this is its state now. */
  readonly repeated: boolean;
}

/** By time of creation, or by the time at which a push expires or ended. */
export type PushOrder = "newest" | "oldest" | "soonest" | "latest";

/** Selects among an owner's pushes. */
export interface PushSearch {
  readonly state: "active" | "expired" | "all";
  /** null: all kinds. */
  readonly kind: KindName | null;
  /** Part of a name or a note, in upper or lower case; "": no search. */
  readonly text: string;
  readonly order: PushOrder;
  /** From 1. */
  readonly page: number;
}

export interface FoundPushes {
  /** 50 a page. */
  readonly pushes: readonly ListedPush[];
  readonly hasMore: boolean;
  /** The search reached its limit: the pushes after that were not searched. */
  readonly stopped: boolean;
  /** The search met a name or a note that was sealed in a browser, and passed over it. */
  readonly metSealedLabel: boolean;
}

/** A request to create a push. Absent fields take the instance's defaults. */
export interface CreatePush extends Partial<PushOptions> {
  /** The name of a preset of the caller, for what the request leaves open. */
  readonly preset?: string;
  readonly kind?: KindName;
  readonly payload?: string;
  /** A structured secret, instead of the payload. */
  readonly fields?: readonly PushField[];
  /** `age`: payload and files are age files, see docs/end-to-end.md. Absent: they are not sealed. */
  readonly encryption?: "age";
  /** See `EndToEnd.check`. */
  readonly encryptionCheck?: string;
  /** Files already received through `beginUpload`. */
  readonly upload?: Upload;
  /** The request has a files field, even an empty one: like a file push it requires a known caller. */
  readonly mentionsFiles?: boolean;
  readonly expireAfterDays?: number;
  readonly expireAfterViews?: number;
  /** Takes precedence over expireAfterDays. */
  readonly expireAfterMs?: number;
  /** Milliseconds since the epoch. Takes precedence over both. */
  readonly expiresAt?: number;
  readonly passphrase?: string;
  readonly name?: string;
  readonly note?: string;
  /** Addresses to mail the link to, separated by commas; "": none. For owned pushes. */
  readonly notifyEmailsTo?: string;
  /** The language of those emails and of the page behind their link; "": not chosen. */
  readonly notifyEmailsToLocale?: string;
  /**
   * A secret of the client. For a day the same request of the same user under the same key creates nothing: it gets the same
   * push as long as that can be opened. Ignored for anonymous pushes.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The recipients and the language of a requested link delivery. */
export type LinkDeliveryRequest = Required<Pick<CreatePush, "notifyEmailsTo">> &
  Pick<CreatePush, "notifyEmailsToLocale">;

/** The owner's changes to a push. Absent fields stay unchanged. The kind never changes. */
export interface EditPush extends Partial<PushOptions> {
  /** Counted from the creation. */
  readonly expireAfterDays?: number;
  /** The total, including views already used. */
  readonly expireAfterViews?: number;
  /** "": remove the name. */
  readonly name?: string;
  readonly note?: string;
  readonly payload?: string;
  /** Instead of the payload, also where the push had a text. */
  readonly fields?: readonly PushField[];
  /** null: remove the passphrase. */
  readonly passphrase?: string | null;
  readonly upload?: Upload;
  readonly removedFileIds?: readonly number[];
  /** The push's passphrase before the edit. Absent or "": not given. */
  readonly currentPassphrase?: string;
}

export type EditOutcome =
  | { readonly outcome: "edited"; readonly push: Push }
  /** The push is protected, and part of its content is to be kept: see `Pushes.edit`. */
  | { readonly outcome: "passphrase_required" }
  | { readonly outcome: "wrong_passphrase" }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number }
  /** Another edit was written first, and this one changed nothing. */
  | { readonly outcome: "changed_meanwhile" }
  | { readonly outcome: "gone" }
  /** The push does not exist or belongs to another user. */
  | { readonly outcome: "unknown" };

/** Inclusive at both ends. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A live push for its owner's edit form, which needs neither the link nor the passphrase. */
export interface EditablePush {
  readonly push: OwnedPush;
  /** The currently allowed values of `EditPush.expireAfterDays`. */
  readonly days: Bounds;
  /** The currently allowed values of `EditPush.expireAfterViews`. */
  readonly views: Bounds;
  readonly files: readonly { readonly id: number; readonly filename: string; readonly sizeBytes: number }[];
}

export interface IncomingFile extends FileDetails {
  readonly content: AsyncIterable<Uint8Array>;
}

/** Files of a push that does not exist yet, sealed as they arrive. Ends with `create`, `edit` or `abandon`. */
export interface Upload {
  readonly fileCount: number;
  /**
   * @throws AppError invalid_fields (too many files), too_large (over the bytes of one push), bytes_used_up,
   * unavailable (disk).
   */
  addFile(file: IncomingFile): Promise<void>;
  /**
   * Adds the file of a complete upload, see `openUpload`. It stays with the upload if no push takes it.
   * @throws AppError as `addFile`; invalid_fields when there is no such upload of this actor, or it is not complete.
   */
  addUploaded(address: string): Promise<void>;
  abandon(): Promise<void>;
}

export interface SizedFile extends FileDetails {
  readonly sizeBytes: number;
}

export interface RevealedFile extends SizedFile {
  /** Opaque and URL-safe, for `openTicket`. */
  readonly ticket: string;
}

/** The counted views before one. They tell nothing about who opened the push. */
export interface EarlierViews {
  readonly count: number;
  /** Milliseconds since the epoch; null: unknown, or there are none. */
  readonly lastAt: number | null;
}

export type ClaimOutcome =
  | {
      readonly outcome: "revealed";
      readonly push: Push;
      /** The secret; the readable text of fields. */
      readonly payload: string;
      /** null: the payload is a text. */
      readonly fields: readonly PushField[] | null;
      readonly files: readonly RevealedFile[];
      /** See `Pushes.findSender`. */
      readonly sender: string | null;
      /** null: this view is not counted. */
      readonly earlierViews: EarlierViews | null;
      /** The answer to an earlier view is sent again under its idempotency key, and nothing is counted. */
      readonly repeated: boolean;
    }
  | { readonly outcome: "passphrase_required"; readonly push: Push }
  | { readonly outcome: "wrong_passphrase"; readonly push: Push }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number }
  /** A view was counted under the idempotency key before, and its answer cannot be repeated any more. */
  | { readonly outcome: "key_used"; readonly push: Push }
  | { readonly outcome: "gone"; readonly push: Push }
  | { readonly outcome: "unknown" };

/** The person who caused an entry, as far as known. `holder`: any person with the link. */
export type TrailActor = "owner" | "administrator" | "holder";

/** An entry as the push's owner reads it. A limit that ended the push has no entry but an event of its own. */
export type TrailEvent =
  | (AuditEntry & {
      readonly by: TrailActor;
      /** The user who was signed in or whose API token it was; null: nobody. The account may have been deleted since. */
      readonly userId: number | null;
    })
  | {
      readonly kind: "limit";
      readonly reason: "views" | "time";
      readonly createdAt: number;
      readonly updatedAt: number;
    };

export interface TrailPage {
  readonly push: OwnedPush;
  /** The name of one that was tampered with is "". */
  readonly files: readonly SizedFile[];
  /** Newest first, 50 a page. */
  readonly events: readonly TrailEvent[];
  readonly hasMore: boolean;
}

export interface WholeTrail {
  readonly push: OwnedPush;
  /** Oldest first; entries that count many events are among the last. */
  readonly events: AsyncIterable<TrailEvent>;
}

/** A push in the data export of its owner. */
export interface ExportedPush {
  readonly push: ListedPush;
  /** See TrailPage. */
  readonly files: readonly SizedFile[];
  /** See WholeTrail; must be read before the next push. */
  readonly events: AsyncIterable<TrailEvent>;
}

export interface Download extends SizedFile {
  readonly pushId: number;
  readonly fileId: number;
  /**
   * Plaintext bytes from `start` to `end`, inclusive. Audited as a download.
   * @throws AppError unavailable when the store does not answer (the ticket then waits for it) or has other bytes than were
   * sealed; not_found when it has lost the file. In the last two cases the cause is a StoredFileError.
   */
  read(range: { start: number; end: number }): AsyncIterable<Uint8Array>;
}

/** A push as administrators see it: metadata only, without content or link. */
export interface PushOverview
  extends Pick<
      ListedPush,
      "id" | "kind" | "ownerId" | "createdAt" | "expiresAt" | "expired" | "expiredOn" | "endReason"
    >,
    Pick<ListedPush, "views" | "expireAfterViews" | "passphraseRequired"> {
  /** Plaintext bytes of payload and files. */
  readonly storedBytes: number;
}

export interface AdminListFilter extends Pick<PushSearch, "kind" | "state"> {
  /** null: all owners, and anonymous pushes. */
  readonly ownerId: number | null;
  /** Only pushes older than this one; null: start with the newest. */
  readonly beforeId: number | null;
}

export interface AdminListPage {
  readonly pushes: readonly PushOverview[];
  /** null: this is the last page. */
  readonly nextBeforeId: number | null;
}

/** Selects live pushes that an administrator ends together. All conditions must match. */
export interface BulkEndingFilter {
  /** The network of the address that created the push, as `readEndingNetwork` returns it; "": any. */
  readonly network: string;
  /** 0: of any age. */
  readonly olderThanMs: number;
  /** Payload and files together; 0: any size. */
  readonly largerThanBytes: number;
  readonly owners: keyof typeof bulkOwners;
}

export interface BulkEndingPreview {
  readonly count: number;
  readonly bytes: number;
  /** false: there are so many pushes that not all were examined; more may match. */
  readonly isComplete: boolean;
}

export interface PushTotals {
  readonly live: number;
  readonly ended: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Files queued for deletion from the storage. */
  readonly filesToDelete: number;
  /** Files being uploaded. */
  readonly uploads: number;
}

/** For somebody who may see what the owner does. */
export interface OthersTrailPage extends Pick<TrailPage, "events" | "hasMore"> {
  readonly push: ListedPush;
}

export interface AdminTrailPage extends Pick<TrailPage, "events" | "hasMore"> {
  readonly push: PushOverview;
}

export type AdminEndOutcome = "ended" | "had_ended" | "unknown";

/** Pushes, or audit entries, per page. */
export const pageSize = 50;
