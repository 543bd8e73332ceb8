import type { KindName } from "../config/config.ts";

export type { KindName } from "../config/config.ts";

/** Who is at the door. Every operation on a push is told; nothing is taken from globals. */
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
  /** The origin under which this request reached us, e.g. `https://push.example.com`: tells our own referrers. */
  readonly ownOrigin: string;
}

export type EndReason = "views" | "time" | "viewer" | "owner";

/** A push as its owner, its viewer and the presenters see it: no secret in it but the labels and the token. */
export interface Push {
  readonly urlToken: string;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly daysRemaining: number;
  readonly viewsRemaining: number;
  readonly deletableByViewer: boolean;
  readonly retrievalStep: boolean;
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

/** What a caller asks for when making a push. Absent means "not given": the instance's default applies. */
export interface CreatePush {
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
  readonly deletableByViewer?: boolean;
  readonly retrievalStep?: boolean;
  readonly passphrase?: string;
  readonly name?: string;
  readonly note?: string;
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

export type AuditKind =
  | "creation"
  | "view"
  | "failed_view"
  | "expire"
  | "failed_passphrase"
  | "admin_view"
  | "owner_view"
  | "edit"
  | "creation_email_send"
  | "download";

export interface AuditEntry {
  readonly kind: AuditKind;
  readonly address: string;
  readonly userAgent: string;
  readonly referrer: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How many like events this entry stands for; more than 1 only beyond the per-push cap. */
  readonly times: number;
}

export interface Download {
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Plaintext of the bytes `start` to `end`, both included. Throws when the sealed file was changed. */
  read(range: { start: number; end: number }): AsyncIterable<Uint8Array>;
}
