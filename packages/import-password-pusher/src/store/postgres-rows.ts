import type { PostgresConnection, PostgresServer } from "../installation.ts";
import { SourceError } from "../source.ts";
import {
  codeOf,
  connectionLost,
  createSourceRows,
  messageOf,
  SourceReadError,
  type SourceRows,
  unreadableServer,
} from "./source-rows.ts";

const notAllowed = "42501";
/** 08: connection errors; 57P01 to 57P05: the server shuts down or ends the session; 25P03: idle for too long. */
const connectionStates = /^(08|57P0|25P03$)/;
/** Without it, a failed statement ends the transaction and its snapshot. */
const resume = "ROLLBACK TO SAVEPOINT reading";
/** An import may take long between two statements, so the server's time limits are turned off. */
const timeLimits = ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"];
/** Every value as the server's text: the driver would read times without a zone as local times. */
const types = { getTypeParser: () => String };
/** to_regclass uses the search path, as the source does. */
const columnsQuery =
  "SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped";

/** One connection and one read-only transaction, whose snapshot all reads share. @throws SourceError. */
export async function openPostgresRows({ server, connect }: PostgresServer): Promise<SourceRows> {
  let connection: PostgresConnection | undefined;
  const run = async (text: string, values: unknown[] = []) =>
    (await connection?.query({ text, values, types }))?.rows ?? [];
  try {
    connection = await connect();
    await run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await run("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY($1)", [timeLimits]);
    await run("SET LOCAL datestyle = 'ISO, YMD'");
    await run("SAVEPOINT reading");
  } catch (error) {
    await connection?.end().catch(() => undefined);
    throw unreadableServer("PostgreSQL", server, error);
  }
  return createSourceRows({
    columnsQuery,
    query: (statement, parameters) =>
      run(
        statement.split("?").reduce((before, after, number) => `${before}$${number}${after}`),
        [...parameters],
      ),
    async explain(error) {
      const state = sqlStateOf(error);
      if (state === "" || connectionStates.test(state)) return connectionLost(error);
      await run(resume);
      if (state === notAllowed) {
        const reason = `The user in --database has no permission to read the database (${notAllowed}): ${messageOf(error)}.`;
        return new SourceError(reason, { cause: error });
      }
      // Class 42: the statement is wrong, so it fails for all rows.
      return state.startsWith("42") ? error : new SourceReadError(state, error);
    },
    close: () => connection.end(),
  });
}

/** SQLSTATE of an error that the server sent; "" for any other. Source: PostgreSQL's manual, appendix A. */
function sqlStateOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? (codeOf(error) ?? "") : "";
}
