import { resolve } from "node:path";
import { minuteMs, secondMs } from "../base/clock.ts";
import type { DatabaseSettings } from "./config.ts";
import { duration } from "./quantity-types.ts";
import type { ParsedSettings } from "./read-settings.ts";
import { setting } from "./setting.ts";
import type { SettingGroups } from "./settings.ts";
import { oneWordOf, wholeNumber } from "./value-type.ts";

const databaseFile = "sealpush.sqlite3";
/** Requests that may wait for a connection, for each connection there is. */
const waitingPerConnection = 200;

const shortTime = duration({
  ...{ minMs: secondMs, maxMs: 10 * minuteMs, plainNumber: "seconds" },
  allowed: "seconds from 1 to 600, or a time such as 1 minute",
});

/** The part of the settings table about a PostgreSQL server. */
export const databaseSettings = {
  database: {
    title: "PostgreSQL",
    intro: "How each process uses the server that `DATABASE_URL` names. On SQLite these have no effect.",
    settings: {
      poolSize: setting({
        env: "PWP__DATABASE__POOL_SIZE",
        doc: "Connections of one process. All processes together must stay below the server's `max_connections`.",
        type: wholeNumber(1, 500),
        default: "10",
      }),
      pooler: setting({
        env: "PWP__DATABASE__POOLER",
        doc: "What stands between here and the server. `transaction`: a pooler, such as pgbouncer in transaction mode, that gives each transaction another connection. Then statements are not named, and the two time limits below must be set at the server.",
        type: oneWordOf({ none: "none", transaction: "transaction" }),
        default: "none",
      }),
      statementTimeout: setting({
        env: "PWP__DATABASE__STATEMENT_TIMEOUT",
        doc: "How long a statement, or a transaction that waits for this process, may take.",
        type: shortTime,
        default: "15",
      }),
      lockTimeout: setting({
        env: "PWP__DATABASE__LOCK_TIMEOUT",
        doc: "How long a statement may wait for a lock.",
        type: shortTime,
        default: "5",
      }),
      connectTimeout: setting({
        env: "PWP__DATABASE__CONNECT_TIMEOUT",
        doc: "How long a request may wait for a connection before it is answered with 503.",
        type: shortTime,
        default: "5",
      }),
    },
  },
};

/** Where the data lie. @param dataDir absolute. */
export function databaseOf(
  { server, database }: Pick<ParsedSettings<SettingGroups>, "server" | "database">,
  dataDir: string,
): DatabaseSettings {
  const address = server.databaseUrl.value;
  if (address?.engine === "postgres") {
    const poolMax = database.poolSize.value;
    return {
      ...address,
      poolMax,
      waitingMax: poolMax * waitingPerConnection,
      connectTimeoutMs: database.connectTimeout.value,
      statementTimeoutMs: database.statementTimeout.value,
      lockTimeoutMs: database.lockTimeout.value,
      preparedStatements: database.pooler.value === "none",
    };
  }
  const path = address?.path ?? "";
  return { engine: "sqlite", path: path === "" ? resolve(dataDir, databaseFile) : resolve(path) };
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\/.*)$/;

/** What is allowed and hardly meant. */
export function databaseWarnings({
  server,
  database,
}: Pick<ParsedSettings<SettingGroups>, "server" | "database">): readonly string[] {
  const address = server.databaseUrl.value;
  if (address?.engine !== "postgres") {
    return Object.values(database)
      .filter(({ given }) => given)
      .map(({ env }) => `${env} has no effect on SQLite.`);
  }
  // A name without a dot is one of the same machine's or network's own, such as a container's.
  const isFar = !loopback.test(address.host) && /[.:]/.test(address.host);
  if (address.tls.mode !== "disable" || !isFar) return [];
  return [`${server.databaseUrl.env} asks for no TLS (sslmode): what goes to ${address.host} can be read on its way.`];
}
