import { setTimeout as sleep } from "node:timers/promises";
import { type AppError, unavailable } from "../../base/errors.ts";
import type { PostgresSettings } from "../../config/config.ts";
import {
  type AutocommitOptions,
  type Database,
  type HotPath,
  type LockName,
  OutcomeUnknownError,
  type ReadConnection,
  type Transaction,
  type WriteConnection,
} from "../database.ts";
import { withinBudget } from "../request-budget.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import { schemaVersions } from "../schema/versions.ts";
import { sql } from "../statement.ts";
import {
  classifyDriverError,
  isTemporaryRefusal,
  LostConnectionError,
  NotConnectedError,
  retryAfterSeconds,
  sqlState,
} from "./errors.ts";
import { createHotStatements } from "./hot-path.ts";
import { migrate } from "./migrate.ts";
import { ConnectionPool } from "./pool.ts";
import { idleInTransactionMsMax, type PooledClient } from "./pooled-client.ts";
import { Retries, type RetryPolicy, retryPolicies } from "./retries.ts";
import { describeStartFailure } from "./server-start.ts";
import { type Connection, PostgresStatements, rollBack } from "./statements.ts";

export interface PostgresOptions {
  readonly settings: PostgresSettings;
  readonly monotonicMs: () => number;
  /** @param code SQLSTATE, or the operating system's code. */
  readonly onStorageFailure: (code: string) => void;
  /** Default: the versions of this program. */
  readonly versions?: readonly SchemaVersion[];
}

/**
 * A write instead of only a lock: if the isolation level would show a transaction the state from before it waited, the server
 * aborts it (40001), and it starts again.
 */
const takeLock = sql<[lock: string]>("UPDATE locks SET name = name WHERE name = ?");
/** Behind a pooler a connection has no settings of its own, a transaction has. */
const beginBehindPooler = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMsMax}`;
const probe = sql<[], { alive: number }>("SELECT 1 AS alive");

type Work<T> = (connection: Connection) => Promise<T>;

/**
 * Also brings the schema up to date.
 * @throws NewerSchemaError, ForeignDatabaseError, or an Error with a sentence for the operator.
 *
 * For PostgreSQL 13 and newer and compatible servers. It uses no session state, advisory locks or notifications, and works at
 * any isolation level. docs/scaling.md lists the statements and features that it needs.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = new ConnectionPool(options.settings, options.onStorageFailure);
  try {
    await migrate(pool, options.versions ?? schemaVersions);
  } catch (error) {
    await pool.close();
    throw describeStartFailure(error, options.settings);
  }
  return new Postgres(pool, options);
}

interface Queue {
  /** Running or waiting. */
  readonly length: number;
  /** Resolves when the last transaction has ended. */
  readonly ended: Promise<void>;
}

/**
 * Queues serialized transactions within the process, so that only one connection of the pool waits for a lock's row, however
 * many transactions need it.
 */
class LockQueues {
  readonly #queues = new Map<LockName, Queue>();

  lengthOf(lock: LockName): number {
    return this.#queues.get(lock)?.length ?? 0;
  }

  /** Runs `transaction` when all earlier ones have succeeded or failed. */
  async run<T>(lock: LockName, transaction: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(lock) ?? { length: 0, ended: Promise.resolve() };
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#queues.set(lock, { length: queue.length + 1, ended });
    try {
      await queue.ended;
      return await transaction();
    } finally {
      end();
      const now = this.#queues.get(lock);
      if (now !== undefined) this.#queues.set(lock, { ...now, length: now.length - 1 });
    }
  }
}

class Postgres implements Database {
  readonly engine = "postgres";
  readonly read: ReadConnection;
  readonly lookUp: ReadConnection;
  readonly hot: HotPath;
  readonly #autocommit: Readonly<Record<AutocommitOptions["retry"], WriteConnection>>;
  readonly #pool: ConnectionPool;
  readonly #options: PostgresOptions;
  readonly #named: boolean;
  readonly #retries: Retries;
  readonly #lockQueues = new LockQueues();
  #closing: Promise<void> | undefined;
  #commits = 0;
  #transactions = 0;

  constructor(pool: ConnectionPool, options: PostgresOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#named = options.settings.preparedStatements;
    this.#retries = new Retries({
      monotonicMs: options.monotonicMs,
      isClosed: () => this.#closing !== undefined,
      pause: sleep,
    });
    this.read = this.#each((work) => this.#alone(work, retryPolicies.read));
    this.lookUp = this.#each((work) => this.#alone(work, retryPolicies.lookUp));
    this.#autocommit = {
      whenNotExecuted: this.#each((work) => this.#counting(this.#alone(work, retryPolicies.whenNotExecuted))),
      idempotent: this.#each((work) => this.#counting(this.#alone(work, retryPolicies.idempotent))),
    };
    this.hot = this.#createHotPath();
  }

  get counts() {
    const { conflicts } = this.#retries;
    return { commits: this.#commits, transactions: this.#transactions, waiting: this.#pool.use().waiting, conflicts };
  }

  poolUse() {
    return this.#pool.use();
  }

  autocommit({ retry }: AutocommitOptions): WriteConnection {
    return this.#autocommit[retry];
  }

  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(work);
  }

  untilKnown<T>(write: (lostAnswer: OutcomeUnknownError | undefined) => Promise<T>): Promise<T> {
    return this.#retries.untilKnown(write);
  }

  async writeSerialized<T>(lock: LockName, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#lockQueues.lengthOf(lock) >= this.#options.settings.waitingMax) throw tooManyWait();
    const transaction = () =>
      this.#transaction(async (tx) => {
        if ((await tx.run(takeLock, lock)) !== 1) throw new Error(`The lock ${lock} has no row.`);
        return await work(tx);
      });
    return await withinBudget(this.#options.monotonicMs, () => this.#lockQueues.run(lock, transaction));
  }

  async answers(): Promise<boolean> {
    try {
      return (await this.#attempt((connection) => this.#on(connection).one(probe))) !== undefined;
    } catch {
      // The reason was reported where the connection failed.
      return false;
    }
  }

  async close(): Promise<void> {
    this.#closing ??= this.#pool.close();
    await this.#closing;
  }

  #on(connection: Connection): PostgresStatements {
    return new PostgresStatements(connection, this.#named);
  }

  /** Passes each statement to `run`, which executes it as a transaction of its own on any connection. */
  #each(run: <T>(work: Work<T>) => Promise<T>): WriteConnection {
    return {
      one: (statement, ...parameters) => run((connection) => this.#on(connection).one(statement, ...parameters)),
      all: (statement, ...parameters) => run((connection) => this.#on(connection).all(statement, ...parameters)),
      run: (statement, ...parameters) => run((connection) => this.#on(connection).run(statement, ...parameters)),
    };
  }

  #createHotPath(): HotPath {
    // A statement name belongs to its connection, which a pooler may give to others between two statements.
    if (!this.#named) {
      const { whenNotExecuted, idempotent } = this.#autocommit;
      return {
        read: this.read.one,
        insert: idempotent.run,
        update: (_row, ...statement) => whenNotExecuted.one(...statement),
      };
    }
    return createHotStatements({
      monotonicMs: this.#options.monotonicMs,
      attempt: (work) => this.#attempt((connection) => work(this.#on(connection))),
      retries: this.#retries,
      onCommit: (transactions) => this.#noteCommit(transactions),
    });
  }

  #noteCommit(transactions: number): void {
    this.#commits += 1;
    this.#transactions += transactions;
  }

  async #counting<T>(written: Promise<T>): Promise<T> {
    const value = await written;
    this.#noteCommit(1);
    return value;
  }

  /**
   * One attempt. @throws OutcomeUnknownError when the connection was lost after it was opened; AppError unavailable; or the
   * driver's error.
   */
  async #attempt<T>(work: Work<T>): Promise<T> {
    const client = await this.#connect();
    return await this.#release(client, work(client)).catch((error: unknown) => {
      if (error instanceof LostConnectionError) {
        this.#options.onStorageFailure(error.code);
        throw new OutcomeUnknownError(error);
      }
      throw this.#refusal(error);
    });
  }

  /** One statement outside a transaction. */
  #alone<T>(work: Work<T>, policy: RetryPolicy): Promise<T> {
    return this.#retries.run(() => this.#attempt(work), policy);
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retries.run(async () => {
      const client = await this.#connect();
      return await this.#release(client, this.#commit(client, work)).catch((error: unknown) => {
        if (!(error instanceof LostConnectionError)) throw this.#refusal(error);
        this.#options.onStorageFailure(error.code);
        // Its client has given up by now, and may have sent the request to another process.
        if (client.gaveUp(error)) throw unavailable("The server stood still during this.", retryAfterSeconds, error);
        // The commit was not sent, so nothing has happened.
        throw new NotConnectedError("connected", error);
      });
    }, retryPolicies.whenNotExecuted);
  }

  async #commit<T>(client: PooledClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
    await command(client, this.#named ? "BEGIN" : beginBehindPooler);
    let value: T;
    try {
      value = await work(this.#on(client));
    } catch (error) {
      if (!(error instanceof LostConnectionError)) await rollBack(client);
      throw error;
    }
    let done: string;
    try {
      done = await command(client, "COMMIT");
    } catch (error) {
      if (!(error instanceof LostConnectionError) || client.gaveUp(error)) throw error;
      this.#options.onStorageFailure(error.code);
      throw new OutcomeUnknownError(error);
    }
    // The work continued after one of its statements had failed, so the server rolled back.
    if (done !== "COMMIT") throw new Error("The work of a transaction ended the transaction itself.");
    this.#noteCommit(1);
    return value;
  }

  async #connect(): Promise<PooledClient> {
    if (this.#closing !== undefined) throw unavailable("The server is shutting down.", retryAfterSeconds);
    if (this.#pool.use().waiting >= this.#options.settings.waitingMax) throw tooManyWait();
    try {
      return await this.#pool.connect();
    } catch (error) {
      const lost = new LostConnectionError(error);
      this.#options.onStorageFailure(lost.code);
      throw new NotConnectedError("connecting", lost);
    }
  }

  /** Returns the connection to the pool when the work is done. Closes one that broke or may still be executing. */
  async #release<T>(client: PooledClient, working: Promise<T>): Promise<T> {
    let broken = true;
    try {
      const value = await working;
      broken = false;
      return value;
    } catch (error) {
      broken = error instanceof LostConnectionError || error instanceof OutcomeUnknownError;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  #refusal(error: unknown): unknown {
    if (!isTemporaryRefusal(error)) return error;
    this.#options.onStorageFailure(sqlState(error));
    return unavailable("The database cannot do this now. Try again shortly.", retryAfterSeconds, error);
  }
}

/**
 * Runs a transaction command. @returns the command that the server reports as executed: a failed transaction answers COMMIT
 * with "ROLLBACK".
 */
async function command(connection: Connection, text: string): Promise<string> {
  try {
    return (await connection.query({ text })).command;
  } catch (error) {
    throw classifyDriverError(error);
  }
}

function tooManyWait(): AppError {
  return unavailable("Too many requests are waiting for the database. Try again shortly.", retryAfterSeconds);
}
