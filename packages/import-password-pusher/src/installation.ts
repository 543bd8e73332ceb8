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
  | ({ readonly engine: "postgres" } & PostgresServer)
  | ({ readonly engine: "mysql" } & MysqlAddress);

/** What the import needs of a connection of the driver `better-sqlite3`, whose errors have codes that begin with "SQLITE_". */
export interface SqliteConnection {
  prepare(text: string): { all(...parameters: unknown[]): unknown[] };
  close(): unknown;
}

export interface PostgresServer {
  /** Its host and port, for messages. */
  readonly server: string;
  /** Opens a connection for this import alone. @throws the driver's error. */
  readonly connect: () => Promise<PostgresConnection>;
}

/** What the import needs of a connected client of the driver `pg`. */
export interface PostgresConnection {
  query(query: {
    readonly text: string;
    readonly values: unknown[];
    /** Reads each value of the result. */
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
