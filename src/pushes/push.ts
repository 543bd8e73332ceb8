import type { KindName } from "../base/push-kinds.ts";
import type { AuditEntry } from "./audit/audit-trail.ts";
import type { PushOptions } from "./store/tables.ts";

export type { KindName } from "../base/push-kinds.ts";
export type * from "./audit/audit-trail.ts";

/** Who makes the request. Every operation on a push takes one; nothing is read from globals. */
export interface Actor {
  /** null: nobody signed in and no API token. */
  readonly user: { readonly id: number; readonly admin: boolean } | null;
  /** Throttle key of the client: its IPv4 address, or its IPv6 /64 network. */
  readonly client: string;
  /** For the audit trail. */
  readonly address: string;
  readonly userAgent: string;
  /** As the client sent it; the audit trail stores a cut and cleaned form. */
  readonly referrer: string;
  /** The origin under which this request reached us, e.g. `https://push.example.com`: it identifies our own referrers. */
  readonly ownOrigin: string;
}

/** Why a push ended, with the number that stores it; the numbers never change. */
export const endReasons = { views: 0, time: 1, viewer: 2, owner: 3, administrator: 4 } as const;
export type EndReason = keyof typeof endReasons;

/** Options that only the owner sees. */
type OwnersOption = "notifyOnView";

/** A push as its owner, its viewer and the presenters see it: no secret in it but the labels and the token. */
export interface Push extends Omit<PushOptions, OwnersOption> {
  readonly urlToken: string;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly daysRemaining: number;
  readonly viewsRemaining: number;
  readonly passphraseRequired: boolean;
  readonly expired: boolean;
  /** Ended by a person (owner or viewer), not by a limit. */
  readonly deleted: boolean;
  /** Milliseconds since the epoch; null while active. */
  readonly expiredOn: number | null;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Labels only the owner may see; null when not set or when the push is not theirs to read. */
  readonly name: string | null;
  readonly note: string | null;
}

/** As its owner's pages show it. */
export interface OwnedPush extends Push, PushOptions {
  /** Counted views; refusals after the end are none. */
  readonly views: number;
  /** null while active. */
  readonly endReason: EndReason | null;
}

/** Which of an owner's pushes to find. */
export interface PushSearch {
  readonly state: "active" | "expired" | "all";
  readonly kind: KindName | null;
  /** Part of a name or a note, whatever its case; "": all. */
  readonly text: string;
  /** From 1. */
  readonly page: number;
}

export interface FoundPushes {
  /** Newest first, 50 a page. */
  readonly pushes: readonly OwnedPush[];
  /** There is a next page. */
  readonly hasMore: boolean;
  /** The search stopped at its limit: older pushes were not searched. */
  readonly stopped: boolean;
}

/** What a caller asks for when making a push. Absent means "not given": the instance's default applies. */
export interface CreatePush extends Partial<PushOptions> {
  readonly kind?: KindName;
  readonly payload?: string;
  /** Files already streamed in through `beginUpload`. */
  readonly upload?: Upload;
  /** The caller named files at all, even none: asks for a token like a file push does. */
  readonly mentionsFiles?: boolean;
  readonly expireAfterDays?: number;
  readonly expireAfterViews?: number;
  /** Wins over expireAfterDays. */
  readonly expireAfterMs?: number;
  readonly passphrase?: string;
  readonly name?: string;
  readonly note?: string;
  /** Addresses that the link is mailed to, separated by commas; "": none. For owned pushes. */
  readonly notifyEmailsTo?: string;
  /** The language of those mails, and of the page that their link opens; "": none is chosen. */
  readonly notifyEmailsToLocale?: string;
}

/** To whom a link is mailed, as they are asked for. */
export type LinkDeliveryRequest = Required<Pick<CreatePush, "notifyEmailsTo">> &
  Pick<CreatePush, "notifyEmailsToLocale">;

/** What the owner asks to change. Absent: it stays as it is. The kind never changes. */
export interface EditPush extends Partial<PushOptions> {
  /** Counted from the creation. */
  readonly expireAfterDays?: number;
  /** In all, those used included. */
  readonly expireAfterViews?: number;
  /** "": it is removed. */
  readonly name?: string;
  readonly note?: string;
  readonly payload?: string;
  /** null: it is removed. */
  readonly passphrase?: string | null;
  /** Files to add, already streamed in through `beginUpload`. */
  readonly upload?: Upload;
  readonly removedFileIds?: readonly number[];
  /** The one the push has now. "" like absent: not given. */
  readonly currentPassphrase?: string;
}

export type EditOutcome =
  | { readonly outcome: "edited"; readonly push: Push }
  /** A protected push, and something of its content is to stay: see `Pushes.edit`. */
  | { readonly outcome: "passphrase_required" }
  | { readonly outcome: "wrong_passphrase" }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number }
  /** Another edit came first. Nothing was changed by this one. */
  | { readonly outcome: "changed_meanwhile" }
  | { readonly outcome: "gone" }
  /** Or not the actor's. */
  | { readonly outcome: "unknown" };

/** Both ends included. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A living push as the owner's form for editing it shows it: nothing in it needs the link or the passphrase. */
export interface EditablePush {
  readonly push: OwnedPush;
  /** What `EditPush.expireAfterDays` may be now. */
  readonly days: Bounds;
  /** What `EditPush.expireAfterViews` may be now. */
  readonly views: Bounds;
  readonly files: readonly { readonly id: number; readonly filename: string; readonly sizeBytes: number }[];
}

export interface IncomingFile {
  readonly filename: string;
  readonly contentType: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Files on their way in, sealed as they arrive, belonging to no push yet. Ends in `create` or `abandon`. */
export interface Upload {
  readonly fileCount: number;
  /** @throws AppError invalid_fields (too many files), too_large (over the bytes of one push), unavailable (disk). */
  addFile(file: IncomingFile): Promise<void>;
  abandon(): Promise<void>;
}

export interface RevealedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Opaque, URL-safe; `openTicket` takes it. */
  readonly ticket: string;
}

export type ClaimOutcome =
  | {
      readonly outcome: "revealed";
      readonly push: Push;
      readonly payload: string;
      readonly files: readonly RevealedFile[];
    }
  | { readonly outcome: "passphrase_required"; readonly push: Push }
  | { readonly outcome: "wrong_passphrase"; readonly push: Push }
  | { readonly outcome: "too_many_attempts"; readonly retryAfterSeconds: number }
  | { readonly outcome: "gone"; readonly push: Push }
  | { readonly outcome: "unknown" };

/** Who caused an entry, as far as it is known. `holder`: anyone who has the link. */
export type TrailActor = "owner" | "administrator" | "holder";

/** An entry as its push's owner reads it. A limit that ended the push is no entry of the trail, but an event of its own. */
export type TrailEvent =
  | (AuditEntry & { readonly by: TrailActor })
  | {
      readonly kind: "limit";
      readonly reason: "views" | "time";
      readonly createdAt: number;
      readonly updatedAt: number;
    };

export interface TrailPage {
  readonly push: OwnedPush;
  /** Newest first, 50 a page. */
  readonly events: readonly TrailEvent[];
  readonly hasMore: boolean;
}

export interface WholeTrail {
  readonly push: OwnedPush;
  /** Oldest first; entries that count many events are among the last. */
  readonly events: AsyncIterable<TrailEvent>;
}

/** A push in its owner's own copy of what is kept. */
export interface ExportedPush {
  readonly push: OwnedPush;
  readonly files: readonly { readonly filename: string; readonly contentType: string; readonly sizeBytes: number }[];
  /** As in WholeTrail; read it before the next push. */
  readonly events: AsyncIterable<TrailEvent>;
}

export interface Download {
  readonly pushId: number;
  readonly fileId: number;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /**
   * Plaintext of the bytes `start` to `end`, both included. Throws when the sealed file was changed.
   * @throws AppError unavailable; not_found, by a BlobMissingError, when the store has lost it.
   */
  read(range: { start: number; end: number }): AsyncIterable<Uint8Array>;
}

/** A push as administrators see it: what it is, never what is in it nor where it is. */
export interface PushOverview {
  readonly id: number;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly endReason: EndReason | null;
  readonly views: number;
  readonly expireAfterViews: number;
  /** Of payload and files, before they were sealed. */
  readonly storedBytes: number;
  readonly passphraseRequired: boolean;
}

export interface AdminListFilter {
  /** null: of any kind. */
  readonly kind: KindName | null;
  readonly state: "active" | "expired" | "all";
  /** null: any owner, and none. */
  readonly ownerId: number | null;
  /** Older ones than this; null: from the newest on. */
  readonly beforeId: number | null;
}

export interface AdminListPage {
  readonly pushes: readonly PushOverview[];
  /** null: there are no more. */
  readonly nextBeforeId: number | null;
}

export interface PushTotals {
  readonly live: number;
  readonly ended: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Files that wait to be taken off the storage. */
  readonly filesToDelete: number;
  /** Files on their way in. */
  readonly uploads: number;
}

export type AdminEndOutcome = "ended" | "had_ended" | "unknown";
