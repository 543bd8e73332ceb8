import type { AccessKeys } from "../crypto/access-keys.ts";
import type { Transaction, WriteConnection } from "./database.ts";
import { type Statement, sql, type Value } from "./statement.ts";
import {
  bound,
  bytes,
  type Columns,
  columnName,
  type DomainOf,
  type NewRowOf,
  nullable,
  type Protection,
  type StoredOf,
  Table,
  type TableColumns,
} from "./table.ts";

type Alias<Prefix extends string, Key extends string> = `${Prefix}${Capitalize<Key>}`;
type Unopened<C, Prefix extends string, Key extends keyof C & string> = {
  readonly [K in Key as Alias<Prefix, K>]: StoredOf<C[K]>;
} & { readonly [K in Alias<Prefix, "mac">]: Buffer | null };
type Opened<C, Key extends keyof C> = { readonly [K in Key]: DomainOf<C[K]> };

/** A row as the database returned it. Only `open` makes a row from it that may decide anything. */
export type UnopenedRow<R> = R extends Reading<infer C, infer Prefix, infer Key> ? Unopened<C, Prefix, Key> : never;

type Stored = Readonly<Record<string, Value>>;

/** Texts differ from NULL and, within a column, from numbers. */
function partOf(value: Value | undefined): string | Buffer | null {
  if (value === undefined) throw new Error("A deciding column was not read.");
  return typeof value === "number" ? String(value) : value;
}

function aliasOf(prefix: string, key: string): string {
  return `${prefix}${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

/** The columns of an authenticated table that a statement reads: all deciding ones, and others. */
class Reading<C extends Columns, Prefix extends string, Key extends keyof C & string> {
  /** For SELECT, also in joins: names in results begin with the table's prefix. */
  readonly selectList: string;
  readonly #name: string;
  readonly #prefix: Prefix;
  // Built once: these run several times for each request.
  readonly #macAlias: string;
  readonly #decidingAliases: readonly string[];
  readonly #entries: readonly { readonly key: string; readonly alias: string; readonly column: Columns[string] }[];

  constructor(
    name: string,
    prefix: Prefix,
    described: { readonly columns: C; readonly deciding: readonly string[]; readonly keys: readonly Key[] },
  ) {
    const { columns, deciding, keys } = described;
    this.#name = name;
    this.#prefix = prefix;
    this.#macAlias = aliasOf(prefix, "mac");
    this.#decidingAliases = deciding.map((key) => aliasOf(prefix, key));
    const read = new Set<string>(keys);
    this.#entries = Object.entries(columns)
      .filter(([key]) => read.has(key))
      .map(([key, column]) => ({ key, alias: aliasOf(prefix, key), column }));
    this.selectList = [...keys, "mac"].map((key) => `${name}.${columnName(key)} AS ${aliasOf(prefix, key)}`).join(", ");
  }

  /** @returns undefined: there is no row, or this server did not write it. That is reported, and the row counts as absent. */
  open(access: AccessKeys, row: Unopened<C, Prefix, Key> | undefined): Opened<C, Key> | undefined {
    if (row === undefined) return undefined;
    const stored = row as unknown as Stored;
    const mac = stored[this.#macAlias];
    const values = this.#decidingAliases.map((alias) => partOf(stored[alias]));
    if (!access.verifies(Buffer.isBuffer(mac) ? mac : null, this.#name, values)) return undefined;
    const opened: Record<string, unknown> = {};
    for (const { key, alias, column } of this.#entries) opened[key] = column.decode(this.#valueOf(stored, alias));
    return opened as Opened<C, Key>;
  }

  openAll(access: AccessKeys, rows: readonly Unopened<C, Prefix, Key>[]): readonly Opened<C, Key>[] {
    return rows.map((row) => this.open(access, row)).filter((row) => row !== undefined);
  }

  storedIn(row: Unopened<C, Prefix, Key>, key: Key): Value {
    return this.#valueOf(row as unknown as Stored, aliasOf(this.#prefix, key));
  }

  #valueOf(stored: Stored, alias: string): Value {
    const value = stored[alias];
    if (value === undefined) throw new Error(`The value ${alias} of ${this.#name} was not read.`);
    return value;
  }
}

type DecidingKey<C> = {
  [Key in keyof C]: C[Key] extends { readonly protection: { readonly how: "mac" } } ? Key : never;
}[keyof C] &
  string;

/**
 * A table whose rows decide something, such as who has access. Each row carries a MAC over its deciding columns, which are those that
 * are described as `authenticated`, in their order. So a row that a writer of the database inserts, changes or moves counts as absent.
 * The deciding columns are only written here: a row that is written in another way has no valid MAC.
 */
export class AuthenticatedTable<
  C extends TableColumns,
  Prefix extends string,
  Deciding extends keyof C & string = DecidingKey<C> & keyof C,
> {
  readonly name: string;
  readonly deciding: readonly Deciding[];
  /** For the comparison with the schema. */
  readonly columnNames: readonly string[];
  readonly #prefix: Prefix;
  readonly #columns: C;
  readonly #table: Table<C>;
  readonly #withMac: Pick<Table<TableColumns>, "columnNames" | "protections" | "insert">;
  readonly #deciders: Reading<C, Prefix, Deciding>;
  readonly #byId: Statement<[id: number], Stored>;
  readonly #changes = new Map<string, Statement<Value[], never>>();

  /** @param prefix for the names of columns in results, so that those of joined tables differ. */
  constructor(name: string, prefix: Prefix, columns: C) {
    this.name = name;
    const deciding = Object.keys(columns).filter((key) => columns[key]?.protection.how === "mac");
    this.deciding = deciding as readonly string[] as readonly Deciding[];
    this.#prefix = prefix;
    this.#columns = columns;
    this.#table = new Table(name, columns);
    this.#withMac = new Table(name, {
      ...columns,
      mac: bound(nullable(bytes), "without the access secret nobody can make one"),
    });
    this.columnNames = this.#withMac.columnNames;
    this.#deciders = this.reading();
    this.#byId = sql<[id: number], Stored>(`SELECT ${this.#deciders.selectList} FROM ${name} WHERE id = ?`);
  }

  /** See `Table`. */
  get seals(): Table<C>["seals"] {
    return this.#table.seals;
  }

  /** See `Table`. */
  get protections(): readonly (readonly [column: string, protection: Protection])[] {
    return this.#withMac.protections;
  }

  /** For lists that decide nothing. */
  unverified<Key extends keyof C & string>(...keys: readonly Key[]): Table<Pick<C, Key>> {
    return this.#table.pick(...keys);
  }

  /** A column's conversions, for parameters of conditions. */
  column<Key extends keyof C>(key: Key): C[Key] {
    return this.#columns[key];
  }

  /** The deciding columns and the given others, which decide nothing. */
  reading<Key extends keyof C & string = never>(...others: readonly Key[]): Reading<C, Prefix, Deciding | Key> {
    return new Reading(this.name, this.#prefix, {
      columns: this.#columns,
      deciding: this.deciding,
      keys: [...this.deciding, ...others],
    });
  }

  /** @param rest of the statement, after the values. @returns inserts a row with its MAC. */
  insertion(rest = ""): (tx: WriteConnection, access: AccessKeys, row: NewRowOf<Table<C>>) => Promise<number> {
    const statement = this.#withMac.insert(rest);
    const positions = this.deciding.map((key) => this.#table.keys.indexOf(key));
    return (tx, access, row) => {
      const values = this.#table.values(row);
      const mac = access.mac(
        this.name,
        positions.map((position) => partOf(values[position])),
      );
      return tx.run(statement, ...values, mac);
    };
  }

  /** For a statement that changes the row under a condition. @param row the deciding columns as they will be. */
  mac(access: AccessKeys, row: Opened<C, Deciding>): Buffer {
    return access.mac(
      this.name,
      this.deciding.map((key) => partOf(this.#columns[key]?.encode(row[key]))),
    );
  }

  /**
   * Changes columns of the row with this id, and its MAC. Requires the accounts lock.
   * @returns false: there is no such row, or this server did not write it.
   */
  async change(
    tx: Transaction,
    access: AccessKeys,
    id: number,
    changes: Partial<Opened<C, keyof C>>,
  ): Promise<boolean> {
    const found = await tx.one(this.#byId, id);
    if (found === undefined) return false;
    const row = found as unknown as Unopened<C, Prefix, Deciding>;
    if (this.#deciders.open(access, row) === undefined) return false;
    const keys = this.#table.keys.filter((key) => changes[key] !== undefined);
    const encoded = new Map<string, Value>(keys.map((key) => [key, this.#columns[key]?.encode(changes[key]) ?? null]));
    const deciding = this.deciding.map((key) =>
      partOf(encoded.has(key) ? encoded.get(key) : this.#deciders.storedIn(row, key)),
    );
    await tx.run(this.#change(keys), ...encoded.values(), access.mac(this.name, deciding), id);
    return true;
  }

  /**
   * Replaces the MACs of all rows that this server wrote. @param keys deciding columns with an index, which find a row together with its MAC.
   * @returns how many.
   */
  async renew(tx: Transaction, from: AccessKeys, to: AccessKeys, ...keys: readonly Deciding[]): Promise<number> {
    const all = sql<[], Stored>(`SELECT ${this.#deciders.selectList} FROM ${this.name}`);
    const found = keys.map((key) => `${columnName(key)} = ?`).join(" AND ");
    const replace = sql<Value[]>(`UPDATE ${this.name} SET mac = ? WHERE ${found} AND mac = ?`);
    let renewed = 0;
    for (const stored of await tx.all(all)) {
      const row = stored as unknown as Unopened<C, Prefix, Deciding>;
      if (this.#deciders.open(from, row) === undefined) continue;
      const deciding = this.deciding.map((each) => partOf(this.#deciders.storedIn(row, each)));
      const mac = stored[aliasOf(this.#prefix, "mac")] ?? null;
      const place = keys.map((key) => this.#deciders.storedIn(row, key));
      renewed += await tx.run(replace, to.mac(this.name, deciding), ...place, mac);
    }
    return renewed;
  }

  #change(keys: readonly string[]): Statement<Value[], never> {
    const known = this.#changes.get(keys.join());
    if (known !== undefined) return known;
    const assignments = [...keys, "mac"].map((key) => `${columnName(key)} = ?`).join(", ");
    const statement = sql<Value[]>(`UPDATE ${this.name} SET ${assignments} WHERE id = ?`);
    this.#changes.set(keys.join(), statement);
    return statement;
  }
}
