import type { Transaction } from "../database.ts";
import type { Statement, Value } from "../statement.ts";
import type { CommitSums } from "./commit-sums.ts";
import type { Connection, Statement as Prepared } from "./driver.ts";

/**
 * Statements on one connection, each prepared when it is first used. They run synchronously when called; only their results
 * are promises.
 */
export class SqliteStatements implements Transaction {
  readonly engine = "sqlite";
  readonly #connection: Connection;
  readonly #durable: (() => Promise<void> | undefined) | undefined;
  readonly #sums: CommitSums | undefined;
  readonly #prepared = new Map<unknown, Prepared<unknown[]>>();

  /**
   * @param durable resolves when everything that is committed now is durable. Reads return their rows only then.
   * @param sums receives the numbers of statements that are sums.
   */
  constructor(
    connection: Connection,
    { durable, sums }: { readonly durable?: () => Promise<void> | undefined; readonly sums?: CommitSums } = {},
  ) {
    this.#connection = connection;
    this.#durable = durable;
    this.#sums = sums;
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
    const prepared = this.#prepare<Row>(statement);
    if (!statement.isSum || this.#sums === undefined) return prepared.run(...parameters).changes;
    this.#sums.add(prepared, Number(parameters[0]));
    return 1;
  }

  #prepare<Row>(statement: { readonly sqlite: string }): Prepared<unknown[], Row> {
    const known = this.#prepared.get(statement);
    if (known !== undefined) return known as Prepared<unknown[], Row>;
    const prepared = this.#connection.prepare<unknown[], Row>(statement.sqlite);
    this.#prepared.set(statement, prepared);
    return prepared;
  }
}
