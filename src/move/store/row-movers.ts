import { capabilitiesOf, type Database, type ReadConnection, type Transaction } from "../../database/database.ts";
import { moveMarkNames } from "../../database/move-marks.ts";
import { type Statement, sql, type Value } from "../../database/statement.ts";

/** A table that both engines have. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The columns of its primary key, in order. */
  readonly key: readonly string[];
}

/**
 * Tables that are not copied row by row: `pushes` and `row_secrets` are moved together, `totals` are counted again,
 * `download_tickets` expire within minutes and `resumable_uploads` within a day, and `processes` and `job_runs` belong to one database.
 */
const excluded: ReadonlySet<string> = new Set([
  "pushes",
  "row_secrets",
  "download_tickets",
  "resumable_uploads",
  "totals",
  "processes",
  "job_runs",
]);

const tableNames = sql<[], { name: string }>(
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
);
const columnsOfTable = sql<[table: string], { name: string; position: number }>(
  "SELECT name, pk AS position FROM pragma_table_info(?) ORDER BY cid",
);

const referredTo = ["users", "user_groups", "requests"];

/**
 * Reads the tables from the schema, so that none can be forgotten. Tables that others refer to come first.
 * @param sqlite the SQLite side: its columns are those that both engines have.
 */
export async function readTables(sqlite: Database): Promise<readonly MovedTable[]> {
  const names = (await sqlite.read.all(tableNames)).map(({ name }) => name).filter((name) => !excluded.has(name));
  const ordered = [...referredTo, ...names.filter((name) => !referredTo.includes(name))];
  return await Promise.all(ordered.map((name) => readTable(sqlite, name)));
}

export async function readTable(sqlite: Database, name: string): Promise<MovedTable> {
  const columns = await sqlite.read.all(columnsOfTable, name);
  const key = columns.filter(({ position }) => position > 0).sort((a, b) => a.position - b.position);
  return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
}

type Row = Readonly<Record<string, Value>>;

/** Reads rows of a table in the order of their key, and writes them on the other side. */
export interface RowMover {
  readonly name: string;
  /** The rows after this key; undefined: the first rows. */
  read(connection: ReadConnection, after: readonly Value[] | undefined, limit: number): Promise<readonly Row[]>;
  keyOf(row: Row): readonly Value[];
  write(tx: Transaction, rows: readonly Row[]): Promise<void>;
  /** In the order of the digest. */
  readonly columns: readonly string[];
}

/** Round trips would take most of the time of a move, so one statement inserts several rows. */
const rowsPerInsert = 100;

/** @param source a table, or a subquery with an alias. */
function readerOf(columns: readonly string[], source: string, key: readonly string[]): RowMover["read"] {
  const select = `SELECT ${columns.join(", ")} FROM ${source}`;
  const order = `ORDER BY ${key.join(", ")} LIMIT ?`;
  const first = sql<Value[], Row>(`${select} ${order}`);
  const next = sql<Value[], Row>(`${select} WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")}) ${order}`);
  return (connection, after, limit) =>
    after === undefined ? connection.all(first, limit) : connection.all(next, ...after, limit);
}

function writerOf(table: string, columns: readonly string[]): RowMover["write"] {
  const values = `(${columns.map(() => "?").join(", ")})`;
  const insert = (count: number): Statement<Value[], never> =>
    sql(`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${Array(count).fill(values).join(", ")}`);
  const [one, many] = [insert(1), insert(rowsPerInsert)];
  return async (tx, rows) => {
    const valuesOf = (row: Row) => columns.map((column) => row[column] ?? null);
    let at = 0;
    for (; at + rowsPerInsert <= rows.length; at += rowsPerInsert) {
      await tx.run(many, ...rows.slice(at, at + rowsPerInsert).flatMap(valuesOf));
    }
    for (const row of rows.slice(at)) await tx.run(one, ...valuesOf(row));
  };
}

/** For a table that is equal on both sides. */
export function createTableMover({ name, columns, key }: MovedTable): RowMover {
  const marks = moveMarkNames.map((mark) => `'${mark}'`).join(", ");
  // The marks of a move are different on each side.
  const sources: Readonly<Record<string, string>> = {
    meta: `(SELECT * FROM meta WHERE name NOT IN (${marks})) AS meta`,
    // Payloads of ended pushes stay only for claims that can be repeated, and those are not moved.
    payloads: `(SELECT payloads.* FROM payloads JOIN pushes ON pushes.id = payloads.push_id
      WHERE pushes.ended_at IS NULL) AS payloads`,
    // Keys stay used. The copies with which claims can be repeated are not moved.
    claim_retries: `(SELECT push_id, digest, CAST(NULL AS BIGINT) AS row_secret_id, claim_retries.expires_at, earlier_views,
      earlier_view_at FROM claim_retries JOIN pushes ON pushes.id = push_id WHERE pushes.ended_at IS NULL) AS claim_retries`,
  };
  const source = sources[name] ?? name;
  return {
    name,
    columns,
    read: readerOf(columns, source, key),
    keyOf: (row) => key.map((column) => row[column] ?? null),
    write: writerOf(name, columns),
  };
}

const keyColumn = "row_secret_sealed";

const appendKey = sql<[sealed: Buffer], { id: number }>("INSERT INTO row_secrets (sealed) VALUES (?) RETURNING id");
const insertKey: Statement<[pushId: number, sealed: Buffer], never> = sql(
  "INSERT INTO row_secrets (id, sealed) VALUES (?, ?)",
);

/**
 * For pushes with their row secrets. On PostgreSQL a secret has the id of its push. On SQLite it has the next id, because secrets are
 * only appended there. Destroyed keys are not moved.
 */
export function createPushMover(pushes: MovedTable): RowMover {
  // Claims that can be repeated are not moved, so no payload is kept for them.
  const stored = pushes.columns.filter((column) => column !== "row_secret_id" && column !== "keeps_payload");
  const columns = [...stored, keyColumn];
  const source = `(SELECT pushes.*, row_secrets.sealed AS ${keyColumn} FROM pushes
    LEFT JOIN row_secrets ON row_secrets.id = pushes.row_secret_id AND pushes.ended_at IS NULL) AS sealed_pushes`;
  const writePushes = writerOf("pushes", [...stored, "row_secret_id"]);

  async function writeKey(tx: Transaction, pushId: number, sealed: Buffer): Promise<number> {
    if (capabilitiesOf[tx.engine].rowSecretId === "push") {
      await tx.run(insertKey, pushId, sealed);
      return pushId;
    }
    const key = await tx.one(appendKey, sealed);
    if (key === undefined) throw new Error("The row secret was not written.");
    return key.id;
  }

  return {
    name: "pushes",
    columns,
    read: readerOf(columns, source, ["id"]),
    keyOf: ({ id = null }) => [id],
    async write(tx, rows) {
      const withKeys: Row[] = [];
      for (const row of rows) {
        const { id, [keyColumn]: sealed } = row;
        if (typeof id !== "number") throw new Error("A push has no id.");
        withKeys.push({
          ...row,
          row_secret_id: Buffer.isBuffer(sealed) ? await writeKey(tx, id, sealed) : 0,
        });
      }
      await writePushes(tx, withKeys);
    },
  };
}

const updateAnonymousTotal = sql<[]>(
  `UPDATE totals SET bytes =
     (SELECT coalesce(sum(stored_bytes), 0) FROM pushes WHERE ended_at IS NULL AND owner_id IS NULL)
   WHERE name = 'live_anonymous'`,
);

const updateSequences = ["admin_audit_entries", "bulk_endings", "link_secrets"].map((table) =>
  sql<[], { id: number }>(
    `SELECT setval(pg_get_serial_sequence('${table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) AS id FROM ${table}`,
  ),
);

/** Called when all rows are copied: updates SQLite's total of stored bytes, or PostgreSQL's sequences of ids. */
export async function updateDerivedValues(tx: Transaction): Promise<void> {
  switch (tx.engine) {
    case "sqlite":
      await tx.run(updateAnonymousTotal);
      return;
    case "postgres":
      for (const update of updateSequences) await tx.one(update);
      return;
    default:
      tx.engine satisfies never;
  }
}
