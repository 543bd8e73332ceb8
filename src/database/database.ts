import { AppError } from "../base/errors.ts";
import type { Statement, Value } from "./statement.ts";

/** Reads. Each sees what is committed when it runs. */
export interface ReadConnection {
  one<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined>;
  all<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<readonly Row[]>;
}

/** Reads and writes. */
export interface WriteConnection extends ReadConnection {
  /** @returns the number of changed rows. */
  run<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<number>;
}

/**
 * A transaction sees its own writes; either all of them happen or none. It may be undone and run again, so its work awaits
 * only its own statements and has no other side effects.
 */
export interface Transaction extends WriteConnection {
  readonly engine: Engine;
}

/** Work that a store runs in the same transaction as its own change. It may be called twice, as the transaction may. */
export type InTransaction = (tx: Transaction) => Promise<void>;
export const nothingElse: InTransaction = () => Promise.resolve();

export type Engine = "sqlite" | "postgres";

export interface Capabilities {
  /** Several processes may write to one database, so what they count together is counted in it. */
  readonly manyProcesses: boolean;
  /** The table `totals` exists, and each write keeps it up to date. */
  readonly storedTotals: boolean;
  /** How a row secret gets its id: the next one, in an order that never reuses space, or that of its push. */
  readonly rowSecretId: "appended" | "push";
  /** The payload of a push that a claim has ended may be removed later, together with others: that changes fewer pages. */
  readonly payloadsStay: boolean;
}

/** Code outside this folder that depends on the engine uses these. A new engine must define all of them. */
export const capabilitiesOf: Readonly<Record<Engine, Capabilities>> = {
  sqlite: { manyProcesses: false, storedTotals: true, rowSecretId: "appended", payloadsStay: true },
  postgres: { manyProcesses: true, storedTotals: false, rowSecretId: "push", payloadsStay: false },
};

export interface AutocommitOptions {
  /**
   * When the connection is lost, a statement is run again
   * - "whenNotExecuted": only if it cannot have been executed. If its answer was lost: OutcomeUnknownError.
   * - "idempotent": also if its answer was lost, for as long as a failover usually takes. Only for statements that change
   *   nothing more when they run twice.
   */
  readonly retry: "whenNotExecuted" | "idempotent";
}

/**
 * Single statements of the busiest requests. Those that arrive together may share a round trip, a read transaction or a
 * commit.
 */
export interface HotPath {
  /**
   * Reads one row; retried as `Database.read`. What it sees is committed, but may not be durable yet: an answer needs a write
   * or another read first, unless it would be the same without what was seen.
   */
  read<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined>;
  /**
   * Inserts new rows that no other transaction waits for. Retried as "idempotent".
   * @returns the number of rows.
   */
  insert<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<number>;
  /**
   * Changes one row and what belongs to it. Retried as "whenNotExecuted".
   * @param row its id: updates that share a commit run in this order, so that no two commits wait for each other's locks.
   */
  update<Parameters extends readonly Value[], Row>(
    row: number,
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined>;
}

/**
 * Where the domain keeps its rows. Both engines give the same answers; nothing is acknowledged before it is durable. What is
 * overwritten is gone from all files of SQLite about a second later. PostgreSQL reuses the space on its own schedule.
 */
export interface Database {
  readonly engine: Engine;
  /** Sees what is durable, never a write that is still in progress. Retried a few times when the connection is lost. */
  readonly read: ReadConnection;
  /**
   * Reads whether a write whose answer was lost has happened (OutcomeUnknownError). Retried for as long as a failover
   * usually takes.
   */
  readonly lookUp: Pick<ReadConnection, "one">;
  /** Single statements, each a transaction of its own: one round trip. */
  autocommit(options: AutocommitOptions): WriteConnection;
  /**
   * Runs `work` in one transaction. Others may run concurrently: a guard belongs in the statement that writes.
   * @throws AppError unavailable, OutcomeUnknownError, or what `work` threw (then nothing has changed).
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * As `write`, but transactions under one lock run one after the other over all processes. What such a transaction has read
   * still holds when it writes, provided that others change it under the same lock only.
   */
  writeSerialized<T>(lock: LockName, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs a write that notices that it has already happened and then changes nothing. If its answer is lost, it runs again, with
   * growing pauses, until it is known whether it happened, for as long as a failover usually takes.
   * @param write gets the first lost answer.
   * @throws OutcomeUnknownError when it is not known in time; otherwise what `write` threw.
   */
  untilKnown<T>(write: (lostAnswer: OutcomeUnknownError | undefined) => Promise<T>): Promise<T>;
  readonly hot: HotPath;
  /**
   * Since the start: committed transactions, the commits that they shared, and restarts after conflicts. `waiting`: how many
   * wait now.
   */
  readonly counts: {
    readonly commits: number;
    readonly transactions: number;
    readonly conflicts: number;
    readonly waiting: number;
  };
  /** Connections in use; undefined for an engine that has no pool. */
  poolUse(): PoolUse | undefined;
  /** Whether a read succeeds now. */
  answers(): Promise<boolean>;
  close(): Promise<void>;
}

/** A database that is opened without creating or changing anything. */
export interface ReadOnlyDatabase {
  readonly read: ReadConnection;
  close(): Promise<void>;
}

/** Locks of serialized transactions. */
export type LockName = "accounts" | "mail" | "keys" | "uploads" | "requests";

export interface PoolUse {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Requests for a connection, beyond those for which one will be opened. */
  readonly waiting: number;
}

/**
 * The connection was lost after a commit was sent and before its answer came: the write may have happened or not. Callers
 * that can look it up do so (`lookUp`, `untilKnown`); all others answer 503. Nothing that could count twice is retried.
 */
export class OutcomeUnknownError extends AppError {
  constructor(cause: unknown) {
    super("unavailable", "The database did not confirm whether this was done.", { retryAfterSeconds: 2, cause });
    this.name = "OutcomeUnknownError";
  }
}

/** A newer version of this program created the schema. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";

  constructor(version: number, newestKnown: number) {
    super(`The database has schema version ${version}, this program knows ${newestKnown}: start a newer version.`);
  }
}

/** The database holds the tables of another program. */
export class ForeignDatabaseError extends Error {
  static readonly sentence =
    "The database that DATABASE_URL names holds the tables of another program: give this server its own database. If it is " +
    "that of a Password Pusher in whose place this server runs, set SEALPUSH_MOVE_IN=yes to import its data before the " +
    "start, or SEALPUSH_MOVE_IN=no to start empty. Beside a Password Pusher, run `sealpush import password-pusher`. " +
    "While SEALPUSH_MOVE_IN is set, it is SEALPUSH_DATABASE_URL that names it.";
  override readonly name = "ForeignDatabaseError";

  constructor() {
    super(ForeignDatabaseError.sentence);
  }
}

/** Rails keeps its schema versions in this table, so every Password Pusher has it. No version of our schema does. */
export const foreignTable = "schema_migrations";
