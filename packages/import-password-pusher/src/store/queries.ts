import type { SourceCounts } from "../source.ts";
import type { Cell, SourceRecord } from "./source-rows.ts";
import type { SourceTable, SourceTables } from "./source-tables.ts";

/** Each id is a parameter, and drivers limit the number of parameters of a statement. */
const idsPerStatement = 500;
/** Keys are tested only on values up to this length. */
const sampleBytesMax = 65_536;
/** Shared links are held in memory. Beyond this bound, the first push with a link wins. */
const sharedLinksMax = 10_000;

/** The tables that are read in batches, with their columns that may be large. */
const largeColumns = {
  users: ["otp_backup_code_digests", "encrypted_password"],
  pushes: ["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"],
} as const;

const attachedToPushes = "a.record_type = 'Push' AND a.name = 'files'";

/** Rows that belong to a push `p`, which may be missing. */
const related = [
  { kind: "auditEntries", table: "audit_logs", from: "audit_logs l LEFT JOIN pushes p ON p.id = l.push_id" },
  {
    kind: "notifications",
    table: "notify_by_emails",
    from: `notify_by_emails n LEFT JOIN audit_logs l ON l.id = n.audit_log_id
      LEFT JOIN pushes p ON p.id = l.push_id`,
  },
  {
    kind: "files",
    table: "active_storage_attachments",
    from: `active_storage_attachments a LEFT JOIN pushes p ON p.id = a.record_id WHERE ${attachedToPushes}`,
  },
] as const;

/** All queries of the source, in SQL that its three engines understand. Tables are paged by id, in constant memory. */
export class SourceQueries {
  readonly #tables: SourceTables;

  constructor(tables: SourceTables) {
    this.#tables = tables;
  }

  has(table: SourceTable): boolean {
    return this.#tables.has(table);
  }

  /** `id` and these columns of the next rows, in the order of their ids. */
  page(table: "users" | "pushes", columns: readonly string[], afterId: number, limit: number) {
    return this.#all(`SELECT ${["id", ...columns].join(", ")} FROM ${table} WHERE id > ? ORDER BY id LIMIT ${limit}`, [
      afterId,
    ]);
  }

  /** `id` and the `bytes` of the columns that may be large. */
  sizes(table: keyof typeof largeColumns, ids: readonly number[]) {
    const bytes = largeColumns[table]
      .filter((column) => this.#tables.hasColumn(table, column))
      .map((column) => `COALESCE(OCTET_LENGTH(${column}), 0)`)
      .join(" + ");
    return this.#inBatches(ids, (list) => `SELECT id, ${bytes} AS bytes FROM ${table} WHERE id IN ${list}`);
  }

  /** The complete rows whose column `by` has one of these ids. */
  async rows(table: SourceTable, by: "id" | "audit_log_id", ids: readonly number[]) {
    if (!this.has(table)) return [];
    const selection = this.#tables.selection(table);
    return await this.#inBatches(ids, (list) => `${selection} WHERE ${by} IN ${list}`);
  }

  /** `url_token` and the first `id` of links that several pushes have, which is possible without the unique index. */
  sharedLinks() {
    return this.#all(
      `SELECT url_token, MIN(pushes.id) AS id FROM pushes WHERE url_token <> ''
       GROUP BY url_token HAVING COUNT(*) > 1 ORDER BY MIN(pushes.id) LIMIT ${sharedLinksMax}`,
    );
  }

  /** `id` and `value` of a column's newest or oldest encrypted values, without very long ones. */
  async sealedValues(table: SourceTable, column: string, order: "ASC" | "DESC", limit: number) {
    if (!this.#tables.hasColumn(table, column)) return [];
    return await this.#all(
      `SELECT id, ${column} AS value FROM ${table}
       WHERE ${column} <> '' AND OCTET_LENGTH(${column}) <= ${sampleBytesMax} ORDER BY id ${order} LIMIT ${limit}`,
    );
  }

  /**
   * Counts of audit entries: `push_id`, `kind`, `entries`, `first_at`. It counts all kinds: for some kinds only, SQLite scans the
   * index of kinds, which is the whole table.
   */
  entryCounts(pushIds: readonly number[]) {
    return this.#inBatches(
      pushIds,
      (list) =>
        `SELECT push_id, kind, COUNT(*) AS entries, MIN(created_at) AS first_at
         FROM audit_logs WHERE push_id IN ${list} GROUP BY push_id, kind`,
    );
  }

  /** Counts of link deliveries: `push_id`, `entries`. */
  async notificationCounts(pushIds: readonly number[]) {
    if (!this.has("notify_by_emails")) return [];
    return await this.#inBatches(
      pushIds,
      (list) =>
        `SELECT l.push_id, COUNT(*) AS entries FROM audit_logs l JOIN notify_by_emails n ON n.audit_log_id = l.id
         WHERE l.push_id IN ${list} GROUP BY l.push_id`,
    );
  }

  /** The time of a counted view. @param number 1 for the first view. */
  async countedViewAt(pushId: number, number: number): Promise<Cell> {
    const { at = null } = await this.#first(
      `SELECT created_at AS at FROM audit_logs WHERE push_id = ? AND kind IN (1, 2)
       ORDER BY created_at, id LIMIT 1 OFFSET ${number - 1}`,
      [pushId],
    );
    return at;
  }

  auditEntries(pushId: number) {
    return this.#all(`${this.#tables.selection("audit_logs")} WHERE push_id = ? ORDER BY created_at, id`, [pushId]);
  }

  /** With the attachment's id as `attachment_id`. Without a blob its columns are NULL. */
  files(pushIds: readonly number[]) {
    return this.#inBatches(
      pushIds,
      (list) =>
        `SELECT a.id AS attachment_id, a.record_id AS push_id,
           b.key, b.filename, b.content_type, b.byte_size, b.checksum, b.service_name
         FROM active_storage_attachments a LEFT JOIN active_storage_blobs b ON b.id = a.blob_id
         WHERE ${attachedToPushes} AND a.record_id IN ${list} ORDER BY a.id`,
    );
  }

  /** `service_name`, and the number of `files` of pushes in it. */
  services() {
    return this.#all(
      `SELECT b.service_name, COUNT(*) AS files
       FROM active_storage_attachments a LEFT JOIN active_storage_blobs b ON b.id = a.blob_id
       WHERE ${attachedToPushes} GROUP BY b.service_name`,
    );
  }

  /** Counts all rows, and those of them that belong to pushes which are not in the database. */
  async counts(): Promise<SourceCounts> {
    const [users, pushes] = [await this.#count("FROM users"), await this.#count("FROM pushes")];
    const all = { auditEntries: 0, notifications: 0, files: 0 };
    const withoutPush = { ...all };
    for (const { kind, table, from } of related) {
      if (!this.has(table)) continue;
      const counts = await this.#first(`SELECT COUNT(*) AS entries, COUNT(p.id) AS present FROM ${from}`);
      all[kind] = Number(counts.entries);
      withoutPush[kind] = all[kind] - Number(counts.present);
    }
    return { users, pushes, ...all, withoutPush };
  }

  /** `entries`, `greatest_id` and `newest`, the time of the last change. */
  tableState(table: SourceTable): Promise<SourceRecord> {
    const newest = this.#tables.hasColumn(table, "updated_at") ? "MAX(updated_at)" : "NULL";
    return this.#first(`SELECT COUNT(*) AS entries, MAX(id) AS greatest_id, ${newest} AS newest FROM ${table}`);
  }

  /** Counts the rows up to an id, and those of them that were changed after a time. */
  async countUpTo(table: SourceTable, id: string, changedAfter: string | null) {
    const from = `FROM ${table} WHERE id <= ?`;
    return {
      present: await this.#count(from, [id]),
      changed: changedAfter === null ? 0 : await this.#count(`${from} AND updated_at > ?`, [id, changedAfter]),
    };
  }

  async customCss(): Promise<Cell> {
    return (await this.#keyed("site_settings", "custom_css")).value ?? null;
  }

  /** When the database was created, to the microsecond. It is the same in every copy. */
  async createdAt(): Promise<Cell> {
    return (await this.#keyed("ar_internal_metadata", "environment")).created_at ?? null;
  }

  async firstUser(): Promise<SourceRecord | undefined> {
    return (await this.#all(`${this.#tables.selection("users")} ORDER BY id LIMIT 1`))[0];
  }

  #all(statement: string, parameters: readonly (string | number)[] = []): Promise<readonly SourceRecord[]> {
    return this.#tables.rows.all(statement, parameters);
  }

  /** The first row; an empty record if there is none. */
  async #first(statement: string, parameters: readonly (string | number)[] = []): Promise<SourceRecord> {
    return (await this.#all(statement, parameters))[0] ?? {};
  }

  /** @param statement gets the list of ids in brackets. */
  async #inBatches(ids: readonly number[], statement: (list: string) => string): Promise<readonly SourceRecord[]> {
    const found: SourceRecord[] = [];
    for (let start = 0; start < ids.length; start += idsPerStatement) {
      const batch = ids.slice(start, start + idsPerStatement);
      found.push(...(await this.#all(statement(`(${batch.map(() => "?").join(", ")})`), batch)));
    }
    return found;
  }

  async #count(from: string, parameters: readonly string[] = []): Promise<number> {
    return Number((await this.#first(`SELECT COUNT(*) AS entries ${from}`, parameters)).entries);
  }

  /** @param key no text of an operator. */
  async #keyed(table: "site_settings" | "ar_internal_metadata", key: string): Promise<SourceRecord> {
    if (!this.has(table)) return {};
    // Without the table, MySQL takes `key` for a reserved word.
    return await this.#first(`${this.#tables.selection(table)} WHERE ${table}.key = '${key}'`);
  }
}
