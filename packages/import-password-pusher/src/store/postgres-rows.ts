import type { PostgresConnection, PostgresServer } from "../installation.ts";
import { SourceError } from "../source.ts";
import { oneAtATime, type SourceDialect, SourceReadError, type SourceRows } from "./source-rows.ts";

const dialect: SourceDialect = {
  engine: "PostgreSQL",
  quoted: (name) => `"${name}"`,
  // The driver reads times without a zone as local times. The text is the same everywhere.
  asText: (expression) => `(${expression})::text`,
};

const notAllowed = "42501";
/** 08: connection errors; 57P01 to 57P05: the server shuts down or ends the session; 25P03: idle for too long. */
const connectionStates = /^(08|57P0|25P03$)/;
/** Without it, a failed statement ends the transaction and its snapshot. */
const resume = "ROLLBACK TO SAVEPOINT reading";
/** An import may take long between two statements, so the server's time limits are turned off. */
const timeLimits = ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"];

/** One connection and one read-only transaction, whose snapshot all reads share. @throws SourceError. */
export async function openPostgresRows({ server, connect }: PostgresServer): Promise<SourceRows> {
  let connection: PostgresConnection | undefined;
  try {
    connection = await connect();
    await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await connection.query("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY($1)", [timeLimits]);
    await connection.query("SET LOCAL datestyle = 'ISO, YMD'");
    await connection.query("SAVEPOINT reading");
    return rowsOf(connection);
  } catch (error) {
    await connection?.end().catch(() => undefined);
    throw refusalOf(error, server);
  }
}

function rowsOf(connection: PostgresConnection): SourceRows {
  const next = oneAtATime();
  const all: SourceRows["all"] = (statement, parameters = []) =>
    next(async () => {
      const text = statement.split("?").reduce((before, after, number) => `${before}$${number}${after}`);
      try {
        return (await connection.query(text, [...parameters])).rows;
      } catch (error) {
        const state = sqlStateOf(error);
        if (state === "" || connectionStates.test(state)) {
          throw new SourceError(
            `The connection to the source database was lost (${codeOf(error) ?? "CONNECTION_LOST"}): run the import again.`,
            { cause: error },
          );
        }
        await connection.query(resume);
        if (state === notAllowed) {
          throw new SourceError(
            `The user in --database has no permission to read the database (${notAllowed}): ${messageOf(error)}.`,
            {
              cause: error,
            },
          );
        }
        // Class 42: the statement is wrong, so it fails for all rows.
        throw /^42/.test(state) ? error : new SourceReadError(state, error);
      }
    });
  return {
    dialect,
    all,
    async columns(table) {
      // to_regclass uses the search path, as the source does.
      const rows = await all(
        "SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped",
        [table],
      );
      return new Set(rows.map(({ name }) => String(name)));
    },
    close: () => connection.end(),
  };
}

function refusalOf(error: unknown, server: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error) ?? "no answer in time";
  return new SourceError(
    `The PostgreSQL server at ${server} cannot be read (${code}): ${messageOf(error)}. Check --database.`,
    { cause: error },
  );
}

/** SQLSTATE of an error that the server sent; "" for any other. Source: PostgreSQL's manual, appendix A. */
function sqlStateOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? (codeOf(error) ?? "") : "";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "no reason was given";
}
