import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { unavailable } from "../../base/errors.ts";
import type { PostgresSettings } from "../../config/config.ts";
import { type Database, OutcomeUnknownError, type Reading, type Turn, type Unit, type Writing } from "../database.ts";
import { sql } from "../statement.ts";
import { isConflict, isRefusalForNow, LostConnectionError, NotConnectedError, sqlState, told } from "./failures.ts";
import { migrate } from "./migrate.ts";
import { type ConnectionPool, openPool } from "./pool.ts";
import { type Connection, PostgresStatements } from "./postgres-statements.ts";

export interface PostgresOptions {
  readonly settings: PostgresSettings;
  readonly monotonicMs: () => number;
  /** `code`: SQLSTATE, or the system's. */
  readonly onStorageFailure: (code: string) => void;
}

const retryAfterSeconds = 2;
const triesMax = 3;
/** Each of them means that another transaction has come through. */
const conflictTriesMax = 40;
/** What may be tried again without counting twice is, while a failover takes its usual time. */
const healMsMax = 10_000;
const pauseMsMin = 20;
const pauseMsMax = 500;

const lockTurn = sql<[turn: string], { name: string }>("SELECT name FROM turns WHERE name = ? FOR UPDATE");
const probe = sql<[], { alive: number }>("SELECT 1 AS alive");

/** Milliseconds to go on trying: when no try can have happened, and when one may have: to leave that open is worse. */
interface Patience {
  readonly soon: number;
  readonly later: number;
}

type Work<T> = (connection: Connection) => Promise<T>;

/**
 * PostgreSQL 13 and newer, or what speaks like it. No state in sessions, no advisory locks, no notifications; whatever
 * isolation the server gives is enough. docs/scaling.md lists the statements and features it relies on.
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = openPool(options.settings, options.onStorageFailure);
  try {
    await migrate(pool);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return new Postgres(pool, options);
}

class Postgres implements Database {
  readonly engine = "postgres";
  readonly read: Reading;
  readonly hotRead: Reading;
  readonly patientRead: Reading;
  readonly autocommit: Writing;
  readonly idempotent: Writing;
  readonly #pool: ConnectionPool;
  readonly #options: PostgresOptions;
  readonly #named: boolean;
  #closed = false;
  #commits = 0;

  constructor(pool: ConnectionPool, options: PostgresOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#named = options.settings.preparedStatements;
    this.read = this.#each((work) => this.#untilAnswered(work, { soon: 0, later: 0 }));
    this.patientRead = this.#each((work) => this.#untilAnswered(work, { soon: healMsMax, later: healMsMax }));
    this.hotRead = this.read;
    this.autocommit = this.#each((work) => this.#counting(this.#untilNoConflict(() => this.#attempt(work))));
    this.idempotent = this.#each((work) => this.#counting(this.#untilAnswered(work, { soon: 0, later: healMsMax })));
  }

  get counts() {
    return { commits: this.#commits, units: this.#commits, waiting: this.#pool.use().waiting };
  }

  keyDestroyed(): void {
    // The server reuses the space of what was deleted at its own pace.
  }

  poolUse() {
    return this.#pool.use();
  }

  write<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    return this.#transaction(work);
  }

  writeInTurn<T>(turn: Turn, work: (unit: Unit) => Promise<T>): Promise<T> {
    return this.#transaction(async (unit) => {
      if ((await unit.one(lockTurn, turn)) === undefined) throw new Error(`The turn ${turn} has no row.`);
      return await work(unit);
    });
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
    this.#closed = true;
    await this.#pool.close();
  }

  #on(connection: Connection): PostgresStatements {
    return new PostgresStatements(connection, this.#named);
  }

  /** Every statement runs by `run`, alone on whatever connection. */
  #each(run: <T>(work: Work<T>) => Promise<T>): Writing {
    return {
      one: (statement, ...parameters) => run((connection) => this.#on(connection).one(statement, ...parameters)),
      all: (statement, ...parameters) => run((connection) => this.#on(connection).all(statement, ...parameters)),
      run: (statement, ...parameters) => run((connection) => this.#on(connection).run(statement, ...parameters)),
    };
  }

  async #counting<T>(written: Promise<T>): Promise<T> {
    const value = await written;
    this.#commits += 1;
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

  /** Again when the answer was lost: only for what does the same however often it runs. A few times at least. */
  async #untilAnswered<T>(work: Work<T>, patience: Patience): Promise<T> {
    const startedAt = this.#options.monotonicMs();
    let mayHaveHappened = false;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#untilNoConflict(() => this.#attempt(work));
      } catch (error) {
        mayHaveHappened ||= error instanceof OutcomeUnknownError;
        if (!(error instanceof OutcomeUnknownError || error instanceof NotConnectedError)) throw error;
        const patienceMs = mayHaveHappened ? patience.later : patience.soon;
        const patient = this.#options.monotonicMs() - startedAt < patienceMs;
        if (this.#closed || (tries >= triesMax && !patient)) throw error;
        await pause(tries);
      }
    }
  }

  async #untilNoConflict<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (tries >= conflictTriesMax) throw this.#busy(error);
        await pause(Math.min(tries, 3));
      }
    }
  }

  #transaction<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
    return this.#untilNoConflict(async () => {
      // What was lost before its commit was sent has not happened.
      for (let tries = 1; ; tries += 1) {
        const client = await this.#connect();
        try {
          return await this.#release(client, this.#commit(client, work));
        } catch (error) {
          if (!(error instanceof LostConnectionError)) throw this.#refusal(error);
          this.#options.onStorageFailure(error.code);
          if (tries >= triesMax) throw new NotConnectedError(error);
          await pause(tries);
        }
      }
    });
  }

  async #commit<T>(client: PoolClient, work: (unit: Unit) => Promise<T>): Promise<T> {
    await command(client, "BEGIN");
    let value: T;
    try {
      value = await work(this.#on(client));
    } catch (error) {
      if (!(error instanceof LostConnectionError)) await command(client, "ROLLBACK");
      throw error;
    }
    let done: string;
    try {
      done = await command(client, "COMMIT");
    } catch (error) {
      throw error instanceof LostConnectionError ? new OutcomeUnknownError(error) : error;
    }
    // A unit that went on after one of its statements had failed.
    if (done !== "COMMIT") throw new Error("A unit of writing ended its transaction.");
    this.#commits += 1;
    return value;
  }

  async #connect(): Promise<PoolClient> {
    if (this.#closed) throw unavailable("The server is shutting down.", retryAfterSeconds);
    if (this.#pool.use().waiting >= this.#options.settings.waitingMax) {
      throw unavailable("Too many requests are waiting for the database. Try again shortly.", retryAfterSeconds);
    }
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
    return this.#busy(error);
  }

  #busy(cause: unknown): unknown {
    return unavailable("The database cannot do this now. Try again shortly.", retryAfterSeconds, cause);
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

/** Longer each time, and never the same for two who met. */
async function pause(tries: number): Promise<void> {
  const ms = Math.min(pauseMsMax, pauseMsMin * 2 ** (tries - 1));
  await sleep(ms * (0.5 + Math.random()));
}
