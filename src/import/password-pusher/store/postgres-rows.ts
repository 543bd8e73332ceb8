import pg from "pg";
import type { PostgresAddress } from "../../../config/database-url.ts";
import { LostConnectionError, sqlState, told } from "../../../database/postgres/failures.ts";
import { tlsOptions } from "../../../database/postgres/pool.ts";
import { SourceError } from "../../source.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type SourceDialect, SourceReadError, type SourceRecord, type SourceRows } from "./source-rows.ts";

const dialect: SourceDialect = {
  engine: "PostgreSQL",
  quoted: (name) => `"${name}"`,
  // The driver reads times without a zone as local ones; the text of a value is the same everywhere.
  asText: (expression) => `(${expression})::text`,
};

const connectMs = 10_000;
const notAllowed = "42501";
/** Undoes the failure of a statement, which otherwise ends the whole snapshot. */
const resume = "ROLLBACK TO SAVEPOINT reading";
/** The importer may take long between two statements; a server's limits on that are for applications. */
const timeLimits = ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"];

/** One connection and one read-only transaction, whose snapshot all reads share. @throws SourceError. */
export async function openPostgresRows(address: PostgresAddress): Promise<SourceRows> {
  const { host, port, user, password, database } = address;
  const client = new pg.Client({
    ...{ host, port, user, password, database },
    application_name: "sealpush import",
    ssl: tlsOptions(address),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
  });
  // The statement that runs tells of a broken connection; unheard, the event would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await client.query("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY($1)", [timeLimits]);
    await client.query("SET LOCAL datestyle = 'ISO, YMD'");
    await client.query("SAVEPOINT reading");
  } catch (error) {
    await client.end().catch(() => undefined);
    throw refusalOf(error, `${host}:${port}`);
  }
  return rowsOf(client);
}

function rowsOf(client: pg.Client): SourceRows {
  const next = oneAtATime();
  const all: SourceRows["all"] = (statement, parameters = []) =>
    next(async () => {
      const text = statement.split("?").reduce((before, after, number) => `${before}$${number}${after}`);
      try {
        return (await client.query<SourceRecord>(text, [...parameters])).rows;
      } catch (error) {
        const meant = told(error);
        if (meant instanceof LostConnectionError) {
          throw new SourceError(`The connection to the source database was lost (${meant.code}): run it again.`, {
            cause: error,
          });
        }
        await client.query(resume);
        if (sqlState(error) === notAllowed) {
          throw new SourceError(
            `The user that --database names may not read all of it (${notAllowed}): ${said(error)}.`,
            {
              cause: error,
            },
          );
        }
        // Class 42: the statement is wrong, which no other row would change.
        throw /^42/.test(sqlState(error)) ? error : new SourceReadError(sqlState(error), error);
      }
    });
  return {
    dialect,
    all,
    async columns(table) {
      // By the search path, as the application finds its tables.
      const rows = await all(
        "SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped",
        [table],
      );
      return new Set(rows.map(({ name }) => String(name)));
    },
    close: () => client.end(),
  };
}

function refusalOf(error: unknown, place: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "no answer in time";
  return new SourceError(
    `The PostgreSQL server at ${place} cannot be read (${code}): ${said(error)}. Check --database.`,
    { cause: error },
  );
}

function said(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "no reason was given";
}
