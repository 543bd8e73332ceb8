import { refused, type ValueType } from "./value-type.ts";

/**
 * `sqlite:PATH`, `sqlite:///absolute/path`, the same with `sqlite3:`. The value is the path, or "" when the address names
 * none (`sqlite:`): then the file lies in the data folder. The path is taken as it is written: no percent-decoding.
 */
export const databaseUrl: ValueType<string> = {
  allowed: "sqlite:PATH or sqlite:///absolute/path",
  parse(text) {
    const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? [];
    switch (scheme.toLowerCase()) {
      case "sqlite":
      case "sqlite3":
        return sqlitePath(rest);
      case "postgres":
      case "postgresql":
        return { ok: false, reason: "it names a PostgreSQL server, and this version stores its data in SQLite only" };
      case "mysql":
      case "mysql2":
        return { ok: false, reason: "it names a MySQL server, and this version stores its data in SQLite only" };
      default:
        return refused;
    }
  },
};

function sqlitePath(rest: string): ReturnType<typeof databaseUrl.parse> {
  if (rest.startsWith("//") && !rest.startsWith("///")) {
    return { ok: false, reason: "after two slashes it names a host; write sqlite:PATH or sqlite:///absolute/path" };
  }
  const path = rest.startsWith("///") ? rest.slice(2) : rest;
  if (path === ":memory:") return { ok: false, reason: "a database in memory forgets every push at the next start" };
  if (path.includes("?")) return { ok: false, reason: "parameters after a question mark are not supported" };
  if (path.endsWith("/")) return { ok: false, reason: "it names a folder, not a file" };
  return /\p{Cc}/u.test(path) ? refused : { ok: true, value: path };
}
