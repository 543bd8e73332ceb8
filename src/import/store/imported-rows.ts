import type { Database, Reading, Unit } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";

export type ImportedKind = "user" | "push" | "style";

/** Of pushes that came in from one source, their ids from some id on. */
export interface ImportedSums {
  readonly pushes: number;
  /** Events of their trails, those that happened here since included. */
  readonly auditEvents: number;
  readonly files: number;
}

/** What came in from one source, noted in the units that wrote it. */
export interface ImportedRows {
  /** @returns false when it is noted already. */
  note(unit: Unit, kind: ImportedKind, sourceId: number, id: number): Promise<boolean>;
  /** The next ones in the order of the source's ids. */
  after(kind: ImportedKind, sourceId: number, limit: number): Promise<readonly ImportedRow[]>;
  /** Users with whether they still have an account here, in the order of the source's ids. */
  usersAfter(sourceId: number, limit: number): Promise<readonly (ImportedRow & { readonly stands: number })[]>;
  count(kind: ImportedKind): Promise<number>;
  sumsFrom(pushId: number): Promise<ImportedSums>;
}

export interface ImportedRow {
  readonly sourceId: number;
  readonly id: number;
}

const insertRow = sql<[source: string, kind: string, sourceId: number, id: number]>(
  `INSERT INTO imported_rows (source, kind, source_id, id) VALUES (?, ?, ?, ?)
   ON CONFLICT (source, kind, source_id) DO NOTHING`,
);
const rowsAfter = sql<[source: string, kind: string, sourceId: number, limit: number], ImportedRow>(
  `SELECT source_id AS sourceId, id FROM imported_rows WHERE source = ? AND kind = ? AND source_id > ?
   ORDER BY source_id LIMIT ?`,
);
const usersAfter = sql<[source: string, sourceId: number, limit: number], ImportedRow & { stands: number }>(
  `SELECT source_id AS sourceId, imported_rows.id AS id,
     CASE WHEN EXISTS (SELECT 1 FROM users WHERE users.id = imported_rows.id) THEN 1 ELSE 0 END AS stands
   FROM imported_rows WHERE source = ? AND kind = 'user' AND source_id > ? ORDER BY source_id LIMIT ?`,
);
const countRows = sql<[source: string, kind: string], { count: number }>(
  "SELECT count(*) AS count FROM imported_rows WHERE source = ? AND kind = ?",
);
const sums = sql<[source: string, pushId: number], { pushes: number; auditEvents: number }>(
  `SELECT count(*) AS pushes, coalesce(sum(audit_count), 0) AS auditEvents
   FROM imported_rows JOIN pushes ON pushes.id = imported_rows.id
   WHERE source = ? AND imported_rows.kind = 'push' AND imported_rows.id >= ?`,
);
const fileCount = sql<[source: string, pushId: number], { files: number }>(
  `SELECT count(*) AS files FROM imported_rows JOIN files ON files.push_id = imported_rows.id
   WHERE source = ? AND imported_rows.kind = 'push' AND imported_rows.id >= ?`,
);

export function createImportedRows(reading: Reading, source: string): ImportedRows {
  return {
    note: async (unit, kind, sourceId, id) => (await unit.run(insertRow, source, kind, sourceId, id)) === 1,
    after: (kind, sourceId, limit) => reading.all(rowsAfter, source, kind, sourceId, limit),
    usersAfter: (sourceId, limit) => reading.all(usersAfter, source, sourceId, limit),
    count: async (kind) => (await reading.one(countRows, source, kind))?.count ?? 0,
    async sumsFrom(pushId) {
      const [counted, files] = await Promise.all([
        reading.one(sums, source, pushId),
        reading.one(fileCount, source, pushId),
      ]);
      return { pushes: counted?.pushes ?? 0, auditEvents: counted?.auditEvents ?? 0, files: files?.files ?? 0 };
    },
  };
}

/** A unit of its own. */
export async function noteAlone(
  db: Database,
  rows: ImportedRows,
  kind: ImportedKind,
  sourceId: number,
  id: number,
): Promise<void> {
  await db.write((unit) => rows.note(unit, kind, sourceId, id));
}
