import type { Database as Connection, Statement as Prepared } from "better-sqlite3";
import type { WriteConnection } from "../database.ts";
import type { Statement, Value } from "../statement.ts";

/**
 * Statements on one connection, each prepared when it is first used. They run synchronously when called; only their results
 * are promises.
 */
export class SqliteStatements implements WriteConnection {
  readonly #connection: Connection;
  readonly #prepared = new Map<unknown, Prepared<unknown[]>>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async one<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined> {
    return this.#prepare<Row>(statement).get(...parameters);
  }

  async all<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<readonly Row[]> {
    return this.#prepare<Row>(statement).all(...parameters);
  }

  async run<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<number> {
    return this.#prepare<Row>(statement).run(...parameters).changes;
  }

  #prepare<Row>(statement: { readonly sqlite: string }): Prepared<unknown[], Row> {
    const known = this.#prepared.get(statement);
    if (known !== undefined) return known as Prepared<unknown[], Row>;
    const prepared = this.#connection.prepare<unknown[], Row>(statement.sqlite);
    this.#prepared.set(statement, prepared);
    return prepared;
  }
}
