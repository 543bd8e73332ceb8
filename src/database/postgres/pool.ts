import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import pg, { type PoolClient, type PoolConfig } from "pg";
import type { PostgresSettings } from "../../config/config.ts";
import type { PoolUse } from "../database.ts";
import { LostConnectionError } from "./errors.ts";
import { readerOf } from "./named-query.ts";

export interface ConnectionPool {
  /** @throws the driver's error when none can be had in time. */
  connect(): Promise<PoolClient>;
  use(): PoolUse;
  close(): Promise<void>;
}

const idleMsMax = 60_000;
/** Connections come and go, so that after a failover or a new member behind the address they spread anew. */
const lifetimeSecondsMax = 1_800;
/** On top of the server's own limit: for a network that swallows what is sent. */
const silenceMs = 5_000;

/** @param onFailure an idle connection broke; the next request makes another. */
export function openPool(settings: PostgresSettings, onFailure: (code: string) => void): ConnectionPool {
  const pool = new pg.Pool(poolConfig(settings));
  // Closing does not wait until the connections have gone, and what the server says to one that goes fails nobody.
  pool.on("error", (error) => {
    if (!pool.ending) onFailure(new LostConnectionError(error).code);
  });
  // The pool listens to idle connections only. One that breaks in use fails the statement on it, which tells so; its
  // own event, if nobody listened to it, would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return {
    connect: () => pool.connect(),
    use: () => ({
      max: settings.poolMax,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  };
}

function poolConfig(settings: PostgresSettings): PoolConfig {
  const { host, port, user, password, database, statementTimeoutMs, lockTimeoutMs, connectTimeoutMs } = settings;
  return {
    ...{ host, port, user, password, database },
    application_name: "sealpush",
    ssl: tlsOptions(settings),
    max: settings.poolMax,
    idleTimeoutMillis: idleMsMax,
    maxLifetimeSeconds: lifetimeSecondsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    query_timeout: statementTimeoutMs + silenceMs,
    types: { getTypeParser: readerOf },
    // A pooler takes no settings of a session: then the server's own limits hold, and the one above.
    ...(settings.preparedStatements
      ? {
          statement_timeout: statementTimeoutMs,
          lock_timeout: lockTimeoutMs,
          idle_in_transaction_session_timeout: statementTimeoutMs,
        }
      : {}),
  };
}

/** What the driver is told of TLS. Reads the file of authorities, if one is named. */
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
      // The name that is checked; one that is an address may not be sent along (RFC 6066, section 3).
      return { ...authorities, rejectUnauthorized: true, ...(isIP(host) === 0 ? { servername: host } : { host }) };
  }
}
