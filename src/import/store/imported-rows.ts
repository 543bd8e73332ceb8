import type { Database, Reading, Unit } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import { type Part, readParts, writeParts } from "../lacks.ts";
import { type Holdings, noHoldings } from "../source.ts";

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
  note(unit: Unit, kind: ImportedKind, sourceId: number, row: Omit<ImportedRow, "sourceId">): Promise<boolean>;
  /** Of a row that came in part: what it lacks now, and what came with it in all. @throws Error when it is not as before. */
  renote(
    unit: Unit,
    kind: ImportedKind,
    before: ImportedRow,
    now: Pick<ImportedRow, "lacks" | "holdings">,
  ): Promise<void>;
  /** The next ones in the order of the source's ids. */
  after(kind: ImportedKind, sourceId: number, limit: number): Promise<readonly ImportedRow[]>;
  /** Users with whether they still have an account here, in the order of the source's ids. */
  usersAfter(sourceId: number, limit: number): Promise<readonly (ImportedRow & { readonly stands: boolean })[]>;
  count(kind: ImportedKind): Promise<number>;
  /** What came with all pushes of the source. */
  holdings(): Promise<Holdings>;
  sumsFrom(pushId: number): Promise<ImportedSums>;
}

export interface ImportedRow {
  readonly sourceId: number;
  readonly id: number;
  /** What of it has not come yet; none: it came whole. */
  readonly lacks: readonly Part[];
  /** What came with it. */
  readonly holdings: Holdings;
}

interface RawRow extends Holdings {
  readonly sourceId: number;
  readonly id: number;
  readonly lacks: string;
}

const insertRow = sql<
  [
    source: string,
    kind: string,
    sourceId: number,
    id: number,
    lacks: string,
    auditEntries: number,
    notifications: number,
    files: number,
  ]
>(
  `INSERT INTO imported_rows (source, kind, source_id, id, lacks, audit_events, notifications, files)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, kind, source_id) DO NOTHING`,
);
const updateRow = sql<
  [
    lacks: string,
    auditEntries: number,
    notifications: number,
    files: number,
    source: string,
    kind: string,
    sourceId: number,
    lacksBefore: string,
  ]
>(
  `UPDATE imported_rows SET lacks = ?, audit_events = ?, notifications = ?, files = ?
   WHERE source = ? AND kind = ? AND source_id = ? AND lacks = ?`,
);
const columns = `source_id AS sourceId, imported_rows.id AS id, lacks, audit_events AS auditEntries, notifications, files`;
const rowsAfter = sql<[source: string, kind: string, sourceId: number, limit: number], RawRow>(
  `SELECT ${columns} FROM imported_rows WHERE source = ? AND kind = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
);
const usersAfter = sql<[source: string, sourceId: number, limit: number], RawRow & { stands: number }>(
  `SELECT ${columns}, CASE WHEN EXISTS (SELECT 1 FROM users WHERE users.id = imported_rows.id) THEN 1 ELSE 0 END AS stands
   FROM imported_rows WHERE source = ? AND kind = 'user' AND source_id > ? ORDER BY source_id LIMIT ?`,
);
const countRows = sql<[source: string, kind: string], { count: number }>(
  "SELECT count(*) AS count FROM imported_rows WHERE source = ? AND kind = ?",
);
const sumHoldings = sql<[source: string], Holdings>(
  `SELECT coalesce(sum(audit_events), 0) AS auditEntries, coalesce(sum(notifications), 0) AS notifications,
     coalesce(sum(files), 0) AS files FROM imported_rows WHERE source = ? AND kind = 'push'`,
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

function rowOf({ sourceId, id, lacks, auditEntries, notifications, files }: RawRow): ImportedRow {
  return { sourceId, id, lacks: readParts(lacks), holdings: { auditEntries, notifications, files } };
}

export function createImportedRows(reading: Reading, source: string): ImportedRows {
  return {
    async note(unit, kind, sourceId, { id, lacks, holdings: { auditEntries, notifications, files } }) {
      const values = [source, kind, sourceId, id, writeParts(lacks), auditEntries, notifications, files] as const;
      return (await unit.run(insertRow, ...values)) === 1;
    },
    async renote(unit, kind, before, { lacks, holdings: { auditEntries, notifications, files } }) {
      const values = [writeParts(lacks), auditEntries, notifications, files] as const;
      const changed = await unit.run(updateRow, ...values, source, kind, before.sourceId, writeParts(before.lacks));
      if (changed !== 1)
        throw new Error("Another import of the same installation is running: wait until it has ended.");
    },
    after: async (kind, sourceId, limit) => (await reading.all(rowsAfter, source, kind, sourceId, limit)).map(rowOf),
    async usersAfter(sourceId, limit) {
      const found = await reading.all(usersAfter, source, sourceId, limit);
      return found.map((raw) => ({ ...rowOf(raw), stands: raw.stands === 1 }));
    },
    count: async (kind) => (await reading.one(countRows, source, kind))?.count ?? 0,
    holdings: async () => (await reading.one(sumHoldings, source)) ?? noHoldings,
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
  await db.write((unit) => rows.note(unit, kind, sourceId, { id, lacks: [], holdings: noHoldings }));
}
