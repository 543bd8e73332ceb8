/** Why a push ended, with its stored number; the numbers never change. */
export const endReasons = { views: 0, time: 1, viewer: 2, owner: 3, administrator: 4 } as const;

export type EndReason = keyof typeof endReasons;

export const payloadFormats = { text: 0, fields: 1 } as const;
export type PayloadFormat = keyof typeof payloadFormats;

/**
 * How the content was sealed before the server received it, with its stored number; the numbers never change. `none`: not at
 * all. `age`: for the key in the link. `age_passphrase`: for that key, and then under a passphrase.
 */
export const encryptions = { none: 0, age: 1, age_passphrase: 2 } as const;

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
  /** The answer to a counted view was sent again, under its idempotency key. */
  repeated_view: 10,
} as const;

export type AuditKind = keyof typeof auditKinds;

export const auditKindNames = Object.keys(auditKinds) as readonly AuditKind[];

/** The pushes that a request of an administrator ends; the numbers are stored and never change. */
export const bulkOwners = { all: 0, anonymous: 1, owned: 2 } as const;
