import type { MysqlAddress } from "@sealpush/import-password-pusher";
import { percentDecoded } from "../../base/percent-decoded.ts";
import type { Config } from "../../config/config.ts";
import { type DatabaseAddress, databaseUrl } from "../../config/database-url.ts";
import { WrongSettings } from "../errors.ts";

/** Where the source's database is, before its TLS files are read. */
export type SourceAddress = DatabaseAddress | ({ readonly engine: "mysql" } & MysqlAddress);

const allowed = "sqlite:PATH, postgres://user:password@host:port/database or mysql://user:password@host:port/database";
const tlsModes = ["disabled", "required", "verify_ca", "verify_identity"] as const;

/**
 * The address as the source's own DATABASE_URL has it; parameters that say how its application uses the database (`pool`,
 * `encoding`) are left out. @throws WrongSettings, which never repeats the address: it may hold a password.
 */
export function parseSourceAddress(text: string): SourceAddress {
  const address = text.trim();
  const scheme = /^([a-z0-9]+):/i.exec(address)?.[1]?.toLowerCase() ?? "";
  switch (scheme) {
    case "mysql":
    case "mysql2":
    case "mariadb":
    case "trilogy":
      return mysqlAddress(address);
    case "sqlite":
    case "sqlite3":
      return ownAddress(address.replace(/\?.*$/s, ""));
    case "postgres":
    case "postgresql":
      return postgresAddress(address);
    default:
      throw refusal(`it must be ${allowed}`);
  }
}

/** What both programs understand. */
function ownAddress(address: string): DatabaseAddress {
  const parsed = databaseUrl.parse(address);
  if (!parsed.ok) throw refusal(parsed.reason ?? `it must be ${allowed}`);
  if (parsed.value.engine === "sqlite" && parsed.value.path === "") throw refusal("it names no file");
  return parsed.value;
}

function postgresAddress(address: string): DatabaseAddress {
  const url = URL.parse(address);
  if (url === null) throw refusal(`it must be ${allowed}`);
  for (const name of [...url.searchParams.keys()]) {
    if (!["sslmode", "sslrootcert", "host"].includes(name)) url.searchParams.delete(name);
  }
  return ownAddress(url.href);
}

function mysqlAddress(address: string): SourceAddress {
  const url = URL.parse(address);
  if (url === null || /\p{Cc}/u.test(address)) throw refusal(`it must be ${allowed}`);
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const socketPath = url.searchParams.get("socket") ?? undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (user === undefined || user === "") throw refusal("it names no user");
  if (database === undefined || database === "" || database.includes("/")) {
    throw refusal("it names no database after the host");
  }
  return {
    engine: "mysql",
    host,
    port: url.port === "" ? 3306 : Number(url.port),
    socketPath,
    user,
    password: password ?? "",
    database,
    tls: { mode: tlsMode(url.searchParams), rootCertificateFile: url.searchParams.get("sslca") ?? undefined },
  };
}

function tlsMode(parameters: URLSearchParams): MysqlAddress["tls"]["mode"] {
  const given = (parameters.get("ssl_mode") ?? parameters.get("ssl-mode") ?? "disabled").toLowerCase();
  const mode = tlsModes.find((known) => known === given.replace(/^ssl_mode_/, ""));
  if (mode === undefined) throw refusal(`its ssl_mode must be one of ${tlsModes.join(", ")}`);
  return mode;
}

function decoded(part: string): string {
  const text = percentDecoded(part);
  if (text === undefined) throw refusal("a percent sign in it is not followed by two hex digits");
  return text;
}

function refusal(reason: string): WrongSettings {
  return new WrongSettings([`--database cannot be used: ${reason}.`]);
}

/** Without user and password. */
export function printable(address: Config["database"] | SourceAddress): string {
  return address.engine === "sqlite" ? address.path : `${address.database} at ${address.host}`;
}
