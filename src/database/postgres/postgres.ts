import type { PoolClient } from "pg";
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
import type { SchemaVersion } from "../schema/both-engines.ts";
import { schemaVersions } from "../schema/versions.ts";
import { sql } from "../statement.ts";
import {
  isRefusalForNow,
  LostConnectionError,
  NotConnectedError,
  retryAfterSeconds,
  sqlState,
  told,
} from "./errors.ts";
import { createHotStatements } from "./hot-path.ts";
import { migrate } from "./migrate.ts";
import { type ConnectionPool, openPool } from "./pool.ts";
import { Retries, type RetryPolicy, retryPolicies } from "./retries.ts";
import { TurnLines } from "./serialized-writes.ts";
import { describeStartFailure } from "./server-start.ts";
import { type Connection, PostgresStatements, rollBack } from "./statements.ts";

export interface PostgresOptions {
  readonly settings: PostgresSettings;
  readonly monotonicMs: () => number;
  /** `code`: SQLSTATE, or the system's. */
  readonly onStorageFailure: (code: string) => void;
  /** Not given: those of this program. */
  readonly versions?: readonly SchemaVersion[];
}

/**
 * A write, not a lock alone: whoever waited for it at an isolation that keeps showing an older state is told so by the
 * server (40001) and begins anew.
 */
const takeTurn = sql<[turn: string]>("UPDATE locks SET name = name WHERE name = ?");
const probe = sql<[], { alive: number }>("SELECT 1 AS alive");

type Work<T> = (connection: Connection) => Promise<T>;

/**
 * Brings the schema up to date as well. @throws NewerSchemaError, or an Error with a sentence for the operator.
 *
 * PostgreSQL 13 and newer, or what speaks like it. No state in sessions, no advisory locks, no notifications; whatever
 * isolation the server gives is enough. docs/scaling.md lists the statements and features it relies on.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = openPool(options.settings, options.onStorageFailure);
  try {
    await migrate(pool, options.versions ?? schemaVersions);
  } catch (error) {
    await pool.close();
    throw describeStartFailure(error, options.settings);
  }
  return new Postgres(pool, options);
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
  readonly #turns = new TurnLines();
  #closing: Promise<void> | undefined;
  #commits = 0;
  #transactions = 0;

  constructor(pool: ConnectionPool, options: PostgresOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#named = options.settings.preparedStatements;
    this.#retries = new Retries({ monotonicMs: options.monotonicMs, isClosed: () => this.#closing !== undefined });
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

  keyDestroyed(): void {
    // The server reuses the space of what was deleted at its own pace.
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

  async writeSerialized<T>(turn: LockName, work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#turns.lengthOf(turn) >= this.#options.settings.waitingMax) throw tooManyWait();
    return await this.#turns.run(turn, () =>
      this.#transaction(async (tx) => {
        if ((await tx.run(takeTurn, turn)) !== 1) throw new Error(`The turn ${turn} has no row.`);
        return await work(tx);
      }),
    );
  }

  async answers(): Promise<boolean> {
    try {
      return (await this.#attempt((connection) => this.#on(connection).one(probe))) !== undefined;
    } catch {
      // Why it does not was told where the connection failed.
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

  /** Every statement runs by `run`, alone on whatever connection. */
  #each(run: <T>(work: Work<T>) => Promise<T>): WriteConnection {
    return {
      one: (statement, ...parameters) => run((connection) => this.#on(connection).one(statement, ...parameters)),
      all: (statement, ...parameters) => run((connection) => this.#on(connection).all(statement, ...parameters)),
      run: (statement, ...parameters) => run((connection) => this.#on(connection).run(statement, ...parameters)),
    };
  }

  #createHotPath(): HotPath {
    // A name lasts as long as its connection, which a pooler may give to others between two statements.
    if (!this.#named) {
      const { whenNotExecuted, idempotent } = this.#autocommit;
      return {
        read: this.read.one,
        insert: idempotent.run,
        update: (_row, ...statement) => whenNotExecuted.one(...statement),
      };
    }
    return createHotStatements({
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

  /** One try. @throws OutcomeUnknownError when the connection was lost under way; AppError unavailable; or the driver's. */
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

  /** One statement, by itself. */
  #alone<T>(work: Work<T>, policy: RetryPolicy): Promise<T> {
    return this.#retries.run(() => this.#attempt(work), policy);
  }

  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retries.run(async () => {
      const client = await this.#connect();
      return await this.#release(client, this.#commit(client, work)).catch((error: unknown) => {
        if (!(error instanceof LostConnectionError)) throw this.#refusal(error);
        this.#options.onStorageFailure(error.code);
        // What was lost before its commit was sent has not happened.
        throw new NotConnectedError(error);
      });
    }, retryPolicies.whenNotExecuted);
  }

  async #commit<T>(client: PoolClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
    await command(client, "BEGIN");
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
      if (!(error instanceof LostConnectionError)) throw error;
      this.#options.onStorageFailure(error.code);
      throw new OutcomeUnknownError(error);
    }
    // A transaction that went on after one of its statements had failed.
    if (done !== "COMMIT") throw new Error("A transaction ended its transaction.");
    this.#noteCommit(1);
    return value;
  }

  async #connect(): Promise<PoolClient> {
    if (this.#closing !== undefined) throw unavailable("The server is shutting down.", retryAfterSeconds);
    if (this.#pool.use().waiting >= this.#options.settings.waitingMax) throw tooManyWait();
    try {
      return await this.#pool.connect();
    } catch (error) {
      const lost = new LostConnectionError(error);
      this.#options.onStorageFailure(lost.code);
      throw new NotConnectedError(lost);
    }
  }

  /** Gives the connection back when the work is done; one that broke, or may still be at work, is closed. */
  async #release<T>(client: PoolClient, working: Promise<T>): Promise<T> {
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
    if (!isRefusalForNow(error)) return error;
    this.#options.onStorageFailure(sqlState(error));
    return unavailable("The database cannot do this now. Try again shortly.", retryAfterSeconds, error);
  }
}

/** Transaction control, which takes no parameters. @returns the server's word for what it did. */
async function command(connection: Connection, text: string): Promise<string> {
  try {
    return (await connection.query({ text })).command;
  } catch (error) {
    throw told(error);
  }
}

function tooManyWait(): AppError {
  return unavailable("Too many requests are waiting for the database. Try again shortly.", retryAfterSeconds);
}
