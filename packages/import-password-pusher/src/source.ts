/** The contract with the server, which imports only its types: this package is loaded when an import begins. */

/** What the operator should know about one row, or about several. Their ids are appended, and then the advice. */
export type RowWarning = readonly [one: string, several: string, advice?: string];

/** Parts of a user, and of a push, that can be missing although the user or push is imported. */
export type Part =
  | ("factor" | "password" | "api_token" | "created_at")
  | ("note" | "trail" | "notifications" | "people" | "files");

/** Why a part is missing, in one sentence that holds no secret, token or name. */
export interface MissingPart {
  readonly part: Part;
  readonly reason: string;
  readonly file?: SourceFile;
}

/**
 * An installation to import from. Its rows are read, decrypted and checked. Times are milliseconds since the epoch. Ids are
 * those of the source.
 */
export interface ImportSource {
  /** Identifies this installation. The same in every run; it is stored with the imported rows. */
  readonly fingerprint: string;
  /** Warnings about the whole installation, one sentence each. The counts in them grow while rows are read. */
  readonly warnings: readonly string[];
  /** Adds a row to the warnings, once for each row. Rows with the same warning are counted together. */
  warn(warning: RowWarning, id: number): void;
  /** The number of all rows. For users and pushes, it is the number of rows that `users` and `pushes` yield, with any outcome. */
  counts(): Promise<SourceCounts>;
  /** In the order of their ids, in constant memory. */
  users(afterId?: number): AsyncIterable<SourceRow<SourceUser>>;
  pushes(afterId?: number): AsyncIterable<SourceRow<SourcePush>>;
  trail(pushId: number): Promise<SourceTrail>;
  snapshot(): Promise<SourceSnapshot>;
  /** The tables that have changed since a snapshot, with the number of rows that were added, changed or removed. */
  changesSince(tables: SourceSnapshot["tables"]): Promise<readonly SourceChange[]>;
  /** When users were first emailed to confirm their address. undefined: no row says that they were. */
  firstConfirmationEmailAt(): Promise<number | undefined>;
  /** Tries the keys on some sealed values, old and new ones of each table. */
  tryKeys(): Promise<KeyTrial>;
  /** The bytes of a file. @throws SourceFileError when it cannot be read completely. */
  readFile(file: SourceFile): AsyncIterable<Uint8Array>;
  /** The instance's own style sheet; undefined: none. */
  styleSheet(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface SourceCounts extends RelatedCounts {
  readonly users: number;
  readonly pushes: number;
  /** Related rows whose push does not exist. */
  readonly withoutPush: RelatedCounts;
}

/** The number of rows of other tables that belong to a push. */
export interface RelatedCounts {
  readonly auditEntries: number;
  /** Emails that entries of the audit trail refer to. */
  readonly notifications: number;
  readonly files: number;
}

/** The result of trying the given keys on a few sealed values. */
export interface KeyTrial {
  readonly tried: number;
  readonly opened: number;
  /** Some of the values that no key opened, as "pushes 7". */
  readonly examples: readonly string[];
}

/** A row that cannot be read is reported by its id, and reading continues. */
export type SourceRow<Row> = {
  readonly id: number;
  /** The related rows of a push that could be counted. */
  readonly related?: RelatedCounts;
} & (
  | { readonly outcome: "read"; readonly row: Row; readonly missingParts: readonly MissingPart[] }
  | { readonly outcome: "unreadable"; readonly reason: string }
  /** Rows that are not worth importing; counted by reason. */
  | { readonly outcome: "skipped"; readonly reason: string }
);

/** The audit trail of one push, oldest first. */
export interface SourceTrail {
  readonly entries: readonly SourceAuditEntry[];
  readonly missingParts: readonly MissingPart[];
}

/** It is stored, and compared by later runs. */
export interface SourceSnapshot {
  readonly tables: Readonly<Record<string, TableState>>;
  /**
   * A digest of what identifies each user and push. Copies of one installation that were used separately have other rows under the
   * same ids.
   */
  readonly identities: string;
}

/** Ids and times are texts of the source's engine. null: there are no rows, or they are not recorded or damaged. */
export interface TableState {
  readonly rows: number;
  readonly greatestId: string | null;
  /** When a row was last changed. */
  readonly newest: string | null;
}

export interface SourceChange {
  readonly table: string;
  readonly rows: number;
}

export interface SourceUser {
  readonly id: number;
  readonly email: string;
  /** bcrypt; "" when there is none, or when it alone must not sign in because the second factor cannot be decrypted. */
  readonly passwordHash: string;
  readonly admin: boolean;
  readonly language: string | null;
  readonly confirmedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSignedInAt: number | null;
  /** In plain text, as in the source. */
  readonly apiToken: string | null;
  /** Only an active factor. */
  readonly totp: {
    /** Base32 without padding. */
    readonly secret: string;
    /** Unix seconds of the last step that was accepted; null: none. */
    readonly lastStepAt: number | null;
  } | null;
}

/** The index of each is the number in the source. */
export const kinds = ["text", "file", "url", "qr"] as const;
export type SourceKind = (typeof kinds)[number];
export const auditKinds = [
  "creation",
  "view",
  "failed_view",
  "expire",
  "failed_passphrase",
  "admin_view",
  "owner_view",
  "edit",
  "creation_email_send",
] as const;
export const deliveryStatuses = ["pending", "processing", "completed", "partially_failed", "failed"] as const;

export interface SourcePush {
  readonly id: number;
  readonly kind: SourceKind;
  readonly urlToken: string;
  readonly userId: number | null;
  readonly name: string | null;
  readonly note: string | null;
  /** null: it has ended, so its payload, passphrase and files were removed or are not imported. */
  readonly open: {
    readonly payload: string;
    readonly passphrase: string | null;
    readonly files: readonly SourceFile[];
  } | null;
  readonly end: { readonly at: number; readonly reason: "views" | "time" | "deleted" } | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  /** Views and refused retrievals, as the source counts them. */
  readonly countedViews: number;
  readonly deletableByViewer: boolean;
  readonly retrievalStep: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceFile {
  readonly id: number;
  /** As the source shows it: never to be used in a path. */
  readonly filename: string;
  readonly contentType: string | null;
  /** null: unknown, so the file cannot be checked for completeness. */
  readonly sizeBytes: number | null;
  /** Base64 of MD5; null: unknown. */
  readonly checksum: string | null;
  /** Where it is stored: the name of its service, and its key there. */
  readonly service: string;
  readonly key: string;
}

export interface SourceAuditEntry {
  readonly id: number;
  readonly kind: (typeof auditKinds)[number];
  readonly userId: number | null;
  readonly address: string;
  readonly userAgent: string;
  readonly referrer: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Only for creation_email_send. */
  readonly notification: SourceNotification | null;
}

export interface SourceNotification {
  readonly recipients: readonly string[];
  readonly locale: string | null;
  readonly status: (typeof deliveryStatuses)[number];
  readonly successfulSends: string | null;
  readonly errorMessage: string | null;
  readonly proceedAt: number | null;
}

/**
 * The installation as a whole cannot be read. The message is one sentence for the operator, without any secret. The server
 * recognises this and the following errors by their code, because it has no access to the classes.
 */
export class SourceError extends Error {
  override readonly name: string = "SourceError";
  readonly code: string = "SOURCE_ERROR";
}

/** The operator gave an argument that cannot be used: an address, a key or a folder. */
export class SourceArgumentError extends SourceError {
  override readonly name = "SourceArgumentError";
  override readonly code = "SOURCE_ARGUMENT_ERROR";
}

/** A file is missing, damaged, or out of reach. The message names no path. */
export class SourceFileError extends Error {
  override readonly name = "SourceFileError";
  readonly code = "SOURCE_FILE_ERROR";
}

/** A Password Pusher installation, as the operator's arguments and its environment describe it. */
export interface Installation {
  readonly database: DatabaseAddress;
  /** The folder of attached files. undefined: none was given. */
  readonly storageFolder: string | undefined;
  readonly objects: ObjectReader;
  /** A value of the installation's environment, from the variable or the file that it names. undefined: not set. */
  readonly secret: (name: SecretName) => string | undefined;
}

export type SecretName = "PWPUSH_MASTER_KEY" | "PWPUSH_MASTER_KEY_PREVIOUS";

export type DatabaseAddress =
  /** Opens a copy that nobody writes to. */
  | { readonly engine: "sqlite"; readonly connect: () => Promise<SqliteConnection> }
  | {
      readonly engine: "postgres";
      /** Its host and port, for messages. */
      readonly server: string;
      /** Opens a connection for this import alone. @throws the driver's error. */
      readonly connect: () => Promise<PostgresConnection>;
    }
  | ({ readonly engine: "mysql" } & MysqlAddress);

/** What the import needs of a connection of the driver `better-sqlite3`, whose errors have codes that begin with "SQLITE_". */
export interface SqliteConnection {
  prepare(text: string): { all(...parameters: unknown[]): unknown[] };
  close(): unknown;
}

/** What the import needs of a connected client of the driver `pg`. */
export interface PostgresConnection {
  query(query: {
    readonly text: string;
    readonly values: unknown[];
    readonly types: { readonly getTypeParser: () => (value: unknown) => string };
  }): Promise<{ readonly rows: unknown[] }>;
  end(): Promise<void>;
}

export interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  /** Given: this Unix socket instead of host and port. */
  readonly socketPath: string | undefined;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: {
    readonly mode: "disabled" | "required" | "verify_ca" | "verify_identity";
    readonly rootCertificateFile: string | undefined;
  };
}

/** Attached files in object stores. A service is a name in the source's Active Storage configuration. */
export interface ObjectReader {
  has(service: string): boolean;
  /** At most `bytesMax` bytes. @throws SourceFileError when the object cannot be read. */
  read(service: string, key: string, bytesMax: number): AsyncIterable<Uint8Array>;
}
