import type { RelatedCounts } from "@sealpush/import-password-pusher";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { LinkAddress } from "../../crypto/url-token.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, converted, harmless, integer, nullable, reasons, text } from "../../database/table.ts";
import { firstGeneration } from "../../pushes/seals.ts";
import { isLinkTaken } from "../../pushes/store/find-link.ts";
import { type AspectDigests, readAspects, writeAspects } from "../aspects.ts";
import { type Part, readParts, writeParts } from "../missing-parts.ts";
import { noRelated } from "../source-values.ts";

export type ImportedKind = "user" | "push" | "style";

/** How many rows are recorded. */
export interface RecordedCounts extends RelatedCounts {
  readonly users: number;
  readonly pushes: number;
}

/** The record of a row of the source that was imported. */
export interface ImportedRow {
  readonly sourceId: number;
  readonly id: number;
  /** The run that imported it. */
  readonly run: string;
  /** Parts that could not be imported yet. */
  readonly missingParts: readonly Part[];
  /** A keyed digest of what never changes in the row of the source. */
  readonly identity: string;
  /** The row of the source as it was imported. */
  readonly aspects: AspectDigests;
  /** How many views of a push the source had counted, which are among the views here. */
  readonly views: number;
  /** When the time of a push is over at the source; null: it is no push. */
  readonly expiresAt: number | null;
  /** The number of related rows that were imported with it. */
  readonly related: RelatedCounts;
}

/** The push here as the last run left it. */
export const stateAtImport = ({ id, related, views }: ImportedRow) => ({
  pushId: id,
  importedEvents: related.auditEntries,
  importedViews: views,
});

/** The fields of a record that a later run may change. */
export type RecordChange = Pick<ImportedRow, "missingParts" | "aspects" | "related"> &
  Partial<Pick<ImportedRow, "id" | "identity" | "views" | "expiresAt">>;

/** A user that was imported before. */
export type ImportedUser = ImportedRow & {
  /** The account was not deleted since. */
  readonly accountExists: boolean;
};

/** Another run has changed the record of a row. Rolls back the transaction. */
export class RecordChangedError extends Error {
  override readonly name = "RecordChangedError";
}

/**
 * Authenticated: the ids decide whose account later imports give new pushes to, and the missing parts what they add to an
 * account.
 */
export const importedRows = new AuthenticatedTable("imported_rows", "row", {
  source: authenticated(text),
  kind: authenticated(text),
  sourceId: authenticated(integer),
  id: authenticated(integer),
  run: authenticated(text),
  missingParts: authenticated(converted<readonly Part[], string>({ decode: readParts, encode: writeParts })),
  identity: authenticated(text),
  aspects: authenticated(converted<AspectDigests, string>({ decode: readAspects, encode: writeAspects })),
  views: authenticated(integer),
  expiresAt: harmless(nullable(integer), reasons.limit),
  auditEntries: harmless(integer, "an import whose counts differ stops"),
  notifications: harmless(integer, "an import whose counts differ stops"),
  files: harmless(integer, "an import whose counts differ stops"),
});
const reading = importedRows.reading("expiresAt", "auditEntries", "notifications", "files");
type StoredRow = UnopenedRow<typeof reading>;

const insertRow = importedRows.insertion("ON CONFLICT (source, kind, source_id) DO NOTHING");
// The MAC before covers all that decides, so a record that another run has changed is not found.
const updateRow = sql<
  [
    id: number,
    missingParts: string,
    identity: string,
    aspects: string,
    views: number,
    expiresAt: number | null,
    auditEntries: number,
    notifications: number,
    files: number,
    mac: Buffer,
    source: string,
    kind: string,
    sourceId: number,
    macBefore: Buffer,
  ]
>(
  `UPDATE imported_rows SET id = ?, missing_parts = ?, identity = ?, aspects = ?, views = ?, expires_at = ?,
     audit_entries = ?, notifications = ?, files = ?, mac = ?
   WHERE source = ? AND kind = ? AND source_id = ? AND mac = ?`,
);
const deleteRow = sql<[source: string, kind: string, sourceId: number, mac: Buffer]>(
  "DELETE FROM imported_rows WHERE source = ? AND kind = ? AND source_id = ? AND mac = ?",
);
const rowsAfter = sql<[source: string, kind: string, sourceId: number, limit: number], StoredRow>(
  `SELECT ${reading.selectList} FROM imported_rows
   WHERE source = ? AND kind = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
);
type StoredRecord = StoredRow & { readonly createdAt: number | null };
const recordsAfter = (table: "users" | "pushes", kind: "user" | "push") =>
  sql<[source: string, sourceId: number, limit: number], StoredRecord>(
    `SELECT ${reading.selectList}, ${table}.created_at AS "createdAt"
     FROM imported_rows LEFT JOIN ${table} ON ${table}.id = imported_rows.id
     WHERE imported_rows.source = ? AND imported_rows.kind = '${kind}' AND imported_rows.source_id > ?
     ORDER BY imported_rows.source_id LIMIT ?`,
  );
const recordsAfterOf = { user: recordsAfter("users", "user"), push: recordsAfter("pushes", "push") };
const rowAt = sql<[source: string, kind: string, sourceId: number], StoredRow>(
  `SELECT ${reading.selectList} FROM imported_rows WHERE source = ? AND kind = ? AND source_id = ?`,
);
const userOfOtherSource = sql<[userId: number, source: string], { found: number }>(
  "SELECT 1 AS found FROM imported_rows WHERE kind = 'user' AND id = ? AND source <> ? LIMIT 1",
);
const recordedCounts = `SELECT coalesce(sum(CASE kind WHEN 'user' THEN 1 ELSE 0 END), 0) AS users,
    coalesce(sum(CASE kind WHEN 'push' THEN 1 ELSE 0 END), 0) AS pushes, coalesce(sum(audit_entries), 0) AS auditEntries,
    coalesce(sum(notifications), 0) AS notifications, coalesce(sum(files), 0) AS files
  FROM imported_rows WHERE source = ?`;
const countAll = sql<[source: string], RecordedCounts>(recordedCounts);
const countRun = sql<[source: string, run: string], RecordedCounts>(`${recordedCounts} AND run = ?`);
const countKind = sql<[source: string, kind: string], { count: number }>(
  "SELECT count(*) AS count FROM imported_rows WHERE source = ? AND kind = ?",
);
const presentPushes = `FROM imported_rows JOIN pushes ON pushes.id = imported_rows.id
  WHERE source = ? AND imported_rows.kind = 'push' AND run = ?`;
const sumPushes = sql<[source: string, run: string], { pushes: number; auditEvents: number }>(
  `SELECT count(*) AS pushes, coalesce(sum(audit_count), 0) AS auditEvents ${presentPushes}`,
);
/** In one statement, so that both numbers come from one snapshot. */
const sumFiles = sql<[source: string, run: string, generation: number], { recorded: number; found: number }>(
  `SELECT coalesce(sum(imported_rows.files), 0) AS recorded,
     coalesce(sum((SELECT count(*) FROM files WHERE files.push_id = pushes.id)), 0) AS found
   ${presentPushes} AND ended_at IS NULL AND seal_generation = ?`,
);

const batchRows = 1_000;
const recordChanged = "The record of an imported row has changed.";

export type ImportedRows = ReturnType<typeof createImportedRows>;

/**
 * The rows that were imported from one source. Each is recorded in the transaction that writes it. Functions throw when they
 * find a record that this server did not write.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is older than the rule.
export function createImportedRows(connection: ReadConnection, access: AccessKeys, source: string) {
  function open(row: StoredRow): ImportedRow {
    const opened = reading.open(access, row);
    if (opened === undefined) {
      throw new Error(
        `The record of ${row.rowKind} ${row.rowSourceId} in the table imported_rows was changed in the database, so an import ` +
          "could give rows to another account. The import has stopped: restore a backup from before the change.",
      );
    }
    const { sourceId, id, run, missingParts, identity, aspects, views, expiresAt, ...counts } = opened;
    const { auditEntries, notifications, files } = counts;
    const related = { auditEntries, notifications, files };
    return { sourceId, id, run, missingParts, identity, aspects, views, expiresAt, related };
  }
  const macOf = (kind: ImportedKind, row: ImportedRow) => importedRows.mac(access, { ...row, source, kind });
  const openUser = (row: StoredRecord): ImportedUser => ({ ...open(row), accountExists: row.createdAt !== null });

  /** In the order of the source's ids. */
  async function* records(kind: "user" | "push") {
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const batch = await connection.all(recordsAfterOf[kind], source, last, batchRows);
      for (const row of batch) yield { ...open(row), createdAt: row.createdAt };
      last = batch.at(-1)?.rowSourceId ?? last;
      if (batch.length < batchRows) return;
    }
  }

  return {
    /**
     * @returns `recorded_before`: by an earlier attempt of the same write. `recorded_elsewhere`: by another write, under
     * another id.
     */
    async record(
      tx: Transaction,
      kind: ImportedKind,
      { related, ...deciding }: ImportedRow,
    ): Promise<"recorded" | "recorded_before" | "recorded_elsewhere"> {
      const { sourceId, id, run } = deciding;
      const row = { ...deciding, source, kind, ...related };
      if ((await insertRow(tx, access, row)) === 1) return "recorded";
      const found = await tx.one(rowAt, source, kind, sourceId);
      const present = found && open(found);
      return present?.id === id && present.run === run ? "recorded_before" : "recorded_elsewhere";
    },
    /** @throws RecordChangedError. */
    async updateRecord(tx: Transaction, kind: ImportedKind, before: ImportedRow, change: RecordChange): Promise<void> {
      const after = { ...before, ...change };
      const { auditEntries, notifications, files } = after.related;
      const { id, missingParts, identity, aspects, views } = after;
      const deciding = [id, writeParts(missingParts), identity, writeAspects(aspects), views] as const;
      const values = [...deciding, after.expiresAt, auditEntries, notifications, files, macOf(kind, after)] as const;
      const key = [source, kind, before.sourceId, macOf(kind, before)] as const;
      if ((await tx.run(updateRow, ...values, ...key)) !== 1) throw new RecordChangedError(recordChanged);
    },
    /** @throws RecordChangedError. */
    async deleteRecord(tx: Transaction, kind: ImportedKind, before: ImportedRow): Promise<void> {
      const deleted = await tx.run(deleteRow, source, kind, before.sourceId, macOf(kind, before));
      if (deleted !== 1) throw new RecordChangedError(recordChanged);
    },
    async find(kind: ImportedKind, sourceId: number): Promise<ImportedRow | undefined> {
      const found = await connection.one(rowAt, source, kind, sourceId);
      return found && open(found);
    },
    async findUser(sourceId: number): Promise<ImportedUser | undefined> {
      const [found] = await connection.all(recordsAfterOf.user, source, sourceId - 1, 1);
      return found?.rowSourceId === sourceId ? openUser(found) : undefined;
    },
    /** Whether a user of another source was imported into this account, too. */
    isOfOtherSource: async (read: ReadConnection, userId: number): Promise<boolean> =>
      (await read.one(userOfOtherSource, userId, source)) !== undefined,
    /** By the source's ids. */
    async readUsers(): Promise<ReadonlyMap<number, ImportedUser>> {
      const users = new Map<number, ImportedUser>();
      for await (const { createdAt, ...user } of records("user")) {
        users.set(user.sourceId, { ...user, accountExists: createdAt !== null });
      }
      return users;
    },
    records,
    /**
     * Finds pushes that were imported before, in constant memory: both sides are read in the order of the source's ids.
     * @returns a function whose argument is greater at each call.
     */
    pushFinder(): (sourceId: number) => Promise<ImportedRow | undefined> {
      let batch: readonly ImportedRow[] = [];
      let at = 0;
      let last = Number.MIN_SAFE_INTEGER;
      let isLastBatch = false;
      return async (sourceId) => {
        for (;;) {
          while (at < batch.length && (batch[at]?.sourceId ?? sourceId) < sourceId) at += 1;
          const row = batch[at];
          if (row !== undefined) return row.sourceId === sourceId ? row : undefined;
          if (isLastBatch) return undefined;
          batch = (await connection.all(rowsAfter, source, "push", last, batchRows)).map(open);
          at = 0;
          last = batch.at(-1)?.sourceId ?? last;
          isLastBatch = batch.length < batchRows;
        }
      };
    },
    count: async (kind: ImportedKind) => (await connection.one(countKind, source, kind))?.count ?? 0,
    /** @param run omitted: of all runs. */
    async counts(run?: string): Promise<RecordedCounts> {
      const found = await (run === undefined
        ? connection.one(countAll, source)
        : connection.one(countRun, source, run));
      return found ?? { users: 0, pushes: 0, ...noRelated };
    },
    /** Counts what still exists of the pushes that one run imported. A running server may have ended, edited or deleted some. */
    async countPresent(run: string) {
      const [pushes, files] = await Promise.all([
        connection.one(sumPushes, source, run),
        connection.one(sumFiles, source, run, firstGeneration),
      ]);
      return {
        pushes: pushes?.pushes ?? 0,
        /** Entries of their audit trails, including those written here. */
        auditEntries: pushes?.auditEvents ?? 0,
        /** Files of pushes that are active and unchanged. */
        files: files ?? { recorded: 0, found: 0 },
      };
    },
  };
}

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const holderOfToken = sql<[digest: Buffer], { userId: number }>(
  "SELECT user_id AS userId FROM api_tokens WHERE digest = ?",
);
const style = sql<[], { content: Buffer }>("SELECT content FROM theme_parts WHERE name = 'style'");

export type Conflicts = ReturnType<typeof createConflicts>;

/** Finds existing data that conflicts with a row of the source, for a dry run. */
export function createConflicts(connection: ReadConnection) {
  return {
    findUserId: async (email: string) => (await connection.one(userByEmail, email))?.id,
    findTokenHolder: async (digest: Buffer) => (await connection.one(holderOfToken, digest))?.userId,
    isLinkTaken: (link: LinkAddress) => isLinkTaken(connection, link),
    findStyleSheet: async () => (await connection.one(style))?.content,
  };
}
