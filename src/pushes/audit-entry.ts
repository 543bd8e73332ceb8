/** The kinds of audit entries with the numbers that store them; the numbers never change. */
export const auditKinds = {
  creation: 0,
  view: 1,
  failed_view: 2,
  expire: 3,
  failed_passphrase: 4,
  admin_view: 5,
  owner_view: 6,
  edit: 7,
  creation_email_send: 8,
  download: 9,
} as const;
export type AuditKind = keyof typeof auditKinds;
export const auditKindNames = Object.keys(auditKinds) as readonly AuditKind[];

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
