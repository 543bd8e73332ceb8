import type { Submittable } from "pg";
import type { WriteConnection } from "../database.ts";
import { type Statement, sql, type Value } from "../statement.ts";
import { LostConnectionError, told } from "./errors.ts";
import { NamedQuery, type NamedRun, type RunDone } from "./named-query.ts";

const begin: NamedRun = { statement: sql("BEGIN"), values: [] };
const commit: NamedRun = { statement: sql("COMMIT"), values: [] };

/** What is needed of a connection of the driver's. */
export interface Connection {
  query<T extends Submittable>(query: T): T;
  query(query: { text: string; values?: Value[]; name?: string }): Promise<{
    readonly command: string;
    readonly rows: unknown[];
    readonly rowCount: number | null;
  }>;
}

/**
 * Statements on one connection, in one transaction or each in its own. `named`: prepared once per connection; off where a
 * pooler hands every transaction another one.
 */
export class PostgresStatements implements WriteConnection {
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

  async alone(run: NamedRun): Promise<RunDone> {
    return first(await this.together([run]));
  }

  /** Named statements in one transaction and one round trip: all of them, or none. @returns in their order. */
  async together(runs: readonly NamedRun[]): Promise<readonly RunDone[]> {
    const storableRuns = runs.map(({ statement, values }) => ({ statement, values: values.map(storable) }));
    try {
      return await this.#connection.query(new NamedQuery(storableRuns)).done;
    } catch (error) {
      throw told(error);
    }
  }

  /** The same, as a transaction that begins and commits, for what must not be done in part by any server. */
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
      throw told(error);
    }
  }
}

/**
 * Undoes what has begun. @throws LostConnectionError whatever kept it from that: a connection that stays inside a transaction
 * would fail all who get it after this.
 */
export async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.query({ text: "ROLLBACK" });
  } catch (error) {
    throw new LostConnectionError(error);
  }
}

function first([done]: readonly RunDone[]): RunDone {
  if (done === undefined) throw new Error("The database did not say that a statement is done.");
  return done;
}

/**
 * A text cannot hold NUL here, and asking for one is an error: it becomes what a lone surrogate becomes in UTF-8, so
 * that it is found by no one and hurts no one.
 */
function storable(value: Value): Value {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}
