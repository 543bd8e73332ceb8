import { percentDecoded } from "../base/percent-decoded.ts";
import { accepted, type Parsed, rejected, type ValueType, wholeNumber } from "./value-types.ts";

/** The parsed DATABASE_URL. The path is "" if the address has none (`sqlite:`): then the file is in the data folder. */
export type DatabaseAddress =
  | { readonly engine: "sqlite"; readonly path: string }
  | ({ readonly engine: "postgres" } & PostgresAddress);

export interface PostgresHost {
  /** A host's name or address, or the absolute path of the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface PostgresAddress extends PostgresHost {
  /** Hosts of the same database to try when the first one is away or takes no writes. */
  readonly otherHosts: readonly PostgresHost[];
  readonly user: string;
  /** "": none. */
  readonly password: string;
  readonly database: string;
  readonly tls: PostgresTls;
  /** Connections per process; undefined: not in the address. */
  readonly pool: number | undefined;
  /** Parameters that have no effect here. */
  readonly ignoredParameters: readonly string[];
}

/**
 * libpq's `sslmode`. `prefer` encrypts unless the server refuses it, `allow` only if the server requires it; both, and
 * `require`, accept any certificate. `verify-full` also checks the server's name.
 */
export interface PostgresTls {
  readonly mode: "disable" | "allow" | "prefer" | "require" | "verify-ca" | "verify-full";
  /** A file of certificate authorities to trust instead of the public ones. */
  readonly rootCertificateFile: string | undefined;
}

const tlsModes: readonly string[] = [
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
] satisfies PostgresTls["mode"][];
const knownParameters = ["sslmode", "sslrootcert", "host", "target_session_attrs", "pool", "encoding"];
const tuningParameters = [
  ...["application_name", "checkout_timeout", "connect_timeout", "idle_timeout", "min_messages", "reaping_frequency"],
  ...["advisory_locks", "prepared_statements"],
  ...["keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "statement_limit", "timeout"],
];
/** Parameters of Rails and libpq that have no effect here, each with a clause that says why. */
export const ignoredParameters: ReadonlyMap<string, string> = new Map([
  ...tuningParameters.map((name) => [name, "see the settings PWP__DATABASE__*"] as const),
  ["reconnect", "lost connections are always replaced"],
  ["gssencmode", "connections are encrypted by TLS only (sslmode)"],
  ["channel_binding", "it is not used"],
  ["schema_search_path", "it is the default of PostgreSQL"],
]);
/** The values of parameters above of which others would have an effect. */
const valuesWithoutEffect: ReadonlyMap<string, readonly string[]> = new Map([
  ["gssencmode", ["disable", "prefer"]],
  ["channel_binding", ["disable", "prefer"]],
  ["schema_search_path", ["public"]],
]);
const hostsMax = 8;
const poolSize = wholeNumber(1, 500);

/** This machine: its traffic does not cross a network. */
export const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\/.*)$/;

/**
 * `sqlite:PATH`, `sqlite:///absolute/path`, the same with `sqlite3:`; the path is taken as it is written, without
 * percent-decoding. `postgres://user:password@host:port/database`, whose parts are percent-decoded; several hosts are
 * separated by commas.
 */
export const databaseUrl: ValueType<DatabaseAddress> = {
  allowed: "sqlite:PATH, sqlite:///absolute/path, or postgres://user:password@host:port/database",
  parse(text) {
    const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
    switch (scheme.toLowerCase()) {
      case "sqlite":
      case "sqlite3":
        return sqliteAddress(rest);
      case "postgres":
      case "postgresql":
        return postgresAddress(text);
      case "mysql":
      case "mysql2":
        return because("it names a MySQL server, but only SQLite and PostgreSQL are supported");
      default:
        return rejected;
    }
  },
};

function because(reason: string): Parsed<DatabaseAddress> {
  return { ok: false, reason };
}

function sqliteAddress(rest: string): Parsed<DatabaseAddress> {
  if (rest.startsWith("//") && !rest.startsWith("///")) {
    return because("after two slashes it names a host; write sqlite:PATH or sqlite:///absolute/path");
  }
  const path = rest.startsWith("///") ? rest.slice(2) : rest;
  if (path === ":memory:") return because("a database in memory would lose every push at the next start");
  if (path.includes("?")) return because("parameters after a question mark are not supported");
  if (path.endsWith("/")) return because("it names a folder, not a file");
  return /\p{Cc}/u.test(path) ? rejected : accepted({ engine: "sqlite", path });
}

function postgresAddress(text: string): Parsed<DatabaseAddress> {
  const [, beforeHosts = "", hosts = "", afterHosts = ""] =
    /^([^/]*\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/su.exec(text) ?? [];
  const urls = hosts.split(",").map((host) => URL.parse(`${beforeHosts}${host}${afterHosts}`));
  const [url = null, ...otherUrls] = urls;
  if (url === null || /\p{Cc}/u.test(text)) return rejected;
  if (otherUrls.includes(null)) return rejected;
  const otherHosts = otherUrls.flatMap((other) => (other === null ? [] : [hostOf(other.hostname, other.port)]));
  if (otherHosts.length >= hostsMax) return because(`it names more than ${hostsMax} hosts`);
  const parameters = url.searchParams;
  const problem = findParameterProblem(parameters);
  if (problem !== undefined) return because(problem);
  if (parameters.has("host") && otherHosts.length > 0) return because("it names hosts in two places");
  const pool = parameters.has("pool") ? poolSize.parse(parameters.get("pool") ?? "") : undefined;
  if (pool?.ok === false) return because(`its pool must be ${poolSize.allowed}`);
  const encoded = [url.username, url.password, url.pathname.slice(1), parameters.get("host") ?? url.hostname];
  const parts = encoded.map(percentDecoded);
  if (parts.includes(undefined)) return rejected;
  const [user = "", password = "", database = "", host = ""] = parts;
  if (user === "") return because("it names no user");
  if (database === "" || database.includes("/")) return because("it names no database after the host");
  if (host === "") return because("it names no host");
  const first = hostOf(host, url.port);
  const rootCertificateFile = parameters.get("sslrootcert") ?? undefined;
  const wanted = parameters.get("sslmode") ?? defaultTlsMode([first, ...otherHosts]);
  if (!isTlsMode(wanted)) return because(`its sslmode must be one of ${tlsModes.join(", ")}`);
  // As in libpq: `require` with authorities to trust verifies the certificate.
  const mode = wanted === "require" && rootCertificateFile !== undefined ? "verify-ca" : wanted;
  return accepted({
    engine: "postgres",
    ...first,
    otherHosts,
    user,
    password,
    database,
    tls: { mode, rootCertificateFile },
    pool: pool?.value,
    ignoredParameters: [...parameters.keys()].filter((name) => ignoredParameters.has(name)),
  });
}

/** @returns a clause on the first parameter that is unknown, or asks for something that this server does not do. */
function findParameterProblem(parameters: URLSearchParams): string | undefined {
  const isKnown = (name: string) => knownParameters.includes(name) || ignoredParameters.has(name);
  if (![...parameters.keys()].every(isKnown)) return `only the parameters ${knownParameters.join(", ")} are supported`;
  for (const [name, values] of valuesWithoutEffect) {
    const value = parameters.get(name);
    if (value !== null && !values.includes(value)) return `its ${name} must be ${values.join(" or ")}, or left out`;
  }
  if ((parameters.get("target_session_attrs") ?? "read-write") !== "read-write") {
    return "its target_session_attrs must be read-write, because the server writes";
  }
  const encoding = parameters.get("encoding") ?? "utf8";
  return /^(?:utf-?8|unicode)$/i.test(encoding) ? undefined : "its encoding must be utf8 or unicode";
}

/** libpq's default is `prefer`; between programs of one machine encryption only costs time. */
function defaultTlsMode(hosts: readonly PostgresHost[]): PostgresTls["mode"] {
  return hosts.every(({ host }) => loopbackHost.test(host)) ? "disable" : "prefer";
}

function hostOf(host: string, port: string): PostgresHost {
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 5432 : Number(port) };
}

function isTlsMode(word: string): word is PostgresTls["mode"] {
  return tlsModes.includes(word);
}
