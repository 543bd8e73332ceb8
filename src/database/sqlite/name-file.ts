import { SqliteError } from "./driver.ts";

/** By the beginning of the driver's code. */
const advice: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^SQLITE_(?:CANTOPEN|READONLY|PERM)/, "The user of this process must be able to read and write it and its folder"],
  [/^SQLITE_(?:IOERR|FULL)/, "Check that its disk has free space and works"],
  [/^SQLITE_(?:NOTADB|CORRUPT)/, "Check DATA_DIR or DATABASE_URL, or restore a backup"],
];

/** @throws what `open` throws. The driver's errors name neither the file nor what to do, so both are added to them. */
export function nameFile<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    const found = advice.find(([codes]) => codes.test(error.code));
    throw new SqliteError(`${error.message}: ${path}${found === undefined ? "" : `. ${found[1]}`}`, error.code);
  }
}
