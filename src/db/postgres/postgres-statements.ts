import type { Submittable } from "pg";
import type { Writing } from "../database.ts";
import type { Statement, Value } from "../statement.ts";
import { told } from "./failures.ts";
import { NamedQuery } from "./named-query.ts";

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
export class PostgresStatements implements Writing {
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

  async #query(statement: { readonly postgres: string; readonly name: string }, parameters: readonly Value[]) {
    const values = parameters.map(storable);
    try {
      if (this.#named) return await this.#connection.query(new NamedQuery(statement, values)).done;
      return await this.#connection.query({ text: statement.postgres, values });
    } catch (error) {
      throw told(error);
    }
  }
}

/**
 * A text cannot hold NUL here, and asking for one is an error: it becomes what a lone surrogate becomes in UTF-8, so
 * that it is found by no one and hurts no one.
 */
function storable(value: Value): Value {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}
