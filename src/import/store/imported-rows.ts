import type { Database, ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { firstGeneration } from "../../pushes/seals.ts";
import { type Part, readParts, writeParts } from "../lacks.ts";
import { type Holdings, noHoldings } from "../source.ts";

export type ImportedKind = "user" | "push" | "style";

/** How many rows are noted. */
export interface NotedCounts extends Holdings {
  readonly users: number;
  readonly pushes: number;
}

/** What stands here of the pushes that one run brought. A server that runs meanwhile ends, edits and forgets some. */
export interface Standing {
  readonly pushes: number;
  /** Events of their trails, those that happened here since included. */
  readonly auditEvents: number;
  /** Of those that are open and unchanged. */
  readonly files: { readonly noted: number; readonly found: number };
}

/** Another run has changed what is noted of a row; undoes the transaction. */
export class NoteChangedError extends Error {
  override readonly name = "NoteChangedError";
}

/** `already`: by an earlier try of the same write. `other`: under another id, by another write. */
type Noted = "now" | "already" | "other";

/** What came in from one source, noted in the transactions that wrote it. */
export interface ImportedRows {
  note(tx: Transaction, kind: ImportedKind, sourceId: number, row: Omit<ImportedRow, "sourceId">): Promise<Noted>;
  /** Of a row that came in part: what it lacks now, and what came with it in all. @throws NoteChangedError. */
  renote(
    tx: Transaction,
    kind: ImportedKind,
    before: ImportedRow,
    now: Pick<ImportedRow, "lacks" | "holdings">,
  ): Promise<void>;
  /** The next ones in the order of the source's ids. */
  after(kind: ImportedKind, sourceId: number, limit: number): Promise<readonly ImportedRow[]>;
  /** Users with whether they still have an account here, in the order of the source's ids. */
  usersAfter(sourceId: number, limit: number): Promise<readonly (ImportedRow & { readonly stands: boolean })[]>;
  find(kind: ImportedKind, sourceId: number): Promise<ImportedRow | undefined>;
  count(kind: ImportedKind): Promise<number>;
  /** @param run not given: all of the source. */
  counts(run?: string): Promise<NotedCounts>;
  standingOf(run: string): Promise<Standing>;
}

export interface ImportedRow {
  readonly sourceId: number;
  readonly id: number;
  /** The run that brought it. */
  readonly run: string;
  /** What of it has not come yet; none: it came whole. */
  readonly lacks: readonly Part[];
  /** What came with it. */
  readonly holdings: Holdings;
}

interface RawRow extends Holdings {
  readonly sourceId: number;
  readonly id: number;
  readonly run: string;
  readonly lacks: string;
}

const insertRow = sql<
  [
    source: string,
    kind: string,
    sourceId: number,
    id: number,
    run: string,
    lacks: string,
    auditEntries: number,
    notifications: number,
    files: number,
  ]
>(
  `INSERT INTO imported_rows (source, kind, source_id, id, run, missing_parts, audit_entries, notifications, files)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, kind, source_id) DO NOTHING`,
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
  `UPDATE imported_rows SET missing_parts = ?, audit_entries = ?, notifications = ?, files = ?
   WHERE source = ? AND kind = ? AND source_id = ? AND missing_parts = ?`,
);
const columns = `source_id AS sourceId, imported_rows.id AS id, run, missing_parts AS lacks, audit_entries AS auditEntries, notifications, files`;
const rowsAfter = sql<[source: string, kind: string, sourceId: number, limit: number], RawRow>(
  `SELECT ${columns} FROM imported_rows WHERE source = ? AND kind = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
);
const usersAfter = sql<[source: string, sourceId: number, limit: number], RawRow & { stands: number }>(
  `SELECT ${columns}, CASE WHEN EXISTS (SELECT 1 FROM users WHERE users.id = imported_rows.id) THEN 1 ELSE 0 END AS stands
   FROM imported_rows WHERE source = ? AND kind = 'user' AND source_id > ? ORDER BY source_id LIMIT ?`,
);
const rowAt = sql<[source: string, kind: string, sourceId: number], RawRow>(
  `SELECT ${columns} FROM imported_rows WHERE source = ? AND kind = ? AND source_id = ?`,
);
const noted = `SELECT coalesce(sum(CASE kind WHEN 'user' THEN 1 ELSE 0 END), 0) AS users,
    coalesce(sum(CASE kind WHEN 'push' THEN 1 ELSE 0 END), 0) AS pushes, coalesce(sum(audit_entries), 0) AS auditEntries,
    coalesce(sum(notifications), 0) AS notifications, coalesce(sum(files), 0) AS files
  FROM imported_rows WHERE source = ?`;
const countAll = sql<[source: string], NotedCounts>(noted);
const countRun = sql<[source: string, run: string], NotedCounts>(`${noted} AND run = ?`);
const countKind = sql<[source: string, kind: string], { count: number }>(
  "SELECT count(*) AS count FROM imported_rows WHERE source = ? AND kind = ?",
);
const standing = `FROM imported_rows JOIN pushes ON pushes.id = imported_rows.id
  WHERE source = ? AND imported_rows.kind = 'push' AND run = ?`;
const sumPushes = sql<[source: string, run: string], { pushes: number; auditEvents: number }>(
  `SELECT count(*) AS pushes, coalesce(sum(audit_count), 0) AS auditEvents ${standing}`,
);
/** In one statement, so that both numbers are of the same moment. */
const sumFiles = sql<[source: string, run: string, generation: number], { noted: number; found: number }>(
  `SELECT coalesce(sum(imported_rows.files), 0) AS noted,
     coalesce(sum((SELECT count(*) FROM files WHERE files.push_id = pushes.id)), 0) AS found
   ${standing} AND ended_at IS NULL AND seal_generation = ?`,
);

function rowOf({ sourceId, id, run, lacks, auditEntries, notifications, files }: RawRow): ImportedRow {
  return { sourceId, id, run, lacks: readParts(lacks), holdings: { auditEntries, notifications, files } };
}

export function createImportedRows(reading: ReadConnection, source: string): ImportedRows {
  return {
    async note(tx, kind, sourceId, { id, run, lacks, holdings: { auditEntries, notifications, files } }) {
      const values = [source, kind, sourceId, id, run, writeParts(lacks), auditEntries, notifications, files] as const;
      if ((await tx.run(insertRow, ...values)) === 1) return "now";
      const present = await tx.one(rowAt, source, kind, sourceId);
      return present?.id === id && present.run === run ? "already" : "other";
    },
    async renote(tx, kind, before, { lacks, holdings: { auditEntries, notifications, files } }) {
      const values = [writeParts(lacks), auditEntries, notifications, files] as const;
      const changed = await tx.run(updateRow, ...values, source, kind, before.sourceId, writeParts(before.lacks));
      if (changed !== 1) throw new NoteChangedError("What is noted of an imported row has changed.");
    },
    after: async (kind, sourceId, limit) => (await reading.all(rowsAfter, source, kind, sourceId, limit)).map(rowOf),
    async usersAfter(sourceId, limit) {
      const found = await reading.all(usersAfter, source, sourceId, limit);
      return found.map((raw) => ({ ...rowOf(raw), stands: raw.stands === 1 }));
    },
    async find(kind, sourceId) {
      const found = await reading.one(rowAt, source, kind, sourceId);
      return found && rowOf(found);
    },
    count: async (kind) => (await reading.one(countKind, source, kind))?.count ?? 0,
    async counts(run) {
      const found = await (run === undefined ? reading.one(countAll, source) : reading.one(countRun, source, run));
      return found ?? { users: 0, pushes: 0, ...noHoldings };
    },
    async standingOf(run) {
      const [pushes, files] = await Promise.all([
        reading.one(sumPushes, source, run),
        reading.one(sumFiles, source, run, firstGeneration),
      ]);
      return { ...(pushes ?? { pushes: 0, auditEvents: 0 }), files: files ?? { noted: 0, found: 0 } };
    },
  };
}

/** A transaction of its own. @returns false when it is noted already. */
export async function noteAlone(
  db: Database,
  rows: ImportedRows,
  kind: ImportedKind,
  { sourceId, id, run }: Pick<ImportedRow, "sourceId" | "id" | "run">,
): Promise<boolean> {
  const noted = await db.write((tx) => rows.note(tx, kind, sourceId, { id, run, lacks: [], holdings: noHoldings }));
  return noted === "now";
}
