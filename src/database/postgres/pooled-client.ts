import { Socket } from "node:net";
import pg, { type ClientConfig } from "pg";
import type { PostgresSettings } from "../../config/config.ts";
import type { PostgresAddress, PostgresHost } from "../../config/database-url.ts";
import { connect } from "./connect.ts";
import { idleInTransaction, type LostConnectionError, sqlState } from "./errors.ts";
import { readerOf } from "./named-query.ts";

/** The system probes a connection without traffic, so that routers do not forget it and a dead one is noticed. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
const readerConnectMs = 10_000;

/**
 * The server ends a transaction, and gives up its locks, when it has waited for its process for this long: less than others wait
 * for a lock. The process may be suspended; the work of a transaction awaits nothing but its own statements.
 */
export const idleInTransactionMsMax = 3_000;

type OnReleased = (client: PooledClient, broken: boolean) => void;

/** A connection of the pool. One user at a time leases it and releases it. */
export class PooledClient extends pg.Client {
  readonly address: PostgresHost;
  /** The server's number of the process behind this connection; undefined behind a pooler. */
  backend: number | undefined;
  readonly #socket: Socket;
  readonly #onReleased: OnReleased;
  readonly #openedAt = performance.now();
  #idleSince = this.#openedAt;
  #isLeased = false;
  /** The first error that came while no statement was running; it has closed the connection. */
  #failure: unknown;
  /** The bytes that were sent when the last answer was complete. */
  #answered = 0;
  #readAtTick = 0;
  #silentTicks = 0;

  constructor(config: ClientConfig, address: PostgresHost, onReleased: OnReleased) {
    const socket = new Socket();
    super({ ...config, ...address, stream: () => socket });
    this.address = address;
    this.#socket = socket;
    this.#onReleased = onReleased;
    // A connection that breaks in use fails its statement, which reports it; without a listener, its own error event would
    // end the process.
    this.on("error", (error) => {
      this.#failure ??= error;
    });
    this.on("drain", () => {
      this.#answered = socket.bytesWritten;
    });
  }

  get isLeased(): boolean {
    return this.#isLeased;
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  get idleMs(): number {
    return this.#isLeased ? 0 : performance.now() - this.#idleSince;
  }

  /** Whether the server has ended a transaction because it waited for this process for too long. */
  gaveUp(error: LostConnectionError): boolean {
    return [error.code, sqlState(this.#failure)].includes(idleInTransaction);
  }

  /** Changes with each byte that arrives. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** Whether a statement was sent and its answer is not complete. */
  get awaitsAnswer(): boolean {
    return this.#isLeased && this.#socket.bytesWritten > this.#answered;
  }

  lease(): this {
    this.#isLeased = true;
    this.#answered = this.#socket.bytesWritten;
    return this;
  }

  /** @param broken the connection failed, or may still execute a statement: it is closed. */
  release(broken = false): void {
    if (!this.#isLeased) throw new Error("The connection was released twice.");
    this.#isLeased = false;
    this.#idleSince = performance.now();
    this.#onReleased(this, broken);
  }

  /** @returns at how many ticks in a row a statement has waited and nothing has arrived. */
  countSilentTick(): number {
    this.#silentTicks = this.awaitsAnswer && this.bytesRead === this.#readAtTick ? this.#silentTicks + 1 : 0;
    this.#readAtTick = this.bytesRead;
    return this.#silentTicks;
  }

  /** Closes the connection without a message to the server, which may be unreachable. A running statement fails. */
  breakOff(): void {
    this.#socket.destroy(Object.assign(new Error("The connection was silent."), { code: "ETIMEDOUT" }));
  }
}

/** @throws the driver's error; with several hosts, also if this one accepts no writes (25006). */
export async function openClient(
  settings: PostgresSettings,
  address: PostgresHost,
  onReleased: OnReleased,
): Promise<PooledClient> {
  const client = await connect({ tls: settings.tls, host: address.host }, (ssl) => {
    return new PooledClient({ ...clientConfig(settings), ssl }, address, onReleased);
  });
  try {
    const hasChoice = settings.otherHosts.length > 0;
    if (hasChoice || settings.preparedStatements) {
      const { rows } = await client.query<{ backend: number; read_only: string }>(
        "SELECT pg_backend_pid() AS backend, current_setting('transaction_read_only') AS read_only",
      );
      if (hasChoice && rows[0]?.read_only === "on") throw readOnlyServer();
      if (settings.preparedStatements) client.backend = rows[0]?.backend;
    }
    return client;
  } catch (error) {
    client.breakOff();
    throw error;
  }
}

/** A connection to the database of another program, without time limits for statements. @throws the driver's error. */
export async function openReader({ tls, host, port, user, password, database }: PostgresAddress): Promise<pg.Client> {
  const config: ClientConfig = {
    user,
    password,
    database,
    application_name: "sealpush import",
    connectionTimeoutMillis: readerConnectMs,
    ...keepAlive,
  };
  return await connect({ tls, host }, (ssl) => new PooledClient({ ...config, ssl }, { host, port }, () => undefined));
}

function readOnlyServer(): Error {
  return Object.assign(new pg.DatabaseError("the server takes no writes", 0, "error"), { code: "25006" });
}

function clientConfig(settings: PostgresSettings): ClientConfig {
  const { user, password, database, statementTimeoutMs, lockTimeoutMs, connectTimeoutMs } = settings;
  const config: ClientConfig = {
    user,
    password,
    database,
    application_name: "sealpush",
    connectionTimeoutMillis: connectTimeoutMs / (1 + settings.otherHosts.length),
    ...keepAlive,
    query_timeout: settings.answerMsMax,
    types: { getTypeParser: readerOf },
  };
  // A pooler accepts no session settings. The server's own timeouts and `query_timeout` apply instead.
  if (!settings.preparedStatements) return config;
  return {
    ...config,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMsMax,
  };
}
