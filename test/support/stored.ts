import { engine, settingsOfEngine } from "./engine.ts";
import { filesIn } from "./raw-files.ts";

/**
 * All stored data: every file of the data folder by its relative path and, if the database is on a server, every row by
 * table.
 */
export async function storedIn(dataDir: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = filesIn(dataDir);
  if (engine === "sqlite") return files;
  const { DATABASE_URL: url } = await settingsOfEngine(dataDir);
  if (url === undefined) throw new Error("The folder's database has no address.");
  return new Map([...files, ...(await rowsOf(url))]);
}

async function rowsOf(url: string): Promise<ReadonlyMap<string, Buffer>> {
  // Imported here: tests on SQLite do not need the driver.
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    );
    const found = new Map<string, Buffer>();
    for (const { name } of tables.rows) {
      const { rows } = await client.query<unknown[]>({ text: `SELECT * FROM ${name}`, rowMode: "array" });
      found.set(`table ${name}`, Buffer.concat(rows.flat().flatMap((value) => [bytesOf(value), separator])));
    }
    return found;
  } finally {
    await client.end();
  }
}

const separator = Buffer.from("\n");

function bytesOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value));
}
