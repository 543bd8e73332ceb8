import type { LockboxColumn } from "../lockbox.ts";
import type { Cell, SourceRecord } from "./source-rows.ts";
import type { SourceTable, SourceTables } from "./source-tables.ts";

/** Each id is a parameter, and drivers limit the number of parameters of a statement. */
const idsPerStatement = 500;
/** Keys are tested only on values up to this length. */
const sampleBytesMax = 65_536;
/** Shared links are held in memory. Beyond this bound, the first push with a link wins. */
const sharedLinksMax = 10_000;

const blobColumns = ["key", "filename", "content_type", "byte_size", "checksum", "service_name"];

type CountedTable = "users" | "pushes" | "audit_logs" | "notify_by_emails" | "files";

/**
 * All queries of the source, in SQL that its three engines understand. Tables are paged by id, in constant memory. A row that is
 * read by its size has `id` and the `bytes` of the columns that may be large.
 */
export class SourceQueries {
  readonly #tables: SourceTables;

  constructor(tables: SourceTables) {
    this.#tables = tables;
  }

  readonly has = (table: SourceTable) => this.#tables.has(table);

  readonly userIdentities = (afterId: number, limit: number) =>
    this.#columnsAfter(
      "users",
      ["created_at", "updated_at", "email", "authentication_token", "encrypted_password"],
      afterId,
      limit,
    );
  readonly userConfirmations = (afterId: number, limit: number) =>
    this.#columnsAfter("users", ["created_at", "confirmed_at"], afterId, limit);
  readonly userIds = (afterId: number, limit: number) => this.#columnsAfter("users", [], afterId, limit);
  readonly userSizes = (ids: readonly number[]) =>
    this.#sizes("users", ["otp_backup_code_digests", "encrypted_password"], ids);
  readonly users = (ids: readonly number[]) =>
    this.#inBatches(ids, (list) => `${this.#tables.selection("users")} WHERE id IN ${list}`);

  readonly pushIdentities = (afterId: number, limit: number) =>
    this.#columnsAfter("pushes", ["created_at", "updated_at", "url_token"], afterId, limit);
  readonly pushIds = (afterId: number, limit: number) => this.#columnsAfter("pushes", [], afterId, limit);
  readonly pushSizes = (ids: readonly number[]) =>
    this.#sizes("pushes", ["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"], ids);
  readonly pushes = (ids: readonly number[]) =>
    this.#inBatches(ids, (list) => `${this.#tables.selection("pushes")} WHERE id IN ${list}`);

  /** `url_token` and the first `id` of links that several pushes have, which is possible without the unique index. */
  readonly sharedLinks = () => {
    const [pushes, token] = [this.#tables.name("pushes"), this.#tables.column("url_token")];
    return this.#all(
      `SELECT ${this.#text(token)} AS url_token, ${this.#text(`MIN(${pushes}.id)`)} AS id FROM ${pushes}
       WHERE ${token} <> '' GROUP BY ${token} HAVING COUNT(*) > 1 ORDER BY MIN(${pushes}.id) LIMIT ${sharedLinksMax}`,
    );
  };

  /** `id` and `value` of a column's newest or oldest encrypted values, without very long ones. */
  readonly sealedValues = async ({ table, column }: LockboxColumn, order: "ASC" | "DESC", limit: number) => {
    if (!this.#tables.hasColumn(table, column)) return [];
    const [name, value] = [this.#tables.name(table), this.#tables.column(column)];
    return await this.#all(
      `SELECT ${this.#text("id")} AS id, ${this.#text(value)} AS value FROM ${name}
       WHERE ${value} <> '' AND OCTET_LENGTH(${value}) <= ${sampleBytesMax}
       ORDER BY ${name}.id ${order} LIMIT ${limit}`,
    );
  };

  /**
   * Counts of audit entries: `push_id`, `kind`, `entries`, `first_at`. It counts all kinds: for some kinds only, SQLite scans the
   * index of kinds, which is the whole table.
   */
  readonly entryCounts = (pushIds: readonly number[]) =>
    this.#inBatches(
      pushIds,
      (list) =>
        `SELECT ${this.#text("push_id")} AS push_id, ${this.#text("kind")} AS kind, ${this.#text("COUNT(*)")} AS entries,
           ${this.#text("MIN(created_at)")} AS first_at
         FROM ${this.#tables.name("audit_logs")} WHERE push_id IN ${list} GROUP BY push_id, kind`,
    );

  /** Counts of link deliveries: `push_id`, `entries`. */
  readonly notificationCounts = async (pushIds: readonly number[]) => {
    if (!this.has("notify_by_emails")) return [];
    return await this.#inBatches(
      pushIds,
      (list) =>
        `SELECT ${this.#text("l.push_id")} AS push_id, ${this.#text("COUNT(*)")} AS entries
         FROM ${this.#tables.name("audit_logs")} l JOIN ${this.#tables.name("notify_by_emails")} n ON n.audit_log_id = l.id
         WHERE l.push_id IN ${list} GROUP BY l.push_id`,
    );
  };

  /** The time of a counted view. @param number 1 for the first view. */
  readonly countedViewAt = async (pushId: number, number: number): Promise<Cell> => {
    const entries = this.#tables.name("audit_logs");
    const { at = null } = await this.#first(
      `SELECT ${this.#text("created_at")} AS at FROM ${entries} WHERE push_id = ? AND kind IN (1, 2)
       ORDER BY ${entries}.created_at, id LIMIT 1 OFFSET ${number - 1}`,
      [pushId],
    );
    return at;
  };

  readonly auditEntries = (pushId: number) => {
    const entries = this.#tables.name("audit_logs");
    return this.#all(
      `${this.#tables.selection("audit_logs")} WHERE push_id = ? ORDER BY ${entries}.created_at, ${entries}.id`,
      [pushId],
    );
  };

  readonly notifications = async (auditIds: readonly number[]) => {
    if (!this.has("notify_by_emails")) return [];
    const selection = this.#tables.selection("notify_by_emails");
    return await this.#inBatches(auditIds, (list) => `${selection} WHERE audit_log_id IN ${list}`);
  };

  /** With the attachment's id as `attachment_id`. Without a blob its columns are NULL. */
  readonly files = (pushIds: readonly number[]) => {
    const { column } = this.#tables;
    const columns = [
      `${this.#text(`a.${column("id")}`)} AS attachment_id`,
      `${this.#text(`a.${column("record_id")}`)} AS push_id`,
      ...blobColumns.map((name) => `${this.#text(column(name, "b"))} AS ${column(name)}`),
    ];
    return this.#inBatches(
      pushIds,
      (list) =>
        `SELECT ${columns.join(", ")} ${this.#attachedToPushes()} AND a.${column("record_id")} IN ${list}
         ORDER BY a.${column("id")}`,
    );
  };

  /** `service_name`, and the number of `files` of pushes in it. */
  readonly services = () => {
    const service = `b.${this.#tables.column("service_name")}`;
    return this.#all(
      `SELECT ${this.#text(service)} AS service_name, ${this.#text("COUNT(*)")} AS files ${this.#attachedToPushes()}
       GROUP BY ${service}`,
    );
  };

  async count(table: CountedTable): Promise<number> {
    if (table === "files") return await this.#countFrom(this.#attachedToPushes());
    return this.has(table) ? await this.#countFrom(`FROM ${this.#tables.name(table)}`) : 0;
  }

  /** Counts rows whose push is not in the database. */
  async countWithoutPush(table: Exclude<CountedTable, "users" | "pushes">): Promise<number> {
    const { name, column } = this.#tables;
    const hasNoPush = (id: string) => `NOT EXISTS (SELECT 1 FROM ${name("pushes")} p WHERE p.id = ${id})`;
    if (table === "files") {
      return await this.#countFrom(`${this.#attachedToPushes()} AND ${hasNoPush(`a.${column("record_id")}`)}`);
    }
    if (!this.has(table)) return 0;
    const from =
      table === "audit_logs"
        ? `${name("audit_logs")} l`
        : `${name("notify_by_emails")} n LEFT JOIN ${name("audit_logs")} l ON l.id = n.audit_log_id`;
    return await this.#countFrom(`FROM ${from} WHERE ${hasNoPush("l.push_id")}`);
  }

  /** `entries`, `greatest_id` and `newest`, the time of the last change. */
  tableState(table: SourceTable): Promise<SourceRecord> {
    const { name, column, hasColumn } = this.#tables;
    const newest = hasColumn(table, "updated_at") ? this.#text(`MAX(${column("updated_at")})`) : "NULL";
    return this.#first(
      `SELECT ${this.#text("COUNT(*)")} AS entries, ${this.#text(`MAX(${column("id")})`)} AS greatest_id, ${newest} AS newest
       FROM ${name(table)}`,
    );
  }

  /** Counts the rows up to an id, and those of them that were changed after a time. */
  async countUpTo(table: SourceTable, id: string, changedAfter: string | null) {
    const from = `FROM ${this.#tables.name(table)} WHERE ${this.#tables.column("id")} <= ?`;
    const changed = `${from} AND ${this.#tables.column("updated_at")} > ?`;
    return {
      present: await this.#countFrom(from, [id]),
      changed: changedAfter === null ? 0 : await this.#countFrom(changed, [id, changedAfter]),
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
    const { selection, name } = this.#tables;
    return (await this.#all(`${selection("users")} ORDER BY ${name("users")}.id LIMIT 1`))[0];
  }

  #all(statement: string, parameters: readonly (string | number)[] = []): Promise<readonly SourceRecord[]> {
    return this.#tables.rows.all(statement, parameters);
  }

  /** The first row; an empty record if there is none. */
  async #first(statement: string, parameters: readonly (string | number)[] = []): Promise<SourceRecord> {
    return (await this.#all(statement, parameters))[0] ?? {};
  }

  /** A value as the engine's own text. */
  #text(expression: string): string {
    return this.#tables.rows.dialect.asText(expression);
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

  /** `id` and these columns of the next rows, in order. */
  #columnsAfter(table: SourceTable, columns: readonly string[], afterId: number, limit: number) {
    const { name, column } = this.#tables;
    const selected = ["id", ...columns].map((each) => `${this.#text(column(each))} AS ${column(each)}`);
    return this.#all(
      `SELECT ${selected.join(", ")} FROM ${name(table)} WHERE id > ? ORDER BY ${name(table)}.id LIMIT ${limit}`,
      [afterId],
    );
  }

  #sizes(table: SourceTable, columns: readonly string[], ids: readonly number[]) {
    const { name, column, hasColumn } = this.#tables;
    const bytes = columns
      .filter((large) => hasColumn(table, large))
      .map((large) => `COALESCE(OCTET_LENGTH(${column(large)}), 0)`)
      .join(" + ");
    return this.#inBatches(
      ids,
      (list) =>
        `SELECT ${this.#text("id")} AS id, ${this.#text(bytes)} AS bytes FROM ${name(table)} WHERE id IN ${list}`,
    );
  }

  /** `FROM` and `WHERE` of the attachments `a` of pushes with their blobs `b`. */
  #attachedToPushes(): string {
    const { name, column } = this.#tables;
    return `FROM ${name("active_storage_attachments")} a
      LEFT JOIN ${name("active_storage_blobs")} b ON b.${column("id")} = a.${column("blob_id")}
      WHERE a.${column("record_type")} = 'Push' AND a.${column("name")} = 'files'`;
  }

  async #countFrom(from: string, parameters: readonly string[] = []): Promise<number> {
    return Number((await this.#first(`SELECT ${this.#text("COUNT(*)")} AS entries ${from}`, parameters)).entries ?? 0);
  }

  /** @param key no text of an operator. */
  async #keyed(table: "site_settings" | "ar_internal_metadata", key: string): Promise<SourceRecord> {
    if (!this.has(table)) return {};
    return await this.#first(`${this.#tables.selection(table)} WHERE ${this.#tables.column("key")} = '${key}'`);
  }
}
