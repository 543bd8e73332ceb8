/** How to reach a PostgreSQL server; what DATABASE_URL and the settings beside it say. */
export interface PostgresSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** "": none. */
  readonly password: string;
  readonly database: string;
  readonly tls: PostgresTls;
  /** Connections of one process. */
  readonly poolMax: number;
  /** Requests that may wait for a connection; beyond it they are refused. */
  readonly waitingMax: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Off behind a pooler that hands every transaction another connection: then nothing is left on one. */
  readonly preparedStatements: boolean;
}

/** As libpq's `sslmode`: `require` encrypts and believes any certificate, `verify-full` also checks the server's name. */
export interface PostgresTls {
  readonly mode: "disable" | "require" | "verify-ca" | "verify-full";
  /** A file of certificate authorities to believe instead of the system's. */
  readonly rootCertificateFile: string | undefined;
}
