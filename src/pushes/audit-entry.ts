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

export type LinkDeliveryStatus = "pending" | "processing" | "completed" | "partially_failed" | "failed";

/** What became of the mails with a push's link. */
export interface LinkDeliveryReport {
  /** As they were given, separated by commas. */
  readonly recipients: string;
  readonly locale: string | null;
  readonly status: LinkDeliveryStatus;
  /** Addresses, separated by commas; null: none was tried yet. */
  readonly successfulSends: string | null;
  /** When the last mail had left or was given up; null: not yet. */
  readonly proceedAt: number | null;
  readonly errorMessage: string | null;
}

export interface AuditEntry {
  readonly kind: AuditKind;
  readonly address: string;
  readonly userAgent: string;
  readonly referrer: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How many like events this entry stands for; more than 1 only beyond the per-push cap. */
  readonly times: number;
  /** Of creation_email_send. */
  readonly linkDelivery?: LinkDeliveryReport;
}
