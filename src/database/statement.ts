/** What a statement may be given. Times, ids and flags are numbers, sealed values and digests are buffers. */
export type Value = string | number | Buffer | null;

/**
 * A statement as data: each engine prepares it once per connection, when it is first used. Parameters are written `?`
 * and given in their order; a column reads as it is named, and `AS camelCase` as it is written.
 */
export interface Statement<Parameters extends readonly Value[], Row> {
  readonly sqlite: string;
  readonly postgres: string;
  /** Under which PostgreSQL's connections keep the prepared statement: the same text has the same name everywhere. */
  readonly name: string;
  /** Never there: they carry the types. */
  readonly parameters?: Parameters;
  readonly row?: Row;
}

/** What the drivers return: no booleans, which both engines store as 0 and 1. */
export type DriverRow<Row = Readonly<Record<string, Value>>> = { readonly [Column in keyof Row]: Value };

/** One text for both engines, or one for each where they have no common words. */
export type StatementText = string | { readonly sqlite: string; readonly postgres: string };

/** `Row` is what the columns are read as; `never` for statements that return none. */
export function sql<Parameters extends readonly Value[] = [], Row extends DriverRow<Row> = never>(
  text: StatementText,
): Statement<Parameters, Row> {
  const { sqlite, postgres } = typeof text === "string" ? { sqlite: text, postgres: text } : text;
  const translated = toPostgres(postgres);
  return { sqlite, postgres: translated, name: nameOf(translated) };
}

const quoted = /'(?:[^']|'')*'|"[^"]*"/g;

/** Numbered parameters, and quotes around names with capitals, which PostgreSQL would fold to lower case. */
function toPostgres(text: string): string {
  for (const literal of text.match(quoted) ?? []) {
    if (literal.includes("?")) throw new Error(`A parameter cannot be told from the text ${literal}.`);
  }
  let count = 0;
  return text
    .replaceAll("?", () => {
      count += 1;
      return `$${count}`;
    })
    .replace(/\bAS ([a-z]+[A-Z]\w*)/g, 'AS "$1"');
}

/** FNV-1a, 64 bits: nobody chooses the texts, so that two of them meet is as unlikely as it looks. */
function nameOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
  }
  return `s${hash.toString(36)}`;
}
