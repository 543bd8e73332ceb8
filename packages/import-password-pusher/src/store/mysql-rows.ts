import { readFileSync } from "node:fs";
import { type Connection, createConnection, type RowDataPacket, type SslOptions } from "mysql2/promise";
import type { MysqlAddress } from "../installation.ts";
import {
  codeOf,
  connectionLost,
  createSourceRows,
  SourceReadError,
  type SourceRows,
  unreadableServer,
} from "./source-rows.ts";

const connectMs = 10_000;
/** Errors of the connection or of a server that shuts down: nothing more can be read. */
const connectionCodes = /^(PROTOCOL_|ECONN|EPIPE|ETIMEDOUT|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED|4031$)/;

/** One connection to MySQL or MariaDB and one read-only transaction, whose snapshot all reads share. @throws SourceError. */
export async function openMysqlRows(address: MysqlAddress): Promise<SourceRows> {
  const connection = await connect(address);
  /** Why the connection was lost. The driver reports it once, and later only that the connection is closed. */
  let connectionError: unknown;
  // The next statement reports it. Without a listener, the event would end the process.
  connection.on("error", (error: unknown) => {
    connectionError ??= error;
  });
  return createSourceRows({
    columnsQuery:
      "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
    query: async (statement, parameters) => (await connection.query<RowDataPacket[]>(statement, [...parameters]))[0],
    explain(error) {
      if (isConnectionError(error)) connectionError ??= error;
      return connectionError === undefined ? classify(error) : connectionLost(connectionError);
    },
    close: () => connection.end(),
  });
}

async function connect(address: MysqlAddress): Promise<Connection> {
  const { host, port, socketPath, user, password, database } = address;
  let connection: Connection | undefined;
  try {
    const ssl = tlsOptions(address);
    connection = await createConnection({
      ...(socketPath === undefined ? { host, port } : { socketPath }),
      user,
      password,
      database,
      ...(ssl === undefined ? {} : { ssl }),
      charset: "utf8mb4",
      connectTimeout: connectMs,
      // Every value as the server's text, so that the driver converts no times, booleans and large numbers.
      typeCast: (field) => field.string("utf8"),
    });
    await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await connection.query("SET SESSION wait_timeout = 86400, net_write_timeout = 3600");
    await connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    return connection;
  } catch (error) {
    connection?.destroy();
    throw unreadableServer("MySQL", socketPath ?? `${host}:${port}`, error);
  }
}

function tlsOptions({ tls }: MysqlAddress): SslOptions | undefined {
  if (tls.mode === "disabled") return undefined;
  return {
    rejectUnauthorized: tls.mode !== "required",
    verifyIdentity: tls.mode === "verify_identity",
    ...(tls.rootCertificateFile === undefined ? {} : { ca: readFileSync(tls.rootCertificateFile, "utf8") }),
  };
}

function isConnectionError(error: unknown): boolean {
  return (
    connectionCodes.test(codeOf(error) ?? "") || (error instanceof Error && "fatal" in error && error.fatal === true)
  );
}

function classify(error: unknown): unknown {
  const state = error instanceof Error && "sqlState" in error ? String(error.sqlState) : "";
  return state === "" || state.startsWith("42") ? error : new SourceReadError(codeOf(error) ?? state, error);
}
