import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import pg, { type PoolClient, type PoolConfig } from "pg";
import type { PostgresSettings } from "../../config/config.ts";
import type { PoolUse } from "../database.ts";
import { LostConnectionError } from "./errors.ts";
import { readerOf } from "./named-query.ts";

export type ConnectionPool = ReturnType<typeof openPool>;

const idleMsMax = 60_000;
/** Connections are replaced, so that they are spread over the servers again after a failover or when one is added. */
const lifetimeSecondsMax = 1_800;
/** Added to the server's own timeout, for a network that drops packets. */
const silenceMs = 5_000;

/** @param onFailure an idle connection broke; the next request opens another. */
export function openPool(settings: PostgresSettings, onFailure: (code: string) => void) {
  const pool = new pg.Pool(poolConfig(settings));
  // `end` does not wait until the connections are closed. Errors on a closing connection are ignored.
  pool.on("error", (error) => {
    if (!pool.ending) onFailure(new LostConnectionError(error).code);
  });
  // The pool listens to idle connections only. One that breaks in use fails its statement, which reports it; without a
  // listener, its own error event would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return {
    /** @throws the driver's error when no connection is available in time. */
    connect: (): Promise<PoolClient> => pool.connect(),
    use: (): PoolUse => ({
      max: settings.poolMax,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: (): Promise<void> => pool.end(),
  };
}

function poolConfig(settings: PostgresSettings): PoolConfig {
  const { host, port, user, password, database, statementTimeoutMs, lockTimeoutMs, connectTimeoutMs } = settings;
  return {
    host,
    port,
    user,
    password,
    database,
    application_name: "sealpush",
    ssl: tlsOptions(settings),
    max: settings.poolMax,
    idleTimeoutMillis: idleMsMax,
    maxLifetimeSeconds: lifetimeSecondsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    query_timeout: statementTimeoutMs + silenceMs,
    types: { getTypeParser: readerOf },
    // A pooler accepts no session settings. The server's own timeouts and `query_timeout` apply instead.
    ...(settings.preparedStatements
      ? {
          statement_timeout: statementTimeoutMs,
          lock_timeout: lockTimeoutMs,
          idle_in_transaction_session_timeout: statementTimeoutMs,
        }
      : {}),
  };
}

/** TLS options of the driver. Reads the file of certificate authorities, if there is one. */
export function tlsOptions({ tls, host }: Pick<PostgresSettings, "tls" | "host">): ConnectionOptions | false {
  if (tls.mode === "disable") return false;
  const authorities =
    tls.rootCertificateFile === undefined ? {} : { ca: readFileSync(tls.rootCertificateFile, "utf8") };
  switch (tls.mode) {
    case "require":
      return { rejectUnauthorized: false };
    case "verify-ca":
      return { ...authorities, rejectUnauthorized: true, checkServerIdentity: () => undefined };
    case "verify-full":
      // The name to verify. An IP address must not be sent as the server name (RFC 6066, section 3).
      return { ...authorities, rejectUnauthorized: true, ...(isIP(host) === 0 ? { servername: host } : { host }) };
  }
}
