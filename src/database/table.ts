import { type Seal, type SealedColumn, sealedColumn } from "../crypto/sealed-column.ts";
import { type Statement, sql, type Value } from "./statement.ts";

/** How a column is stored. Both engines store booleans as 0 and 1. `HasDefault`: a new row may omit the column. */
export interface Column<Domain, Stored extends Value, HasDefault extends boolean = boolean> {
  decode(stored: Stored): Domain;
  encode(value: Domain): Stored;
  readonly hasDefault: HasDefault;
  readonly defaultValue: Domain | undefined;
  /** The stored value equals the domain's value, so decoding is skipped. */
  readonly isPlain: boolean;
}

function plain<Domain extends Value>(): Column<Domain, Domain, false> {
  const same = (value: Domain) => value;
  return { decode: same, encode: same, hasDefault: false, defaultValue: undefined, isPlain: true };
}

export const integer = plain<number>();
export const text = plain<string>();
export const bytes = plain<Buffer>();

/** A column with its own conversions, for example a list stored as text. */
export function converted<Domain, Stored extends Value>(conversions: {
  decode(stored: Stored): Domain;
  encode(value: Domain): Stored;
}): Column<Domain, Stored, false> {
  const { decode, encode } = conversions;
  return { decode, encode, hasDefault: false, defaultValue: undefined, isPlain: false };
}

export const boolean = converted<boolean, number>({
  decode(stored) {
    if (stored !== 0 && stored !== 1) throw new Error(`A boolean column holds ${stored}.`);
    return stored === 1;
  },
  encode: (value) => (value ? 1 : 0),
});

/** A union of strings, stored as numbers. @throws Error (encode and decode) on values that `numbers` does not list. */
export function oneOf<Name extends string>(numbers: Readonly<Record<Name, number>>): Column<Name, number, false> {
  const entries = Object.entries(numbers) as [Name, number][];
  const encoded = new Map(entries);
  const decoded = new Map(entries.map(([name, stored]) => [stored, name]));
  if (decoded.size !== entries.length) throw new Error("Two names have the same number.");
  return converted<Name, number>({
    decode(stored) {
      const name = decoded.get(stored);
      if (name === undefined) throw new Error(`The database holds the unknown number ${stored}.`);
      return name;
    },
    encode(name) {
      const stored = encoded.get(name);
      if (stored === undefined) throw new Error(`There is no number for ${JSON.stringify(name)}.`);
      return stored;
    },
  });
}

/** A union of strings, stored as they are. @throws Error (decode) on other ones. */
export function oneOfTexts<Name extends string>(names: readonly Name[]): Column<Name, string, false> {
  return converted<Name, string>({
    decode(stored) {
      const name = names.find((known) => known === stored);
      if (name === undefined) throw new Error(`The database holds the unknown text ${stored}.`);
      return name;
    },
    encode: (name) => name,
  });
}

export function nullable<Domain, Stored extends Value>(
  column: Column<Domain, Stored>,
): Column<Domain | null, Stored | null, false> {
  return {
    decode: (stored) => (stored === null ? null : column.decode(stored)),
    encode: (value) => (value === null ? null : column.encode(value)),
    hasDefault: false,
    defaultValue: undefined,
    isPlain: column.isPlain,
  };
}

/** @param value for new rows that omit the column. */
export function withDefault<Domain, Stored extends Value>(
  column: Column<Domain, Stored>,
  value: NoInfer<Domain>,
): Column<Domain, Stored, true> {
  return { ...column, hasDefault: true, defaultValue: value };
}

/** What keeps a writer of the database from gaining anything by changing a column's values. */
export type Protection =
  /**
   * An authenticated encryption: another value, or one of another row, does not open. `seals`: by the names of their uses.
   * `otherwise`: why the values that are not sealed are harmless.
   */
  | { readonly how: "sealed"; readonly seals: Readonly<Record<string, Seal>>; readonly otherwise: string | undefined }
  /** By the MAC of the row, see `AuthenticatedTable`. */
  | { readonly how: "mac" }
  /** In another way: a keyed digest, or the sealed values that are bound to it. */
  | { readonly how: "bound"; readonly reason: string }
  /** Anybody may read and change it. `reason`: what that allows. */
  | { readonly how: "harmless"; readonly reason: string };

interface Protected<P extends Protection> {
  readonly protection: P;
}

/** @param otherwise if some values are not sealed: why those are harmless. */
export function sealed<C extends Column<unknown, Value>, Seals extends Readonly<Record<string, Seal>>>(
  column: C,
  seals: Seals,
  otherwise?: string,
): C & Protected<{ readonly how: "sealed"; readonly seals: Seals; readonly otherwise: string | undefined }> {
  return { ...column, protection: { how: "sealed", seals, otherwise } };
}

/** By the MAC of its row. Only for columns of an `AuthenticatedTable`. */
export function authenticated<C extends Column<unknown, Value>>(column: C): C & Protected<{ readonly how: "mac" }> {
  return { ...column, protection: { how: "mac" } };
}

/** @param reason by what another value would be noticed. */
export function bound<C extends Column<unknown, Value>>(
  column: C,
  reason: string,
): C & Protected<{ readonly how: "bound"; readonly reason: string }> {
  return { ...column, protection: { how: "bound", reason } };
}

/** @param reason what somebody can do who changes it. */
export function harmless<C extends Column<unknown, Value>>(
  column: C,
  reason: string,
): C & Protected<{ readonly how: "harmless"; readonly reason: string }> {
  return { ...column, protection: { how: "harmless", reason } };
}

/** What changing a harmless column allows, for columns that many tables have. */
export const reasons = {
  limit: "limits, counts and times can be changed, which ends or prolongs and opens nothing",
  shown: "only people read it, and nothing depends on it",
  job: "it decides when work is done, and by whom",
} as const;

export type Columns = Readonly<Record<string, Column<unknown, Value>>>;
/** Each column says how it is protected. */
export type TableColumns = Readonly<Record<string, Column<unknown, Value> & Protected<Protection>>>;
interface TableEntry {
  readonly key: string;
  readonly column: Column<unknown, Value>;
}
export type DomainOf<C> = C extends Column<infer Domain, Value> ? Domain : never;
export type StoredOf<C> = C extends { encode(value: never): infer Stored } ? Stored : never;
type DefaultedKey<C> = { [Key in keyof C]: C[Key] extends { readonly hasDefault: true } ? Key : never }[keyof C];

type DomainRow<C> = { readonly [Key in keyof C]: DomainOf<C[Key]> };
type EncodedRow<C> = { readonly [Key in keyof C]: StoredOf<C[Key]> };
type InsertedRow<C> = Omit<DomainRow<C>, DefaultedKey<C>> & Partial<Pick<DomainRow<C>, DefaultedKey<C> & keyof C>>;

type SealsOf<Column> = Column extends { readonly protection: { readonly how: "sealed"; readonly seals: infer Seals } }
  ? Seals
  : never;
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type AllSeals<C> = Intersection<{ [Key in keyof C]: SealsOf<C[Key]> }[keyof C]>;
type SealedColumns<C> = { readonly [Name in keyof AllSeals<C>]: SealedColumn<AllSeals<C>[Name] & Seal> };

/** A row with domain types: camelCase names, real booleans, unions of strings. */
export type RowOf<T> = T extends RowShape<infer C> ? DomainRow<C> : never;
/** A row as the driver returns it for `selectList`. Only `decode` makes a domain row from it. */
export type StoredRowOf<T> = T extends RowShape<infer C> ? EncodedRow<C> : never;
/** A row to insert: columns with a default may be omitted. */
export type NewRowOf<T> = T extends RowShape<infer C> ? InsertedRow<C> : never;
/** The columns whose values are booleans. */
export type BooleanKeyOf<T> = { [Key in keyof RowOf<T>]: RowOf<T>[Key] extends boolean ? Key : never }[keyof RowOf<T>];

/** The columns of a result, which may be computed. `decode` is for the hot path. */
export class RowShape<C extends Columns> {
  readonly keys: readonly (keyof C & string)[];
  protected readonly columns: C;
  readonly #converted: readonly TableEntry[];

  constructor(columns: C) {
    this.keys = Object.keys(columns);
    this.columns = columns;
    this.#converted = Object.entries(columns)
      .map(([key, column]) => ({ key, column }))
      .filter(({ column }) => !column.isPlain);
  }

  /** A select list for joins and computed columns. Its rows are decoded like those of `selectList`. */
  selectExpressions(expressions: Readonly<Record<keyof C, string>>): string {
    return this.keys.map((key) => `${expressions[key]} AS ${key}`).join(", ");
  }

  /** Keeps other properties of the row. @throws Error when a column has a value that it cannot have. */
  decode<Stored extends EncodedRow<C>>(stored: Stored): DomainRow<C> & Omit<Stored, keyof C> {
    const row: Record<string, unknown> = { ...stored };
    for (const { key, column } of this.#converted) row[key] = column.decode(row[key] as Value);
    return row as DomainRow<C> & Omit<Stored, keyof C>;
  }
}

/**
 * A table described once, by the domain names of its columns: `expiresAt` is the column `expires_at`. Lists and statements
 * are built once, together with the description; `decode` and `values` are for the hot path. `src/tables.ts` lists all
 * tables: key rotation, the tests of the schema and the documentation work from what the columns say here.
 */
export class Table<C extends TableColumns> extends RowShape<C> {
  readonly name: string;
  /** Names in the database, in the order of `values`. */
  readonly columnNames: readonly string[];
  /** `expires_at AS expiresAt, ...` for SELECT and RETURNING. */
  readonly selectList: string;
  /** What a key ring seals and opens the values of this table with, by the names of their uses. */
  readonly seals: SealedColumns<C>;
  readonly #entries: readonly TableEntry[];

  constructor(name: string, columns: C) {
    super(columns);
    this.name = name;
    this.columnNames = this.keys.map(columnName);
    this.selectList = this.keys.map(selected).join(", ");
    this.seals = sealedColumnsOf(name, columns) as SealedColumns<C>;
    this.#entries = Object.entries(columns).map(([key, column]) => ({ key, column }));
  }

  /** The same table with some of its columns. */
  pick<Key extends keyof C & string>(...keys: readonly Key[]): Table<Pick<C, Key>> {
    const kept = keys.map((key) => [key, this.columns[key]] as const);
    return new Table(this.name, Object.fromEntries(kept) as Pick<C, Key>);
  }

  omit<Key extends keyof C & string>(...keys: readonly Key[]): Table<Omit<C, Key>> {
    const left = Object.entries(this.columns).filter(([key]) => !keys.some((omitted) => omitted === key));
    return new Table(this.name, Object.fromEntries(left) as Omit<C, Key>);
  }

  /** The columns whose values are booleans, in order. */
  get booleanKeys(): readonly BooleanKeyOf<this>[] {
    const keys = this.keys.filter((key) => this.columns[key]?.decode === boolean.decode);
    return keys as readonly string[] as readonly BooleanKeyOf<this>[];
  }

  /** How each column is protected, by its name in the database. */
  get protections(): readonly (readonly [column: string, protection: Protection])[] {
    return Object.entries(this.columns).map(([key, { protection }]) => [columnName(key), protection]);
  }

  /** A column's conversions, for parameters of conditions. */
  column<Key extends keyof C>(key: Key): C[Key] {
    return this.columns[key];
  }

  /** @param rest the SQL after `FROM table`. */
  select<Parameters extends readonly Value[]>(rest: string): Statement<Parameters, EncodedRow<C>> {
    return sql<Parameters, EncodedRow<C>>(`SELECT ${this.selectList} FROM ${this.name} ${rest}`);
  }

  /** Its parameters are the `values` of each row, one row after another. */
  insert(rest = "", rows = 1): Statement<Value[], never> {
    return sql<Value[]>(`${this.insertText(rows)} ${rest}`);
  }

  /** @param expressions for the values of some columns, with one parameter each, as `insertFrom` takes them. */
  insertText(rows = 1, expressions?: { readonly [Key in keyof C]?: string }): string {
    const placeholders = `(${this.keys.map((key) => expressions?.[key] ?? "?").join(", ")})`;
    return `${this.#insertInto()} VALUES ${Array(rows).fill(placeholders).join(", ")}`;
  }

  /**
   * The text of an INSERT of one row, only if a condition holds. Parameters: the values, then those of the condition.
   * @param expressions as of `insertText`, for SQLite only.
   */
  insertTextIf(condition: string, expressions?: { readonly [Key in keyof C]?: string }) {
    const select = (of: typeof expressions) => `SELECT ${this.keys.map((key) => of?.[key] ?? "?").join(", ")}`;
    const columns = this.columnNames.join(", ");
    return {
      sqlite: `${this.#insertInto()} ${select(expressions)} WHERE ${condition}`,
      // The first part has no rows: it gives the parameters the types of the columns.
      postgres: `${this.#insertInto()} SELECT * FROM
        (SELECT ${columns} FROM ${this.name} WHERE FALSE UNION ALL ${select(undefined)}) AS given WHERE ${condition}`,
    };
  }

  /**
   * The text of an INSERT from the rows of another part of the statement. Parameters are in the order of the columns.
   * @param expressions for the values; an untyped parameter is a text, others need a CAST on PostgreSQL.
   */
  insertFrom(source: string, expressions: Readonly<Record<keyof C, string>>): string {
    return `${this.#insertInto()} SELECT ${this.keys.map((key) => expressions[key]).join(", ")} FROM ${source}`;
  }

  /** In the order of the columns. */
  values(row: InsertedRow<C>): Value[] {
    const given: Readonly<Record<string, unknown>> = row;
    const values: Value[] = [];
    for (const { key, column } of this.#entries) {
      const value = given[key] === undefined ? column.defaultValue : given[key];
      if (value === undefined) throw new Error(`The new row of ${this.name} lacks ${key}.`);
      values.push(column.isPlain ? (value as Value) : column.encode(value));
    }
    return values;
  }

  #insertInto(): string {
    return `INSERT INTO ${this.name} (${this.columnNames.join(", ")})`;
  }
}

function sealedColumnsOf(table: string, columns: TableColumns): Readonly<Record<string, SealedColumn>> {
  const all = Object.entries(columns).flatMap(([key, { protection }]) =>
    protection.how !== "sealed"
      ? []
      : Object.entries(protection.seals).map(
          ([use, seal]) => [use, sealedColumn(table, columnName(key), seal)] as const,
        ),
  );
  return Object.fromEntries(all);
}

/** `expiresAt` is the column `expires_at`. */
export function columnName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function selected(key: string): string {
  const name = columnName(key);
  return name === key ? name : `${name} AS ${key}`;
}
