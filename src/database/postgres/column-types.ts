import pg from "pg";

/** `bigint` and `numeric`: all of ours are whole numbers far below 2^53. */
const numberTypes: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

/** What makes a value of a column's text. @param type its object id, as the server describes it. */
export function readerOf(type: number, format?: "text" | "binary"): (text: string) => unknown {
  return numberTypes.includes(type) ? Number : pg.types.getTypeParser(type, format);
}
