import type { WriteConnection } from "../database.ts";
import type { Statement, Value } from "../statement.ts";
import type { Connection, Statement as Prepared } from "./driver.ts";

/**
 * Statements on one connection, each prepared when it is first used. They run synchronously when called; only their results
 * are promises.
 */
export class SqliteStatements implements WriteConnection {
  readonly #connection: Connection;
  readonly #durable: (() => Promise<void> | undefined) | undefined;
  readonly #prepared = new Map<unknown, Prepared<unknown[]>>();

  /** @param durable resolves when everything that is committed now is durable. Reads return their rows only then. */
  constructor(connection: Connection, durable?: () => Promise<void> | undefined) {
    this.#connection = connection;
    this.#durable = durable;
  }

  async one<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<Row | undefined> {
    const row = this.#prepare<Row>(statement).get(...parameters);
    const syncing = this.#durable?.();
    // Awaiting a plain value would cost each statement of a transaction a microtask.
    if (syncing !== undefined) await syncing;
    return row;
  }

  async all<Parameters extends readonly Value[], Row>(
    statement: Statement<Parameters, Row>,
    ...parameters: Parameters
  ): Promise<readonly Row[]> {
    const rows = this.#prepare<Row>(statement).all(...parameters);
    const syncing = this.#durable?.();
    if (syncing !== undefined) await syncing;
    return rows;
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
