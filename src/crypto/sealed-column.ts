/** Master keys derive one key for each purpose, and seal nothing themselves. */
export type SealPurpose =
  | "domain secrets"
  | "row secrets"
  | "link secrets"
  | "labels"
  | "requests"
  | "passwords"
  | "second factors"
  | "single sign-on"
  | "emails";
/** Purposes of keys that are joined with a secret of the client. */
export type JointPurpose = "claim retries" | "download tickets" | "resumable uploads";
/** Purposes of values that are not stored in a column. */
export type MessagePurpose = "passkey challenges" | "authenticator set-up" | "backup manifest";

/** Where a rotation of keys finds a column's values and what they are bound to. Names in SQL. */
export interface SealedRows {
  /** The id that the value is bound to, by which rows are read in order. */
  readonly id: string;
  /** The owner that the value is bound to, or NULL. */
  readonly owner: string;
  /** The primary key of the row; the same as `id` by default. */
  readonly key?: string;
  /** The table, with the tables of `id` and `owner` joined; the table alone by default. */
  readonly from?: string;
  /** Only rows with an owner, or only those without one. The others have another kind of value, or none. */
  readonly only?: "owned" | "anonymous";
}

/** Under a key that a master key derives. A rotation reseals the values. */
export type MasterKeySeal = { readonly under: "master key"; readonly purpose: SealPurpose; readonly rows: SealedRows };

/**
 * Under a key that a master key and a secret of the client derive together. The values live for minutes, those of uploads for a day and
 * those of a ticket that waits for the store of files for days. They are not resealed: after a rotation they open while the older
 * master key is given.
 */
export type JointSeal = { readonly under: "master key and client"; readonly purpose: JointPurpose };

/** Under a key that is itself sealed elsewhere: a rotation reseals that one instead. */
export type InnerSeal = { readonly under: "key of the push" | "key of the file" };

/** The same with the key of an account's stored links, which is derived from its sealed link secret. */
export type LinkSeal = { readonly under: "stored-link key of the account" };

export type Seal = MasterKeySeal | JointSeal | InnerSeal | LinkSeal;

export function underMasterKey(purpose: SealPurpose, rows: SealedRows): MasterKeySeal {
  return { under: "master key", purpose, rows };
}

export function underMasterKeyAndClient(purpose: JointPurpose): JointSeal {
  return { under: "master key and client", purpose };
}

export const underPushKey: InnerSeal = { under: "key of the push" };
export const underFileKey: InnerSeal = { under: "key of the file" };
export const underStoredLinkKey: LinkSeal = { under: "stored-link key of the account" };

const described: unique symbol = Symbol("described");

/**
 * A column whose values are sealed in one way. The descriptions of tables make them (`database/table.ts`), and nothing else can be sealed
 * and opened, so that key rotation, which works from the descriptions, forgets none.
 */
export interface SealedColumn<S extends Seal = Seal> {
  readonly [described]: true;
  /** Names in the database. */
  readonly table: string;
  readonly column: string;
  readonly seal: S;
}

export type LinkColumn = SealedColumn<LinkSeal>;

/** A column whose values a rotation of keys reseals. */
export type RotatedColumn = SealedColumn<MasterKeySeal>;

/** Only for the descriptions of tables. */
export function sealedColumn<S extends Seal>(table: string, column: string, seal: S): SealedColumn<S> {
  return { [described]: true, table, column, seal };
}
