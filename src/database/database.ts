import { AppError } from "../base/errors.ts";
import type { Statement, Value } from "./statement.ts";

/** Reads; each sees what is committed when it runs. */
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
  /** @returns how many rows it changed. */
  run<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<number>;
}

export interface HotUpdate {
  one<Parameters extends readonly Value[], Row>(
    row: number,
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined>;
}

/**
 * A transaction: it sees its own writes, and they all happen or none. It may be run twice and undone, so it awaits
 * nothing but its own statements and leaves nothing behind elsewhere.
 */
export type Transaction = WriteConnection;

/** What somebody else's change takes along: both happen, or neither. It may be called twice, as the transaction may. */
export type InTransaction = (tx: Transaction) => Promise<void>;
export const nothingElse: InTransaction = () => Promise.resolve();

export type Engine = "sqlite" | "postgres";

/** Where the domain keeps its rows. Both engines give the same answers; nothing is acknowledged before it is durable. */
export interface Database {
  readonly engine: Engine;
  /** For what answers a request: it sees what is durable, never a write that is still under way. */
  readonly read: ReadConnection;
  /** The same for the hot path: readings of one row, which may wait a moment to run together. */
  readonly hotRead: Pick<ReadConnection, "one">;
  /** The same for what must be known: whether something has happened whose answer was lost. Outlasts a usual failover. */
  readonly patientRead: Pick<ReadConnection, "one">;
  /** Statements that are transactions of their own, for a write that decides alone: one round trip. */
  readonly autocommit: WriteConnection;
  /** The same for statements that do no more when they run twice: tried again when an answer was lost. */
  readonly idempotent: WriteConnection;
  /**
   * The same for the hot path: rows that are new, which nobody else waits for. Those that arrive together may share a
   * commit.
   */
  readonly hotInsert: Pick<WriteConnection, "run">;
  /**
   * As `autocommit`, for the hot path: a statement that changes one row, with what belongs to it. Those that arrive together
   * may share a commit; then they run in the order of the numbers of their rows, so that none waits for another's lock
   * while that one waits for its own.
   */
  readonly hotUpdate: HotUpdate;
  /**
   * Runs `work` in one transaction. Others may run beside it: a guard belongs into the statement that writes.
   * @throws AppError unavailable, OutcomeUnknownError, or what `work` threw (then nothing of it has happened).
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * As `write`, but transactions of one turn run one after the other over all processes: what such a transaction has read still holds
   * when it writes, as far as others change it in the same turn.
   */
  writeSerialized<T>(turn: LockName, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Since the start: transactions that were committed, in how many commits, and how often one began anew because another was in
   * its way; and how many wait now.
   */
  readonly counts: {
    readonly commits: number;
    readonly units: number;
    readonly conflicts: number;
    readonly waiting: number;
  };
  /**
   * Told inside a transaction that has destroyed a key: where the engine can see to it that no file holds the key's bytes any
   * more, it does so soon afterwards.
   */
  keyDestroyed(): void;
  /** Connections in use; undefined for an engine that has no pool. */
  poolUse(): PoolUse | undefined;
  /** Whether a read comes through now. */
  answers(): Promise<boolean>;
  close(): Promise<void>;
}

/** A database that is only looked at: nothing is made, nothing brought up to date. */
export interface ReadOnlyDatabase {
  readonly read: ReadConnection;
  close(): Promise<void>;
}

/** Rooms whose transactions look before they write. Each is a row that such a transaction locks. */
export const turns = ["accounts", "mail", "keys"] as const;
export type LockName = (typeof turns)[number];

export interface PoolUse {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Requests for a connection. */
  readonly waiting: number;
}

/**
 * The connection was lost after a commit had been sent and before its answer came: it may have happened or not. Who
 * can find out does; everybody else answers 503, and nothing is tried again that could count twice.
 */
export class OutcomeUnknownError extends AppError {
  constructor(cause: unknown) {
    super("unavailable", "The database did not answer whether this was done.", { retryAfterSeconds: 2, cause });
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
