import type { SealedPlace } from "../lockbox.ts";
import type { Cell, SourceRecord } from "./source-rows.ts";
import type { SourceTable, SourceTables } from "./source-tables.ts";

/** How the rows of the source are asked for. Pages go by id, so that memory does not grow with the installation. */
export interface SourceQueries {
  /** `id`, in order. */
  userIds(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  /** `id` and how large the columns are that may be so, in `bytes`. */
  userSizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  users(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  pushIds(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  pushSizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  pushes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  /**
   * Of the audit entries: `push_id`, `kind`, `entries`, `first_at`. Of all kinds: asked for a few of them, SQLite walks
   * the index of kinds, which is the whole table.
   */
  tallies(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** Of the mails that audit entries tell of: `push_id`, `entries`. */
  notificationTallies(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** When the counted view with this number happened, the first being 1. */
  countedViewAt(pushId: number, number: number): Promise<Cell>;
  /** With the attachment's id as `attachment_id`; without a blob, its columns are NULL. */
  files(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  auditEntries(pushId: number): Promise<readonly SourceRecord[]>;
  notifications(auditIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** `service_name` and how many `files` of pushes lie there. */
  services(): Promise<readonly SourceRecord[]>;
  count(table: CountedTable): Promise<number>;
  /** Rows that belong to no push that is there. */
  countOfNoPush(table: Exclude<CountedTable, "users" | "pushes">): Promise<number>;
  /** `id` and `value` of what is sealed in a column, the newest or the oldest rows; none that is very long. */
  sealedValues(place: SealedPlace, order: "ASC" | "DESC", limit: number): Promise<readonly SourceRecord[]>;
  customCss(): Promise<Cell>;
  /** When the database was made: to the microsecond, the same in every later copy. */
  madeAt(): Promise<Cell>;
  firstUser(): Promise<SourceRecord | undefined>;
}

export type CountedTable = "users" | "pushes" | "audit_logs" | "notify_by_emails" | "files";

/** Of a sealed value that keys are tried on. */
const sampleBytesMax = 65_536;
/** The statements of a driver take so many parameters at most; each of these ids is one. */
const idsMax = 500;

export function createSourceQueries(tables: SourceTables): SourceQueries {
  const { rows, name, column, selection } = tables;
  const { asText } = rows.dialect;
  const ofPushes = `a.${column("record_type")} = 'Push' AND a.${column("name")} = 'files'`;
  const from = (table: SourceTable, alias: string) => `${name(table)} ${alias}`;
  const blobColumns = ["key", "filename", "content_type", "byte_size", "checksum", "service_name"]
    .map((blobColumn) => `${asText(column(blobColumn, "b"))} AS ${column(blobColumn)}`)
    .join(", ");
  const joined = `FROM ${from("active_storage_attachments", "a")} LEFT JOIN ${from("active_storage_blobs", "b")} ON b.${column("id")} = a.${column("blob_id")} WHERE ${ofPushes}`;
  async function inBatches(
    ids: readonly number[],
    statement: (list: string) => string,
  ): Promise<readonly SourceRecord[]> {
    const found: SourceRecord[] = [];
    for (let start = 0; start < ids.length; start += idsMax) {
      const batch = ids.slice(start, start + idsMax);
      found.push(...(await rows.all(statement(`(${batch.map(() => "?").join(", ")})`), batch)));
    }
    return found;
  }

  const idsAfter = (table: SourceTable, afterId: number, limit: number) =>
    rows.all(
      `SELECT ${asText("id")} AS id FROM ${name(table)} WHERE id > ? ORDER BY ${name(table)}.id LIMIT ${limit}`,
      [afterId],
    );

  async function sizes(table: SourceTable, columns: readonly string[], ids: readonly number[]) {
    const bytes = columns
      .filter((large) => tables.hasColumn(table, large))
      .map((large) => `COALESCE(OCTET_LENGTH(${column(large)}), 0)`);
    return await inBatches(
      ids,
      (list) =>
        `SELECT ${asText("id")} AS id, ${asText(bytes.join(" + "))} AS bytes FROM ${name(table)} WHERE id IN ${list}`,
    );
  }

  async function first(statement: string, parameters: readonly (string | number)[] = []): Promise<SourceRecord> {
    return (await rows.all(statement, parameters))[0] ?? {};
  }

  const toldOf = `FROM ${from("audit_logs", "l")} JOIN ${from("notify_by_emails", "n")} ON n.audit_log_id = l.id`;
  const isThere = (table: CountedTable) => (table === "files" ? hasFiles : tables.has(table));
  const hasFiles = tables.has("active_storage_attachments") && tables.has("active_storage_blobs");
  return {
    userIds: (afterId, limit) => idsAfter("users", afterId, limit),
    userSizes: (ids) => sizes("users", ["otp_backup_code_digests", "encrypted_password"], ids),
    users: (ids) => inBatches(ids, (list) => `${selection("users")} WHERE id IN ${list}`),
    pushIds: (afterId, limit) => idsAfter("pushes", afterId, limit),
    pushSizes: (ids) => sizes("pushes", ["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"], ids),
    pushes: (ids) => inBatches(ids, (list) => `${selection("pushes")} WHERE id IN ${list}`),
    tallies: (ids) =>
      inBatches(
        ids,
        (list) =>
          `SELECT ${asText("push_id")} AS push_id, ${asText("kind")} AS kind, ${asText("COUNT(*)")} AS entries, ${asText("MIN(created_at)")} AS first_at FROM ${name("audit_logs")} WHERE push_id IN ${list} GROUP BY push_id, kind`,
      ),
    async notificationTallies(ids) {
      if (!tables.has("notify_by_emails")) return [];
      return await inBatches(
        ids,
        (list) =>
          `SELECT ${asText("l.push_id")} AS push_id, ${asText("COUNT(*)")} AS entries ${toldOf} WHERE l.push_id IN ${list} GROUP BY l.push_id`,
      );
    },
    async countedViewAt(pushId, number) {
      const { at = null } = await first(
        `SELECT ${asText("created_at")} AS at FROM ${name("audit_logs")} WHERE push_id = ? AND kind IN (1, 2) ORDER BY ${name("audit_logs")}.created_at, id LIMIT 1 OFFSET ${number - 1}`,
        [pushId],
      );
      return at;
    },
    async files(ids) {
      if (!hasFiles) return [];
      const columns = `${asText(`a.${column("id")}`)} AS attachment_id, ${asText(`a.${column("record_id")}`)} AS push_id, ${blobColumns}`;
      return await inBatches(
        ids,
        (list) => `SELECT ${columns} ${joined} AND a.${column("record_id")} IN ${list} ORDER BY a.${column("id")}`,
      );
    },
    auditEntries: (pushId) =>
      rows.all(
        `${selection("audit_logs")} WHERE push_id = ? ORDER BY ${name("audit_logs")}.created_at, ${name("audit_logs")}.id`,
        [pushId],
      ),
    async notifications(ids) {
      if (!tables.has("notify_by_emails")) return [];
      return await inBatches(ids, (list) => `${selection("notify_by_emails")} WHERE audit_log_id IN ${list}`);
    },
    async services() {
      if (!hasFiles) return [];
      const service = `b.${column("service_name")}`;
      return await rows.all(
        `SELECT ${asText(service)} AS service_name, ${asText("COUNT(*)")} AS files ${joined} GROUP BY ${service}`,
      );
    },
    async count(table) {
      if (!isThere(table)) return 0;
      const of = table === "files" ? joined : `FROM ${name(table)}`;
      return Number((await first(`SELECT ${asText("COUNT(*)")} AS entries ${of}`)).entries ?? 0);
    },
    async countOfNoPush(table) {
      if (!isThere(table)) return 0;
      const lost = `FROM ${name("pushes")} p WHERE p.id`;
      const of = {
        audit_logs: `FROM ${from("audit_logs", "l")} WHERE NOT EXISTS (SELECT 1 ${lost} = l.push_id)`,
        notify_by_emails: `FROM ${from("notify_by_emails", "n")} LEFT JOIN ${from("audit_logs", "l")} ON l.id = n.audit_log_id WHERE NOT EXISTS (SELECT 1 ${lost} = l.push_id)`,
        files: `${joined} AND NOT EXISTS (SELECT 1 ${lost} = a.${column("record_id")})`,
      }[table];
      return Number((await first(`SELECT ${asText("COUNT(*)")} AS entries ${of}`)).entries ?? 0);
    },
    async sealedValues({ table, column: sealed }, order, limit) {
      if (!tables.has(table) || !tables.hasColumn(table, sealed)) return [];
      const value = column(sealed);
      return await rows.all(
        `SELECT ${asText("id")} AS id, ${asText(value)} AS value FROM ${name(table)} WHERE ${value} <> '' AND OCTET_LENGTH(${value}) <= ${sampleBytesMax} ORDER BY ${name(table)}.id ${order} LIMIT ${limit}`,
      );
    },
    async customCss() {
      if (!tables.has("site_settings")) return null;
      return (await first(`${selection("site_settings")} WHERE ${column("key")} = 'custom_css'`)).value ?? null;
    },
    async madeAt() {
      if (!tables.has("ar_internal_metadata")) return null;
      const statement = `${selection("ar_internal_metadata")} WHERE ${column("key")} = 'environment'`;
      return (await first(statement)).created_at ?? null;
    },
    firstUser: async () => (await rows.all(`${selection("users")} ORDER BY ${name("users")}.id LIMIT 1`))[0],
  };
}
