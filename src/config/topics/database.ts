import { resolve } from "node:path";
import { minuteMs, secondMs } from "../../base/clock.ts";
import { ignoredParameters, loopbackHost, type PostgresTls } from "../database-url.ts";
import { type ParsedGroup, type SettingReport, setting, valuesOf } from "../setting.ts";
import { duration, oneOf, wholeNumber } from "../value-types.ts";
import type { serverSettings } from "./server.ts";

const databaseFile = "sealpush.sqlite3";
/** Requests that may wait for a connection, per connection of the pool. */
const waitingPerConnection = 200;

/** Added to the server's own timeout, for a network that drops packets. */
const silenceMs = 3 * secondMs;

const shortTime = duration({
  minMs: secondMs,
  maxMs: 10 * minuteMs,
  plainNumber: "seconds",
  allowed: "seconds from 1 to 600, or a time such as 1 minute",
});

export const databaseSettings = {
  title: "PostgreSQL",
  intro: "How each process uses the PostgreSQL server of `DATABASE_URL`. These settings have no effect on SQLite.",
  settings: {
    poolSize: setting({
      env: "PWP__DATABASE__POOL_SIZE",
      doc: "Connections per process, unless `DATABASE_URL` has `pool=`, which this setting overrides. All processes together must stay below the server's `max_connections`.",
      type: wholeNumber(1, 500),
      default: "10",
    }),
    pooler: setting({
      env: "PWP__DATABASE__POOLER",
      doc: "Whether a connection pooler sits in front of the PostgreSQL server. `transaction`: a pooler, such as pgbouncer in transaction mode, that gives each transaction another connection. Then statements are not named, and the two time limits below must be set at the server.",
      type: oneOf({ none: "none", transaction: "transaction" }),
      default: "none",
    }),
    statementTimeoutMs: setting({
      env: "PWP__DATABASE__STATEMENT_TIMEOUT",
      doc: "How long a statement may take. A request waits for the database at most three seconds longer in all, repeats included; then it is answered with 503.",
      type: shortTime,
      default: "15",
    }),
    lockTimeoutMs: setting({
      env: "PWP__DATABASE__LOCK_TIMEOUT",
      doc: "How long a statement may wait for a lock.",
      type: shortTime,
      default: "5",
    }),
    connectTimeoutMs: setting({
      env: "PWP__DATABASE__CONNECT_TIMEOUT",
      doc: "How long a request may wait for a connection before it is answered with 503.",
      type: shortTime,
      default: "5",
    }),
  },
};

/** @param dataDir absolute. */
export function databaseConfig(
  url: ParsedGroup<typeof serverSettings>["databaseUrl"],
  database: ParsedGroup<typeof databaseSettings>,
  dataDir: string,
  report: SettingReport,
) {
  const address = url.value;
  if (address?.engine !== "postgres") {
    for (const { env, given } of Object.values(database)) if (given) report.warn(`${env} has no effect on SQLite.`);
    const path = address?.path ?? "";
    return {
      engine: "sqlite" as const,
      /** Absolute path of the file. */
      path: path === "" ? resolve(dataDir, databaseFile) : resolve(path),
    };
  }
  // A name without a dot belongs to the same machine or network, such as the name of a container.
  const { pool, ignoredParameters: ignored, ...location } = address;
  const remote = [address, ...address.otherHosts].find(({ host }) => !loopbackHost.test(host) && /[.:]/.test(host));
  if (remote !== undefined) warnOfReadableTraffic(url.env, address.tls.mode, remote.host, report);
  for (const name of ignored) report.warn(`${name} in ${url.env} has no effect: ${ignoredParameters.get(name)}.`);
  if (pool !== undefined && database.poolSize.given) {
    report.warn(`pool in ${url.env} has no effect: ${database.poolSize.env} is set.`);
  }
  const { poolSize, pooler, ...timeouts } = valuesOf(database);
  const poolMax = database.poolSize.given ? poolSize : (pool ?? poolSize);
  return {
    ...location,
    ...timeouts,
    /** The setting that has the address, in messages. */
    setting: url.env,
    /** Connections per process. */
    poolMax,
    /** Requests that may wait for a connection; any more are rejected. */
    waitingMax: poolMax * waitingPerConnection,
    /** How long this process waits for an answer, and how long a request waits for the database in all. */
    answerMsMax: timeouts.statementTimeoutMs + silenceMs,
    /** Off behind a pooler that gives each transaction another connection: connections then keep no state. */
    preparedStatements: pooler === "none",
  };
}

function warnOfReadableTraffic(env: string, mode: PostgresTls["mode"], host: string, report: SettingReport): void {
  switch (mode) {
    case "disable":
      report.warn(`${env} does not use TLS (sslmode): the traffic to ${host} can be read on the network.`);
      break;
    case "allow":
    case "prefer":
      report.warn(
        `${env} does not require TLS (sslmode=${mode}): if ${host}, or somebody in between, refuses it, the traffic can be read on the network. Add sslmode=verify-full.`,
      );
      break;
    case "require":
    case "verify-ca":
    case "verify-full":
      break;
  }
}
