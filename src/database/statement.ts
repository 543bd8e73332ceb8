import { hash } from "node:crypto";

/** A parameter of a statement. Times, ids and flags are numbers, sealed values and digests are buffers. */
export type Value = string | number | Buffer | null;

/**
 * A statement as data: each engine prepares it once per connection, when it is first used. Parameters are written `?`
 * and passed in this order. Columns are named as in the statement; `AS camelCase` keeps its capitals.
 */
export interface Statement<Parameters extends readonly Value[], Row> {
  readonly sqlite: string;
  readonly postgres: string;
  /** The name of the prepared statement on PostgreSQL: the same text always has the same name. */
  readonly name: string;
  /** Its only parameter is added to a number: SQLite runs it once for all transactions of a commit, with the sum. */
  readonly isSum: boolean;
  /** Never present: these two carry the types. */
  readonly parameters?: Parameters;
  readonly row?: Row;
}

/** Rows as the drivers return them. There are no booleans: both engines store 0 and 1. */
export type DriverRow<Row = Readonly<Record<string, Value>>> = { readonly [Column in keyof Row]: Value };

/** One text for both engines, or one for each where their SQL differs. */
export type StatementText = string | { readonly sqlite: string; readonly postgres: string };

/** @template Row the returned columns; `never` for statements that return none. */
export function sql<Parameters extends readonly Value[] = [], Row extends DriverRow<Row> = never>(
  text: StatementText,
): Statement<Parameters, Row> {
  const { sqlite, postgres } = typeof text === "string" ? { sqlite: text, postgres: text } : text;
  const translated = toPostgres(postgres);
  return { sqlite, postgres: translated, name: nameOf(translated), isSum: false };
}

/** A statement whose parameters have names, written `:name`, each as often as the statement needs it. */
interface NamedStatement<Given extends Readonly<Record<string, Value>>, Row> {
  readonly statement: Statement<Value[], Row>;
  /** The parameters, in the order of the statement. */
  values(given: Given): Value[];
}

export function namedSql<Given extends Readonly<Record<string, Value>>, Row extends DriverRow<Row> = never>(
  text: string,
): NamedStatement<Given, Row> {
  const names: string[] = [];
  const positional = text.replace(/:([a-z]\w*)/gi, (_, name: string) => {
    names.push(name);
    return "?";
  });
  return {
    statement: sql<Value[], Row>(positional),
    values: (given) =>
      names.map((name) => {
        const value = given[name];
        if (value === undefined) throw new Error(`The statement has no value for :${name}.`);
        return value;
      }),
  };
}

/** See `isSum`. A transaction that runs it does not read what it changes. */
export function sqlOfSum(text: string): Statement<[amount: number], never> {
  return { ...sql<[amount: number]>(text), isSum: true };
}

const quoted = /'(?:[^']|'')*'|"[^"]*"/g;

/** Numbered parameters, and quotes around names with capitals, which PostgreSQL would fold to lower case. */
function toPostgres(text: string): string {
  for (const literal of text.match(quoted) ?? []) {
    if (literal.includes("?"))
      throw new Error(`The text ${literal} contains a question mark, which would be taken for a parameter.`);
  }
  let count = 0;
  return text
    .replaceAll("?", () => {
      count += 1;
      return `$${count}`;
    })
    .replace(/\bAS ([a-z]+[A-Z]\w*)/g, 'AS "$1"');
}

/** 64 bits. The texts are part of this program, so only accidental collisions matter, and those are improbable. */
const nameDigits = 16;

function nameOf(text: string): string {
  return `s${hash("sha256", text).slice(0, nameDigits)}`;
}
