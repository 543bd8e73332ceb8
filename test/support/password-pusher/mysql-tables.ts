import SqliteDriver from "better-sqlite3";
import { createConnection } from "mysql2/promise";

const tables = [
  "users",
  "pushes",
  "audit_logs",
  "notify_by_emails",
  "active_storage_attachments",
  "active_storage_blobs",
  "site_settings",
  "ar_internal_metadata",
  "schema_migrations",
  "views",
];
/** Tables whose times have whole seconds in MySQL. */
const coarse = new Set(["users", "active_storage_blobs", "active_storage_attachments"]);
const rowsAtOnce = 100;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

/** Copies the tables of the source from SQLite, with the types that Rails gives them on MySQL and MariaDB. */
export async function copyToMysql(sqlitePath: string, url: string): Promise<void> {
  const sqlite = new SqliteDriver(sqlitePath);
  const mysql = await createConnection({ uri: url, charset: "utf8mb4" });
  try {
    for (const table of tables) {
      const columns = sqlite.prepare<[string], Column>("SELECT name, type, pk FROM pragma_table_info(?)").all(table);
      const kinds = columns.map((column) => typeOf(table, column));
      const definitions = columns.map(({ name, pk }, at) => `\`${name}\` ${kinds[at]}${pk > 0 ? " PRIMARY KEY" : ""}`);
      await mysql.query(`CREATE TABLE \`${table}\` (${definitions.join(", ")}) CHARACTER SET utf8mb4`);
      const rows = sqlite.prepare<[], Record<string, unknown>>(`SELECT * FROM "${table}"`).all();
      for (let start = 0; start < rows.length; start += rowsAtOnce) {
        const values = rows
          .slice(start, start + rowsAtOnce)
          .map((row) => columns.map(({ name }, at) => fitting(row[name], kinds[at] ?? "")));
        await mysql.query(`INSERT INTO \`${table}\` VALUES ?`, [values]);
      }
    }
  } finally {
    sqlite.close();
    await mysql.end();
  }
}

function typeOf(table: string, { name, type, pk }: Column): string {
  const [word = "", size] = type.toLowerCase().split(/[()]/);
  switch (word) {
    case "integer":
      return pk > 0 ? "bigint" : "int";
    case "boolean":
      return "tinyint(1)";
    case "varchar":
      return `varchar(${size ?? 255})`;
    case "text":
      return name === "payload_ciphertext" ? "mediumtext" : "text";
    case "datetime":
      return coarse.has(table) ? "datetime" : "datetime(6)";
    default:
      return type;
  }
}

/** Rails truncates a time to the column's precision; the server would round it. */
function fitting(value: unknown, kind: string): unknown {
  if (Buffer.isBuffer(value)) return value.toString("utf8");
  return kind === "datetime" && typeof value === "string" ? value.replace(/\..*$/, "") : value;
}
