/**
 * The registry of all columns with sealed values. Only its entries can be sealed and opened, so key rotation, which works
 * from it alone, forgets none. A test compares it with the schema.
 */

/** Master keys derive one key for each purpose, and seal nothing themselves. */
export type Purpose =
  | RotatedColumn["purpose"]
  | JointColumn["purpose"]
  | "passkey challenges"
  | "authenticator set-up"
  | "backup manifest";

/** Names in SQL, for the rotation of keys. */
interface RotatedShape {
  readonly table: string;
  readonly column: string;
  readonly purpose: string;
  /** The primary key of the row in `table`. */
  readonly key: string;
  /** The id that the value is bound to, by which rows are read in order. */
  readonly id: string;
  /** The owner that the value is bound to, or NULL. */
  readonly owner: string;
  /** `table`, with the tables of `id` and `owner` joined. */
  readonly from: string;
  /** Rows without an owner have another kind of value, or none. */
  readonly ownedOnly?: true;
}

const labelOfPush = {
  table: "pushes",
  purpose: "labels",
  key: "id",
  id: "id",
  owner: "owner_id",
  from: "pushes",
} as const;

/** Columns whose values are sealed under a key that a master key derives. */
export const sealedColumns = {
  /** The index secret and the access secret, by name. */
  domainSecret: {
    table: "meta",
    column: "value",
    purpose: "domain secrets",
    key: "name",
    id: "name",
    owner: "NULL",
    from: "(SELECT * FROM meta WHERE name IN ('index_secret', 'access_secret')) AS meta",
  },
  rowSecret: {
    table: "row_secrets",
    column: "sealed",
    purpose: "row secrets",
    key: "row_secrets.id",
    id: "pushes.id",
    owner: "pushes.owner_id",
    from: "pushes LEFT JOIN row_secrets ON row_secrets.id = pushes.row_secret_id AND pushes.ended_at IS NULL",
  },
  urlToken: { ...labelOfPush, column: "token_sealed" },
  name: { ...labelOfPush, column: "name_sealed" },
  note: { ...labelOfPush, column: "note_sealed" },
  /** Those of an anonymous push are sealed under the file's key. */
  fileDetails: {
    table: "files",
    column: "details_sealed",
    purpose: "labels",
    key: "files.id",
    id: "files.id",
    owner: "pushes.owner_id",
    from: "files LEFT JOIN pushes ON pushes.id = files.push_id",
    ownedOnly: true,
  },
  linkDelivery: {
    table: "link_deliveries",
    column: "details_sealed",
    purpose: "labels",
    key: "link_deliveries.id",
    id: "link_deliveries.id",
    owner: "pushes.owner_id",
    from: "link_deliveries LEFT JOIN pushes ON pushes.id = link_deliveries.push_id",
    ownedOnly: true,
  },
  /** Authenticates the recipient of the answers: another one in the database would read them. */
  requestDetails: {
    table: "requests",
    column: "details_sealed",
    purpose: "requests",
    key: "id",
    id: "id",
    owner: "owner_id",
    from: "requests",
  },
  password: {
    table: "users",
    column: "password_sealed",
    purpose: "passwords",
    key: "id",
    id: "id",
    owner: "id",
    from: "users",
  },
  /** The password of a sign-up, until its link is used. */
  signUpPassword: {
    table: "mailed_links",
    column: "password_sealed",
    purpose: "passwords",
    key: "digest",
    id: "digest",
    owner: "user_id",
    from: "mailed_links",
  },
  totpSecret: {
    table: "totp_factors",
    column: "secret_sealed",
    purpose: "second factors",
    key: "user_id",
    id: "user_id",
    owner: "user_id",
    from: "totp_factors",
  },
  signOnStep: {
    table: "sign_on_steps",
    column: "step_sealed",
    purpose: "single sign-on",
    key: "digest",
    id: "digest",
    owner: "NULL",
    from: "sign_on_steps",
  },
  email: {
    table: "outbox",
    column: "email_sealed",
    purpose: "emails",
    key: "id",
    id: "id",
    owner: "NULL",
    from: "outbox",
  },
} as const satisfies Readonly<Record<string, RotatedShape>>;

type RotatedColumn = (typeof sealedColumns)[keyof typeof sealedColumns];
export type SealedColumn = RotatedColumn & RotatedShape;

/**
 * Columns whose values need a secret of the client as well. They live for minutes, uploads for a day, and are not resealed: after a rotation
 * they open while the older master key is given.
 */
export const jointColumns = {
  /** The copy of a push's row secret for the idempotency key of a claim. */
  claimRetry: { table: "row_secrets", column: "sealed", purpose: "claim retries" },
  /** The key of a file for a download ticket. Those of a ticket that waits for the store of files live for days. */
  downloadTicket: { table: "row_secrets", column: "sealed", purpose: "download tickets" },
  /** The key of a file that is sent in several requests, for the address of its upload. */
  resumableUpload: { table: "row_secrets", column: "sealed", purpose: "resumable uploads" },
} as const satisfies Readonly<Record<string, ColumnName & { readonly purpose: string }>>;

/** Columns whose values are sealed under the key of their push. A rotation reseals the row secret instead. */
export const pushKeyColumns = {
  payload: { table: "payloads", column: "sealed" },
  fileKey: { table: "files", column: "key_sealed" },
  anonymousFileDetails: { table: "files", column: "details_sealed" },
  /** Under the key of the file, which no push has yet. */
  uploadDetails: { table: "resumable_uploads", column: "details_sealed" },
} as const satisfies Readonly<Record<string, ColumnName>>;

interface ColumnName {
  readonly table: string;
  readonly column: string;
}

export type JointColumn = (typeof jointColumns)[keyof typeof jointColumns];
export type PushKeyColumn = (typeof pushKeyColumns)[keyof typeof pushKeyColumns];
