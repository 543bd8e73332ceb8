import { isDeepStrictEqual } from "node:util";
import type { Part, RelatedCounts, SourceCounts, SourceSnapshot } from "@sealpush/import-password-pusher";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, converted, harmless, integer, text } from "../../database/table.ts";
import { auditKinds, endReasons } from "../../pushes/stored-values.ts";
import { noRelated, readParts, writeParts } from "../source-values.ts";

/** `source`: the snapshot of the source, which is recorded with the first row. */
export type ImportedKind = "user" | "push" | "style" | "source";

type RecordedCounts = Omit<SourceCounts, "withoutPush">;

export interface ImportRecord {
  readonly sourceId: number;
  readonly id: number;
  readonly run: string;
  readonly missingParts: readonly Part[];
  /** The number of related rows that were imported with it. */
  readonly related: RelatedCounts;
}

/** The source as it was when the first of its rows was imported: `at` in milliseconds since the epoch. */
export type RecordedSnapshot = SourceSnapshot & { readonly at: number };

/** `accountExists`: a user has an account here, which was not deleted since. */
export type ImportedRow = ImportRecord & { readonly accountExists: boolean };

/**
 * Authenticated: the ids decide whose account later imports give new pushes to, and the snapshot whether they may.
 */
export const importedRows = new AuthenticatedTable("imported_rows", "row", {
  source: authenticated(text),
  kind: authenticated(text),
  sourceId: authenticated(integer),
  id: authenticated(integer),
  run: authenticated(text),
  missingParts: authenticated(converted<readonly Part[], string>({ decode: readParts, encode: writeParts })),
  /** JSON; "": the row is no snapshot. */
  snapshot: authenticated(text),
  auditEntries: harmless(integer, "an import whose counts differ stops"),
  notifications: harmless(integer, "an import whose counts differ stops"),
  files: harmless(integer, "an import whose counts differ stops"),
});
const reading = importedRows.reading("auditEntries", "notifications", "files");
type StoredRow = UnopenedRow<typeof reading> & { readonly accountId: number | null };

const insertRow = importedRows.insertion("ON CONFLICT (source, kind, source_id) DO NOTHING");
const selectRows = `SELECT ${reading.selectList}, users.id AS "accountId"
  FROM imported_rows LEFT JOIN users ON users.id = imported_rows.id AND imported_rows.kind = 'user'
  WHERE imported_rows.source = ? AND imported_rows.kind = ?`;
const rowsAfter = sql<[source: string, kind: string, sourceId: number, limit: number], StoredRow>(
  `${selectRows} AND imported_rows.source_id > ? ORDER BY imported_rows.source_id LIMIT ?`,
);
const rowAt = sql<[source: string, kind: string, sourceId: number], StoredRow>(
  `${selectRows} AND imported_rows.source_id = ?`,
);
const countRows = sql<[source: string, run: string], RecordedCounts>(
  `SELECT coalesce(sum(CASE kind WHEN 'user' THEN 1 ELSE 0 END), 0) AS users,
    coalesce(sum(CASE kind WHEN 'push' THEN 1 ELSE 0 END), 0) AS pushes, coalesce(sum(audit_entries), 0) AS auditEntries,
    coalesce(sum(notifications), 0) AS notifications, coalesce(sum(files), 0) AS files
   FROM imported_rows WHERE source = ? AND run LIKE ?`,
);

/** What people did in this installation, by the noun that is counted. Pushes without an owner have no audit entries. */
export type Activity = Readonly<Record<string, number>>;

const activity = sql<number[], Activity>(
  `SELECT
     (SELECT coalesce(sum(times), 0) FROM audit_entries WHERE kind = ${auditKinds.view} AND created_at >= ?) AS view,
     (SELECT count(*) FROM audit_entries WHERE kind = ${auditKinds.edit} AND created_at >= ?) AS edit,
     (SELECT count(*) FROM imported_links JOIN pushes ON pushes.id = imported_links.push_id
       WHERE ended_at >= ? AND end_reason <> ${endReasons.time}) AS "ended push",
     (SELECT count(*) FROM imported_rows WHERE kind = 'user'
       AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = imported_rows.id)) AS "deleted account",
     (SELECT count(*) FROM users WHERE last_signed_in_at >= ?) AS "sign-in",
     (SELECT count(*) FROM pushes WHERE created_at >= ?
       AND NOT EXISTS (SELECT 1 FROM imported_links WHERE imported_links.push_id = pushes.id))
     + (SELECT count(*) FROM users WHERE created_at >= ?)
     + (SELECT count(*) FROM requests WHERE created_at >= ?) AS "new row"`,
);

const batchRows = 1_000;
/** A source has one snapshot and one style sheet, without ids of their own. */
const snapshotId = 0;
export const styleSheetId = 0;

function open(access: AccessKeys, row: StoredRow): ImportedRow & { readonly snapshot: string } {
  const opened = reading.open(access, row);
  if (opened === undefined) {
    throw new Error(
      `The record of ${row.rowKind} ${row.rowSourceId} in the table imported_rows was changed in the database, so an import ` +
        "could give rows to another account. The import has stopped: restore a backup from before the change.",
    );
  }
  const { sourceId, id, run, missingParts, snapshot, ...related } = opened;
  return { sourceId, id, run, missingParts, snapshot, related, accountExists: row.accountId !== null };
}

/**
 * The rows that were imported from one source. Each is recorded in the transaction that writes it. Functions throw when they
 * find a record that this server did not write.
 */
export function createImportedRows(read: ReadConnection, access: AccessKeys, source: string) {
  /** Set until it is recorded. */
  let newSnapshot: RecordedSnapshot | undefined;

  async function find(kind: ImportedKind, sourceId: number, connection = read) {
    const found = await connection.one(rowAt, source, kind, sourceId);
    return found && open(access, found);
  }

  async function readSnapshot(connection = read): Promise<RecordedSnapshot | undefined> {
    const found = await find("source", snapshotId, connection);
    return found && JSON.parse(found.snapshot);
  }

  /** In the transaction of the first row, which an error undoes: an import that is interrupted before does not bind later ones. */
  async function recordSnapshot(tx: Transaction, snapshot: RecordedSnapshot, run: string): Promise<void> {
    const ids = { source, kind: "source", sourceId: snapshotId, id: snapshotId, run };
    const row = { ...ids, missingParts: [], snapshot: JSON.stringify(snapshot), ...noRelated };
    if ((await insertRow(tx, access, row)) === 1) return;
    const recorded = await readSnapshot(tx);
    if (isDeepStrictEqual({ ...recorded, at: 0 }, { ...snapshot, at: 0 })) return;
    throw new Error(
      "Another import has begun meanwhile, and Password Pusher has changed since. Stop it, and run this again.",
    );
  }

  return {
    find,
    readSnapshot,
    /** See `RecordImport`. */
    async record(tx: Transaction, kind: ImportedKind, { related, ...deciding }: ImportRecord) {
      const { sourceId, id, run } = deciding;
      if (newSnapshot !== undefined) await recordSnapshot(tx, newSnapshot, run);
      if ((await insertRow(tx, access, { ...deciding, source, kind, snapshot: "", ...related })) === 1)
        return "recorded";
      const present = await find(kind, sourceId, tx);
      return present?.id === id && present.run === run ? "recorded_before" : "recorded_elsewhere";
    },
    /** @param snapshot recorded with the next rows; undefined: it is recorded. */
    setSnapshot(snapshot: RecordedSnapshot | undefined): void {
      newSnapshot = snapshot;
    },
    /** In the order of the source's ids, in constant memory. */
    async *all(kind: "user" | "push"): AsyncGenerator<ImportedRow, undefined> {
      for (let last = Number.MIN_SAFE_INTEGER; ; ) {
        const batch = await read.all(rowsAfter, source, kind, last, batchRows);
        // All of them are opened first: a forged id may be one that the source does not have.
        yield* batch.map((row) => open(access, row));
        last = batch.at(-1)?.rowSourceId ?? last;
        if (batch.length < batchRows) return;
      }
    },
    /** @param run omitted: of all runs. */
    async counts(run = "%"): Promise<RecordedCounts> {
      return (await read.one(countRows, source, run)) ?? { users: 0, pushes: 0, ...noRelated };
    },
    /** What was done here since. @param time milliseconds since the epoch. Imported rows are older. */
    async activitySince(time: number): Promise<Activity> {
      return (await read.one(activity, time, time, time, time, time, time, time)) ?? {};
    },
  };
}

/** Adds to each row of the source its record: both are in the order of the source's ids. */
export async function* withRecords<Row extends { readonly id: number }>(
  rows: AsyncIterable<Row>,
  records: AsyncGenerator<ImportedRow, undefined>,
): AsyncGenerator<{ readonly row: Row; readonly imported: ImportedRow | undefined }> {
  let next = (await records.next()).value;
  for await (const row of rows) {
    while (next !== undefined && next.sourceId < row.id) next = (await records.next()).value;
    yield { row, imported: next?.sourceId === row.id ? next : undefined };
  }
}

const changesOfPush = sql<[events: number, pushId: number], { auditCount: number; edits: number }>(
  `SELECT audit_count AS "auditCount", (SELECT count(*) FROM audit_entries
     WHERE push_id = pushes.id AND sequence > ? AND kind = ${auditKinds.edit}) AS edits FROM pushes WHERE id = ?`,
);

/** What happened to a push here since it was imported. Only an end by time leaves no event. */
export async function findChanges(connection: ReadConnection, { id, related }: ImportedRow) {
  const found = await connection.one(changesOfPush, related.auditEntries, id);
  return { isTouched: found?.auditCount !== related.auditEntries, hasEdits: (found?.edits ?? 0) > 0 };
}

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const holderOfToken = sql<[digest: Buffer], { userId: number }>(
  "SELECT user_id AS userId FROM api_tokens WHERE digest = ?",
);
const style = sql<[], { content: Buffer }>("SELECT content FROM theme_parts WHERE name = 'style'");

/** Existing data that conflicts with a row of the source, for a dry run. */
export const conflicts = {
  findUserId: async (read: ReadConnection, email: string) => (await read.one(userByEmail, email))?.id,
  findTokenHolder: async (read: ReadConnection, digest: Buffer) => (await read.one(holderOfToken, digest))?.userId,
  findStyleSheet: async (read: ReadConnection) => (await read.one(style))?.content,
};
