/** No other file of the product imports the driver, so that another one can take its place here. */
export { type Database as Connection, default as SqliteDriver, SqliteError, type Statement } from "better-sqlite3";
