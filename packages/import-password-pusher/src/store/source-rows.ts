import { readFileSync } from "node:fs";
import type { RowDataPacket, SslOptions } from "mysql2/promise";
import { type DatabaseAddress, SourceError } from "../source.ts";
import { systemReason } from "../system-reason.ts";

/** A value of a column: numbers and texts as the engine returns them, bytes decoded as UTF-8. `cells.ts` reads them. */
export type Cell = string | number | null;
export type SourceRecord = Readonly<Record<string, Cell>>;

type Parameters = readonly (string | number)[];

/** What differs between the three engines. Their drivers return times and large numbers as the engine's own text. */
interface SourceConnection {
  /** A query of the `name` of each column of a table. The table's name is its parameter. */
  readonly columnsQuery: string;
  /** @param statement with `?` for each parameter, and nowhere else. */
  query(statement: string, parameters: Parameters): unknown[] | Promise<unknown[]>;
  /** The error to throw for a failed query: a SourceReadError if other rows may be readable. Any other error ends the import. */
  explain(error: unknown): unknown;
  close(): unknown;
}

export type SourceRows = ReturnType<typeof createSourceRows>;

/** The source's database, read in one snapshot and never written. Statements run one after another, in the order of the calls. */
function createSourceRows(connection: SourceConnection) {
  let last: Promise<unknown> = Promise.resolve();
  async function run(statement: string, parameters: Parameters): Promise<readonly SourceRecord[]> {
    try {
      return (await connection.query(statement, parameters)).map(recordOf);
    } catch (error) {
      throw await connection.explain(error);
    }
  }
  function all(statement: string, parameters: Parameters = []): Promise<readonly SourceRecord[]> {
    const result = last.then(() => run(statement, parameters));
    last = result.catch(() => undefined);
    return result;
  }
  return {
    all,
    /** The names of the columns; empty if the table does not exist. */
    async columns(table: string): Promise<ReadonlySet<string>> {
      return new Set((await all(connection.columnsQuery, [table])).map(({ name }) => String(name)));
    },
    async close() {
      await connection.close();
    },
  };
}

function recordOf(row: unknown): SourceRecord {
  return Object.fromEntries(Object.entries(Object(row)).map(([name, value]) => [name, cellOf(value)]));
}

/** The source stores some texts as blobs, such as password hashes. */
function cellOf(value: unknown): Cell {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  return Buffer.isBuffer(value) ? value.toString("utf8") : String(value);
}

/** The database cannot return some rows: they are damaged, or their text is not valid in its encoding. */
export class SourceReadError extends SourceError {
  /** SQLSTATE, or SQLite's name of the error. */
  readonly damage: string;

  constructor(damage: string, cause: unknown) {
    super(`The source database is damaged (${damage}): repair a copy of it, and import the copy.`, {
      cause,
    });
    this.damage = damage;
  }
}

/** @param otherwise replaces rows that the database cannot read. Their damage is reported for each row later. */
export async function unlessDamaged<T>(
  reading: Promise<T>,
  otherwise: (error: SourceReadError) => T | Promise<T>,
): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (error instanceof SourceReadError) return otherwise(error);
    throw error;
  });
}

type AddressOf<Engine> = Extract<DatabaseAddress, { readonly engine: Engine }>;

/** On a server, all reads share one connection and the snapshot of one read-only transaction. @throws SourceError. */
export async function openRows(address: DatabaseAddress): Promise<SourceRows> {
  switch (address.engine) {
    case "sqlite":
      return createSourceRows(sqliteConnection(await address.connect()));
    case "postgres":
      return createSourceRows(await unlessRefused("PostgreSQL", address.server, connectPostgres(address)));
    case "mysql": {
      const server = address.socketPath ?? `${address.host}:${address.port}`;
      return createSourceRows(await unlessRefused("MySQL", server, connectMysql(address)));
    }
  }
}

async function unlessRefused<T>(engine: string, server: string, connecting: Promise<T>): Promise<T> {
  return await connecting.catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    const reason = systemReason(error) ?? `${messageOf(error)} (${codeOf(error) ?? "no answer"})`;
    throw new SourceError(`The ${engine} server at ${server} cannot be read: ${reason}. Check --database.`, {
      cause: error,
    });
  });
}

/** Errors of a damaged page. Other pages can still be read. */
const damageCodes = /^SQLITE_(CORRUPT|IOERR|TOOBIG)/;

function sqliteConnection(connection: Awaited<ReturnType<AddressOf<"sqlite">["connect"]>>): SourceConnection {
  return {
    columnsQuery: "SELECT name FROM pragma_table_info(?)",
    query: (statement, parameters) => connection.prepare(statement).all(...parameters),
    explain(error) {
      const code = codeOf(error) ?? "";
      return damageCodes.test(code) ? new SourceReadError(code, error) : error;
    },
    close: () => connection.close(),
  };
}

const notAllowed = "42501";
/** 08: connection errors; 57P01 to 57P05: the server shuts down or ends the session; 25P03: idle for too long. */
const connectionStates = /^(08|57P0|25P03$)/;
/** Without it, a failed statement ends the transaction and its snapshot. */
const resume = "ROLLBACK TO SAVEPOINT reading";
/** An import may take long between two statements, so the server's time limits are turned off. */
const timeLimits = ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"];
/** Every value as the server's text: the driver would read times without a zone as local times. */
const types = { getTypeParser: () => String };

async function connectPostgres({ connect }: AddressOf<"postgres">): Promise<SourceConnection> {
  const connection = await connect();
  const run = async (text: string, values: unknown[] = []) => (await connection.query({ text, values, types })).rows;
  try {
    await run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await run("SELECT set_config(name, '0', true) FROM pg_settings WHERE name = ANY($1)", [timeLimits]);
    await run("SET LOCAL datestyle = 'ISO, YMD'");
    await run("SAVEPOINT reading");
  } catch (error) {
    await connection.end().catch(() => undefined);
    throw error;
  }
  return {
    // to_regclass uses the search path, as the source does.
    columnsQuery:
      "SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped",
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
      return damageOf(state, error);
    },
    close: () => connection.end(),
  };
}

/** SQLSTATE of an error that the server sent; "" for any other. Source: PostgreSQL's manual, appendix A. */
function sqlStateOf(error: unknown): string {
  return error instanceof Error && "severity" in error ? (codeOf(error) ?? "") : "";
}

const connectMs = 10_000;
/** Errors of the connection or of a server that shuts down: nothing more can be read. */
const connectionCodes = /^(PROTOCOL_|ECONN|EPIPE|ETIMEDOUT|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED|4031$)/;

async function connectMysql(address: AddressOf<"mysql">): Promise<SourceConnection> {
  const connection = await openMysql(address);
  /** Why the connection was lost. The driver reports it once, and later only that the connection is closed. */
  let connectionError: unknown;
  // The next statement reports it. Without a listener, the event would end the process.
  connection.on("error", (error: unknown) => {
    connectionError ??= error;
  });
  return {
    columnsQuery:
      "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
    query: async (statement, parameters) => (await connection.query<RowDataPacket[]>(statement, [...parameters]))[0],
    explain(error) {
      const isFatal = error instanceof Error && "fatal" in error && error.fatal === true;
      if (isFatal || connectionCodes.test(codeOf(error) ?? "")) connectionError ??= error;
      if (connectionError !== undefined) return connectionLost(connectionError);
      const state = error instanceof Error && "sqlState" in error ? String(error.sqlState) : "";
      return state === "" ? error : damageOf(state, error);
    },
    close: () => connection.end(),
  };
}

async function openMysql({ tls, host, port, socketPath, user, password, database }: AddressOf<"mysql">) {
  const ssl: SslOptions = {
    rejectUnauthorized: tls.mode !== "required",
    verifyIdentity: tls.mode === "verify_identity",
    ...(tls.rootCertificateFile === undefined ? {} : { ca: readFileSync(tls.rootCertificateFile, "utf8") }),
  };
  // Loaded on demand: most installations have another engine.
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection({
    ...(socketPath === undefined ? { host, port } : { socketPath }),
    ...{ user, password, database },
    ...(tls.mode === "disabled" ? {} : { ssl }),
    charset: "utf8mb4",
    connectTimeout: connectMs,
    // Every value as the server's text, so that the driver converts no times, booleans and large numbers.
    typeCast: (field) => field.string("utf8"),
  });
  try {
    await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await connection.query("SET SESSION wait_timeout = 86400, net_write_timeout = 3600");
    await connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Class 42: the statement is wrong, so it fails for all rows. */
function damageOf(state: string, error: unknown): unknown {
  return state.startsWith("42") ? error : new SourceReadError(codeOf(error) ?? state, error);
}

function connectionLost(cause: unknown): SourceError {
  const reason = systemReason(cause) ?? codeOf(cause) ?? "it was closed";
  return new SourceError(`The connection to the source database was lost (${reason}): run the import again.`, {
    cause,
  });
}

/** The code of a driver's error. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && error.code !== undefined ? String(error.code) : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "") : "no reason was given";
}
