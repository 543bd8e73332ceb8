import { isDeepStrictEqual } from "node:util";
import type { Part, RelatedCounts, SourceSnapshot } from "@sealpush/import-password-pusher";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import type { LinkAddress } from "../../crypto/url-token.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, converted, harmless, integer, text } from "../../database/table.ts";
import { isLinkTaken } from "../../pushes/store/find-link.ts";
import { auditKinds } from "../../pushes/stored-values.ts";
import { readParts, writeParts } from "../missing-parts.ts";
import { noRelated } from "../source-values.ts";
import { type Activity, findActivity } from "./activity.ts";

/** `source`: the snapshot of the source, which is recorded with the first row. */
export type ImportedKind = "user" | "push" | "style" | "source";

/** How many rows are recorded. */
export interface RecordedCounts extends RelatedCounts {
  readonly users: number;
  readonly pushes: number;
}

/** What is recorded of a row of the source. */
export interface ImportRecord {
  readonly sourceId: number;
  readonly id: number;
  /** The run that imported it. */
  readonly run: string;
  /** Parts that could not be imported. */
  readonly missingParts: readonly Part[];
  /** The number of related rows that were imported with it. */
  readonly related: RelatedCounts;
}

/** The source as it was when the first of its rows was imported. */
export interface RecordedSnapshot extends SourceSnapshot {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A row that was imported. */
export interface ImportedRow extends ImportRecord {
  /** Whether a user has an account here: it was not deleted since. */
  readonly accountExists: boolean;
}

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

const batchRows = 1_000;
/** A source has one snapshot and one style sheet, without ids of their own. */
const snapshotId = 0;
export const styleSheetId = 0;

/**
 * The rows that were imported from one source. Each is recorded in the transaction that writes it. Functions throw when they
 * find a record that this server did not write.
 */
export class ImportedRows {
  readonly #connection: ReadConnection;
  readonly #access: AccessKeys;
  readonly #source: string;
  /** Set until it is recorded. */
  #newSnapshot: RecordedSnapshot | undefined;

  constructor(connection: ReadConnection, access: AccessKeys, source: string) {
    this.#connection = connection;
    this.#access = access;
    this.#source = source;
  }

  /**
   * @returns `recorded_before`: by an earlier attempt of the same write. `recorded_elsewhere`: by another write, under
   * another id.
   */
  async record(
    tx: Transaction,
    kind: ImportedKind,
    { related, ...deciding }: ImportRecord,
  ): Promise<"recorded" | "recorded_before" | "recorded_elsewhere"> {
    const { sourceId, id, run } = deciding;
    if (this.#newSnapshot !== undefined) await this.#recordSnapshot(tx, this.#newSnapshot, run);
    const row = { ...deciding, source: this.#source, kind, snapshot: "", ...related };
    if ((await insertRow(tx, this.#access, row)) === 1) return "recorded";
    const present = await this.find(kind, sourceId, tx);
    return present?.id === id && present.run === run ? "recorded_before" : "recorded_elsewhere";
  }

  async readSnapshot(connection = this.#connection): Promise<RecordedSnapshot | undefined> {
    const found = await connection.one(rowAt, this.#source, "source", snapshotId);
    return found && JSON.parse(this.#open(found).snapshot);
  }

  /** @param snapshot recorded with the next rows; undefined: it is recorded. */
  setSnapshot(snapshot: RecordedSnapshot | undefined): void {
    this.#newSnapshot = snapshot;
  }

  async find(kind: ImportedKind, sourceId: number, connection = this.#connection): Promise<ImportedRow | undefined> {
    const found = await connection.one(rowAt, this.#source, kind, sourceId);
    return found && this.#open(found);
  }

  /** In the order of the source's ids, in constant memory. */
  async *all(kind: "user" | "push"): AsyncGenerator<ImportedRow, undefined> {
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const batch = await this.#connection.all(rowsAfter, this.#source, kind, last, batchRows);
      // All of them are opened first: a forged id may be one that the source does not have.
      yield* batch.map((row) => this.#open(row));
      last = batch.at(-1)?.rowSourceId ?? last;
      if (batch.length < batchRows) return;
    }
  }

  /** @param run omitted: of all runs. */
  async counts(run = "%"): Promise<RecordedCounts> {
    return (await this.#connection.one(countRows, this.#source, run)) ?? { users: 0, pushes: 0, ...noRelated };
  }

  /** What was done here since. @param time milliseconds since the epoch. Imported rows are older. */
  activitySince = (time: number): Promise<Activity> => findActivity(this.#connection, time);

  #open(row: StoredRow): ImportedRow & { readonly snapshot: string } {
    const opened = reading.open(this.#access, row);
    if (opened === undefined) {
      throw new Error(
        `The record of ${row.rowKind} ${row.rowSourceId} in the table imported_rows was changed in the database, so an import ` +
          "could give rows to another account. The import has stopped: restore a backup from before the change.",
      );
    }
    const { sourceId, id, run, missingParts, snapshot, ...related } = opened;
    return { sourceId, id, run, missingParts, snapshot, related, accountExists: row.accountId !== null };
  }

  /** In the transaction of the first row, which an error undoes: an import that is interrupted before does not bind later ones. */
  async #recordSnapshot(tx: Transaction, snapshot: RecordedSnapshot, run: string): Promise<void> {
    const ids = { source: this.#source, kind: "source", sourceId: snapshotId, id: snapshotId, run };
    const row = { ...ids, missingParts: [], snapshot: JSON.stringify(snapshot), ...noRelated };
    if ((await insertRow(tx, this.#access, row)) === 1) return;
    const { at: _, ...recorded } = (await this.readSnapshot(tx)) ?? { at: 0 };
    const { at: __, ...own } = snapshot;
    if (isDeepStrictEqual(recorded, own)) return;
    throw new Error(
      "Another import has begun meanwhile, and Password Pusher has changed since. Stop it, and run this again.",
    );
  }
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

const activity = sql<[events: number, pushId: number], { auditCount: number; edits: number }>(
  `SELECT audit_count AS "auditCount", (SELECT count(*) FROM audit_entries
     WHERE push_id = pushes.id AND sequence > ? AND kind = ${auditKinds.edit}) AS edits FROM pushes WHERE id = ?`,
);

/** What happened to a push here since it was imported. Only an end by time leaves no event. */
export async function findChanges(connection: ReadConnection, { id, related }: ImportedRow) {
  const found = await connection.one(activity, related.auditEntries, id);
  return { isTouched: found?.auditCount !== related.auditEntries, hasEdits: (found?.edits ?? 0) > 0 };
}

const userByEmail = sql<[email: string], { id: number }>("SELECT id FROM users WHERE email = ?");
const holderOfToken = sql<[digest: Buffer], { userId: number }>(
  "SELECT user_id AS userId FROM api_tokens WHERE digest = ?",
);
const style = sql<[], { content: Buffer }>("SELECT content FROM theme_parts WHERE name = 'style'");

export type Conflicts = ReturnType<typeof createConflicts>;

/** Finds existing data that conflicts with a row of the source, for a dry run. */
export function createConflicts(connection: ReadConnection, access: AccessKeys) {
  return {
    findUserId: async (email: string) => (await connection.one(userByEmail, email))?.id,
    findTokenHolder: async (apiToken: string) =>
      (await connection.one(holderOfToken, access.digest("api_token", apiToken)))?.userId,
    isLinkTaken: (link: LinkAddress) => isLinkTaken(connection, link),
    findStyleSheet: async () => (await connection.one(style))?.content,
  };
}
