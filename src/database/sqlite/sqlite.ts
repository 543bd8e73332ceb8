import { closeSync, existsSync, openSync } from "node:fs";
import type { Database, Transaction, WriteConnection } from "../database.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import { schemaVersions } from "../schema/versions.ts";
import type { Checkpoint } from "./checkpoint-thread.ts";
import { CommitSums } from "./commit-sums.ts";
import { type Connection, SqliteDriver, SqliteError } from "./driver.ts";
import { GroupCommit, type GroupCommitLimits } from "./group-commit.ts";
import { HotReads } from "./hot-reads.ts";
import { LogSync, type SyncFile } from "./log-sync.ts";
import { CheckpointThread, LogTruncation } from "./log-truncation.ts";
import { migrate } from "./migrate.ts";
import { nameFile } from "./name-file.ts";
import { SqliteStatements } from "./statements.ts";

export type { Connection } from "./driver.ts";

/** The database with its two connections, for synchronous prepared statements. */
export interface SqliteDatabase extends Database {
  readonly engine: "sqlite";
  /** For reads of committed rows, durable or not. The writer would see its own uncommitted batch. */
  readonly reader: Connection;
  /** Only to prepare statements, which run inside `write`. */
  readonly writer: Connection;
  /** Runs `work` in a durable transaction whose commit others may share; see GroupCommit. Synchronous work is cheaper. */
  write<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T>;
  /**
   * Copies the write-ahead log into the database and truncates it, so that no file contains overwritten keys.
   * @returns false when a reader or writer held the log: try again.
   */
  truncateLog(): boolean;
}

export interface SqliteOptions {
  readonly path: string;
  readonly monotonicMs: () => number;
  readonly onStorageFailure: (code: string) => void;
  /** The write-ahead log could not be truncated; truncation is retried. */
  readonly onTruncationFailed: (error: unknown) => void;
  readonly limits?: GroupCommitLimits;
  /** Syncs the write-ahead log. Default: `fdatasync` in the thread pool. */
  readonly syncLog?: SyncFile;
  /** Default: the versions of this program. */
  readonly versions?: readonly SchemaVersion[];
}

export const groupCommitLimits: GroupCommitLimits = {
  batchMax: 256,
  waitingMax: 20_000,
  lockWaitMsMax: 10_000,
};

const startLockWaitMs = 15_000;
const startRetryMs = 5;
/**
 * The writer also does the reads of the hot path. The reader's cache is empty after each commit of the writer: it only has to
 * hold the pages of one statement.
 */
const cacheKibibytes = { writer: 16 * 1024, reader: 2 * 1024 };
/** 256 MiB of log. Then a commit copies it into the database, because its thread cannot keep up. */
const checkpointPagesMax = 64_000;

/**
 * Opens or creates the database and brings its schema up to date. @throws NewerSchemaError, ForeignDatabaseError, or the
 * driver's errors.
 */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  makePrivateFile(options.path);
  const { writer, reader } = nameFile(options.path, () =>
    openConnections(options.path, options.versions ?? schemaVersions),
  );
  const log = new LogSync(`${options.path}-wal`, () => truncation.request(), options.syncLog);
  const truncate = writer.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
  const truncateLog = () => !log.hasFailed && truncate.get()?.busy === 0;
  const thread = new CheckpointThread(options.path);
  const runInBackground = (checkpoint: Checkpoint) => !log.hasFailed && thread.run(checkpoint);
  const truncation = new LogTruncation(runInBackground, truncateLog, options.onTruncationFailed);
  const sums = new CommitSums();
  const commits = new GroupCommit(writer, log, options.limits ?? groupCommitLimits, { ...options, sums });
  const hotReads = new HotReads(writer, reader);
  const probe = reader.prepare("PRAGMA user_version");
  const tx = new SqliteStatements(writer, { sums });
  const write = <T>(work: (tx: Transaction) => T | Promise<T>) => commits.write(() => work(tx));
  const read = new SqliteStatements(reader, { durable: () => log.durable() });
  const autocommit: WriteConnection = {
    one: (statement, ...parameters) => write(() => tx.one(statement, ...parameters)),
    all: (statement, ...parameters) => write(() => tx.all(statement, ...parameters)),
    run: (statement, ...parameters) => write(() => tx.run(statement, ...parameters)),
  };
  return {
    engine: "sqlite",
    reader,
    writer,
    write,
    read,
    lookUp: read,
    // The database is a local file, so no answer is lost.
    autocommit: () => autocommit,
    untilKnown: (write) => write(undefined),
    // All transactions run one after another.
    writeSerialized: (_lock, work) => write(work),
    hot: {
      read: (statement, ...parameters) => hotReads.one(statement, ...parameters),
      insert: autocommit.run,
      update: (_row, statement, ...parameters) => autocommit.one(statement, ...parameters),
    },
    poolUse: () => undefined,
    get counts() {
      // All transactions run one after another.
      return { ...commits.counts, conflicts: 0 };
    },
    truncateLog,
    answers: async () => probe.get() !== undefined,
    async close() {
      await commits.close();
      hotReads.close();
      await truncation.close();
      await thread.close();
      log.close();
      // Closing the last connection copies the log into the database. After a failed sync nobody knows what the log has.
      if (log.hasFailed) return;
      reader.close();
      writer.close();
    },
  };
}

/** SQLite would create a world-readable file. The log and its index get the file's mode. */
function makePrivateFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

function openConnections(path: string, versions: readonly SchemaVersion[]): { writer: Connection; reader: Connection } {
  const writer = openConnection(path, "writer");
  try {
    migrate(writer, versions);
    writer.pragma("busy_timeout = 0");
    return { writer, reader: openConnection(path, "reader") };
  } catch (error) {
    writer.close();
    throw error;
  }
}

function openConnection(path: string, role: "reader" | "writer"): Connection {
  const connection = new SqliteDriver(path, { timeout: startLockWaitMs });
  try {
    configure(connection, role);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function configure(connection: Connection, role: "reader" | "writer"): void {
  useWriteAheadLog(connection);
  connection.pragma("synchronous = NORMAL");
  connection.pragma("secure_delete = ON");
  connection.pragma("foreign_keys = ON");
  connection.pragma("temp_store = MEMORY");
  connection.pragma(`cache_size = -${cacheKibibytes[role]}`);
  connection.pragma(`wal_autocheckpoint = ${checkpointPagesMax}`);
  if (role === "reader") connection.pragma("query_only = ON");
}

/**
 * The switch to WAL fails immediately while other processes create the same database, whatever the timeout. Blocking here is
 * fine: nothing is served yet.
 */
function useWriteAheadLog(connection: Connection): void {
  for (let waitedMs = 0; ; waitedMs += startRetryMs) {
    try {
      const mode = connection.pragma("journal_mode = WAL", { simple: true });
      if (mode === "wal") return;
      throw new Error(
        `The database cannot use a write-ahead log in its folder (its journal mode is "${String(mode)}").`,
      );
    } catch (error) {
      const busy = error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!busy || waitedMs >= startLockWaitMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, startRetryMs);
    }
  }
}
