import type { Submittable } from "pg";
import type { Transaction } from "../database.ts";
import { type Statement, sql, type Value } from "../statement.ts";
import { classifyDriverError, LostConnectionError } from "./errors.ts";
import { NamedQuery, type NamedRun, type RunDone } from "./named-query.ts";

const begin: NamedRun = { statement: sql("BEGIN"), values: [] };
const commit: NamedRun = { statement: sql("COMMIT"), values: [] };

/** The used part of the driver's connection. */
export interface Connection {
  query<T extends Submittable>(query: T): T;
  query(query: { text: string; values?: Value[]; name?: string }): Promise<{
    readonly command: string;
    readonly rows: unknown[];
    readonly rowCount: number | null;
  }>;
}

/**
 * Statements on one connection, in one transaction or each in its own.
 * `named`: prepared once per connection; false behind a pooler that gives each transaction another connection.
 */
export class PostgresStatements implements Transaction {
  readonly engine = "postgres";
  readonly #connection: Connection;
  readonly #named: boolean;

  constructor(connection: Connection, named: boolean) {
    this.#connection = connection;
    this.#named = named;
  }

  async one<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined> {
    return (await this.#query(statement, parameters)).rows[0] as Row | undefined;
  }

  async all<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<readonly Row[]> {
    return (await this.#query(statement, parameters)).rows as Row[];
  }

  async run<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<number> {
    return (await this.#query(statement, parameters)).rowCount ?? 0;
  }

  async single(run: NamedRun): Promise<RunDone> {
    return first(await this.together([run]));
  }

  /** Runs named statements in one implicit transaction and one round trip: all or none. @returns the results in their order. */
  async together(runs: readonly NamedRun[]): Promise<readonly RunDone[]> {
    const storableRuns = runs.map(({ statement, values }) => ({ statement, values: values.map(storable) }));
    try {
      return await this.#connection.query(new NamedQuery(storableRuns)).done;
    } catch (error) {
      throw classifyDriverError(error);
    }
  }

  /** The same between BEGIN and COMMIT, so that no compatible server may execute only a part. */
  async inTransaction(runs: readonly NamedRun[]): Promise<readonly RunDone[]> {
    try {
      const [, ...done] = await this.together([begin, ...runs, commit]);
      return done.slice(0, runs.length);
    } catch (error) {
      if (!(error instanceof LostConnectionError)) await rollBack(this.#connection);
      throw error;
    }
  }

  async #query(statement: { readonly postgres: string; readonly name: string }, parameters: readonly Value[]) {
    const values = parameters.map(storable);
    try {
      if (this.#named) return first(await this.#connection.query(new NamedQuery([{ statement, values }])).done);
      return await this.#connection.query({ text: statement.postgres, values });
    } catch (error) {
      throw classifyDriverError(error);
    }
  }
}

/**
 * Rolls the transaction back.
 * @throws LostConnectionError on any failure: a connection that stays in a transaction would fail its next users.
 */
export async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.query({ text: "ROLLBACK" });
  } catch (error) {
    throw new LostConnectionError(error);
  }
}

function first([done]: readonly RunDone[]): RunDone {
  if (done === undefined) throw new Error("The database did not confirm a statement.");
  return done;
}

/**
 * PostgreSQL rejects NUL in text, even in a search. It is replaced by U+FFFD, as a lone surrogate is in UTF-8: the text then
 * matches nothing and causes no error.
 */
function storable(value: Value): Value {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}
