import pg from "pg";

/** Restores a used database to its initial state, which is many times cheaper than creating another. */
export interface DatabaseReset {
  /** Its tables when it was created, to detect changes by a test. */
  readonly shape: string;
  /** SQL that inserts the initial rows. */
  readonly statements: string;
}

/** With more deleted rows, scans over them would slow down later tests. A new database has a quarter of it, mostly PostgreSQL's own tables. */
const bytesMax = 40 * 2 ** 20;

/** The first OID of user objects; copies of a database keep its OIDs. Source: PostgreSQL's manual, "System catalogs". */
const ownFrom = 16_384;

const shapeQuery = `
  SELECT md5(string_agg(part, ',' ORDER BY part)) AS shape,
    pg_database_size(current_database())::float8 AS bytes
  FROM (
    SELECT concat_ws('.', 'class', oid, relname, relkind, reloptions) FROM pg_class
      WHERE oid >= ${ownFrom} AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT concat_ws('.', 'column', attrelid, attnum, attname, xmin) FROM pg_attribute WHERE attrelid >= ${ownFrom}
    UNION ALL SELECT concat_ws('.', 'constraint', oid, convalidated) FROM pg_constraint WHERE oid >= ${ownFrom}
    UNION ALL SELECT concat_ws('.', 'trigger', oid, tgenabled) FROM pg_trigger WHERE oid >= ${ownFrom}
    UNION ALL SELECT concat_ws('.', 'function', oid, xmin) FROM pg_proc WHERE oid >= ${ownFrom}
    UNION ALL SELECT concat_ws('.', 'schema', oid) FROM pg_namespace WHERE oid >= ${ownFrom} AND nspname NOT LIKE 'pg_%'
    UNION ALL SELECT concat_ws('.', 'setting', setconfig) FROM pg_db_role_setting
      JOIN pg_database ON setdatabase = pg_database.oid WHERE datname = current_database()
  ) AS parts (part)`;

/** @param url of a database in its initial state. */
export async function prepareReset(url: string): Promise<DatabaseReset> {
  return await connected(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    );
    const statements = ["BEGIN", "SET LOCAL session_replication_role = replica"];
    for (const { name } of tables) {
      statements.push(`DELETE FROM ${name}`);
      const { rows } = await client.query<{ kept: string | null }>(
        `SELECT json_agg(t)::text AS kept FROM ${name} AS t`,
      );
      const kept = rows[0]?.kept ?? null;
      if (kept === null) continue;
      const literal = client.escapeLiteral(kept);
      statements.push(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${literal})`);
    }
    statements.push(`SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S' AND oid >= ${ownFrom}`);
    statements.push("COMMIT");
    return { shape: (await shapeOf(client)).shape, statements: statements.join(";\n") };
  });
}

/** @returns false if it cannot be restored. There must be no other connections. */
export async function empty(url: string, { shape, statements }: DatabaseReset): Promise<boolean> {
  return await connected(url, async (client) => {
    const found = await shapeOf(client);
    if (found.shape !== shape || found.bytes > bytesMax) return false;
    await client.query(statements);
    return true;
  });
}

async function shapeOf(client: pg.Client): Promise<{ shape: string; bytes: number }> {
  const { rows } = await client.query<{ shape: string; bytes: number }>(shapeQuery);
  if (rows[0] === undefined) throw new Error("The database returned no description of its tables.");
  return rows[0];
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
