import { readFileSync } from "node:fs";
import { type Connection, createConnection, type RowDataPacket, type SslOptions } from "mysql2/promise";
import type { MysqlAddress } from "../installation.ts";
import { SourceError } from "../source.ts";
import {
  type Cell,
  oneAtATime,
  type SourceDialect,
  SourceReadError,
  type SourceRecord,
  type SourceRows,
} from "./source-rows.ts";

const dialect: SourceDialect = {
  engine: "MySQL",
  quoted: (name) => `\`${name}\``,
  asText: (expression) => expression,
};

const connectMs = 10_000;
/** Errors of the connection or of a server that shuts down: nothing more can be read. */
const connectionCodes = /^(PROTOCOL_|ECONN|EPIPE|ETIMEDOUT|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED|4031$)/;

/** One connection to MySQL or MariaDB and one read-only transaction, whose snapshot all reads share. @throws SourceError. */
export async function openMysqlRows(address: MysqlAddress): Promise<SourceRows> {
  const connection = await connect(address);
  const next = oneAtATime();
  /** Why the connection was lost. The driver reports it once, and later only that the connection is closed. */
  let connectionError: unknown;
  // The next statement reports it. Without a listener, the event would end the process.
  connection.on("error", (error: unknown) => {
    connectionError ??= error;
  });
  const all: SourceRows["all"] = (statement, parameters = []) =>
    next(async () => {
      try {
        const [rows] = await connection.query<RowDataPacket[]>(statement, [...parameters]);
        return rows.map(recordOf);
      } catch (error) {
        if (isConnectionError(error)) connectionError ??= error;
        throw connectionError === undefined ? classify(error) : connectionLost(connectionError);
      }
    });
  return {
    dialect,
    all,
    async columns(table) {
      const rows = await all(
        "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
        [table],
      );
      return new Set(rows.map(({ name }) => String(name)));
    },
    close: () => connection.end(),
  };
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
    if (!(error instanceof Error)) throw error;
    const message = error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "");
    const server = socketPath ?? `${host}:${port}`;
    throw new SourceError(
      `The MySQL server at ${server} cannot be read (${codeOf(error)}): ${message}. Check --database.`,
      { cause: error },
    );
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
  return connectionCodes.test(codeOf(error)) || (error instanceof Error && "fatal" in error && error.fatal === true);
}

function connectionLost(cause: unknown): SourceError {
  return new SourceError(`The connection to the source database was lost (${codeOf(cause)}): run the import again.`, {
    cause,
  });
}

function classify(error: unknown): unknown {
  const code = codeOf(error);
  const state = error instanceof Error && "sqlState" in error ? String(error.sqlState) : "";
  return state === "" || /^42/.test(state) ? error : new SourceReadError(code, error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no answer";
}

function recordOf(row: RowDataPacket): SourceRecord {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cellOf(value)]));
}

function cellOf(value: unknown): Cell {
  return typeof value === "string" || typeof value === "number" || value === null ? value : String(value);
}
