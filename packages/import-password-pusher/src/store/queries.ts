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

export type SourceQueries = ReturnType<typeof createSourceQueries>;

function rowParts(tables: SourceTables) {
  const { rows, name, column, selection } = tables;
  const { asText } = rows.dialect;
  const pushes = name("pushes");
  const entries = name("audit_logs");
  const withAlias = (table: SourceTable, alias: string) => `${name(table)} ${alias}`;

  /** @param statement gets the list of ids in brackets. */
  async function inBatches(
    ids: readonly number[],
    statement: (list: string) => string,
  ): Promise<readonly SourceRecord[]> {
    const found: SourceRecord[] = [];
    for (let start = 0; start < ids.length; start += idsPerStatement) {
      const batch = ids.slice(start, start + idsPerStatement);
      found.push(...(await rows.all(statement(`(${batch.map(() => "?").join(", ")})`), batch)));
    }
    return found;
  }

  /** The first row; an empty record if there is none. */
  async function firstOf(statement: string, parameters: readonly (string | number)[] = []): Promise<SourceRecord> {
    return (await rows.all(statement, parameters))[0] ?? {};
  }

  /** `id` and these columns of the next rows, in order. */
  const columnsAfter = (table: SourceTable, columns: readonly string[], afterId: number, limit: number) => {
    const selected = ["id", ...columns].map((each) => `${asText(column(each))} AS ${column(each)}`);
    return rows.all(
      `SELECT ${selected.join(", ")} FROM ${name(table)} WHERE id > ? ORDER BY ${name(table)}.id LIMIT ${limit}`,
      [afterId],
    );
  };

  const idsAfter = (table: SourceTable, afterId: number, limit: number) => columnsAfter(table, [], afterId, limit);

  return {
    rows,
    name,
    column,
    selection,
    asText,
    withAlias,
    pushes,
    entries,
    inBatches,
    firstOf,
    columnsAfter,
    idsAfter,
  };
}

function queryParts(tables: SourceTables) {
  const parts = rowParts(tables);
  const { name, column, asText, withAlias, pushes, inBatches, firstOf } = parts;

  async function sizes(table: SourceTable, columns: readonly string[], ids: readonly number[]) {
    const bytes = columns
      .filter((large) => tables.hasColumn(table, large))
      .map((large) => `COALESCE(OCTET_LENGTH(${column(large)}), 0)`)
      .join(" + ");
    return await inBatches(
      ids,
      (list) => `SELECT ${asText("id")} AS id, ${asText(bytes)} AS bytes FROM ${name(table)} WHERE id IN ${list}`,
    );
  }

  /** `FROM` and `WHERE` of the attachments `a` of pushes with their blobs `b`. */
  const attachedToPushes = `FROM ${withAlias("active_storage_attachments", "a")}
    LEFT JOIN ${withAlias("active_storage_blobs", "b")} ON b.${column("id")} = a.${column("blob_id")}
    WHERE a.${column("record_type")} = 'Push' AND a.${column("name")} = 'files'`;

  const exists = (table: CountedTable) => table === "files" || tables.has(table);
  const hasNoPush = (pushId: string) => `NOT EXISTS (SELECT 1 FROM ${pushes} p WHERE p.id = ${pushId})`;
  const withoutPush = {
    audit_logs: () => `FROM ${withAlias("audit_logs", "l")} WHERE ${hasNoPush("l.push_id")}`,
    notify_by_emails: () =>
      `FROM ${withAlias("notify_by_emails", "n")}
       LEFT JOIN ${withAlias("audit_logs", "l")} ON l.id = n.audit_log_id WHERE ${hasNoPush("l.push_id")}`,
    files: () => `${attachedToPushes} AND ${hasNoPush(`a.${column("record_id")}`)}`,
  };

  async function countFrom(from: string, parameters: readonly string[] = []): Promise<number> {
    return Number((await firstOf(`SELECT ${asText("COUNT(*)")} AS entries ${from}`, parameters)).entries ?? 0);
  }

  return { ...parts, attachedToPushes, exists, withoutPush, sizes, countFrom, tables };
}

type QueryParts = ReturnType<typeof queryParts>;

function userQueries({ tables, columnsAfter, idsAfter, selection, inBatches, sizes }: QueryParts) {
  return {
    has: (table: SourceTable) => tables.has(table),
    userIdentities: (afterId: number, limit: number) =>
      columnsAfter(
        "users",
        ["created_at", "updated_at", "email", "authentication_token", "encrypted_password"],
        afterId,
        limit,
      ),
    userConfirmations: (afterId: number, limit: number) =>
      columnsAfter("users", ["created_at", "confirmed_at"], afterId, limit),
    pushIdentities: (afterId: number, limit: number) =>
      columnsAfter("pushes", ["created_at", "updated_at", "url_token"], afterId, limit),
    /** `id`, in order. */
    userIds: (afterId: number, limit: number) => idsAfter("users", afterId, limit),
    /** `id`, and the `bytes` of the columns that may be large. */
    userSizes: (ids: readonly number[]) => sizes("users", ["otp_backup_code_digests", "encrypted_password"], ids),
    users: (ids: readonly number[]) => inBatches(ids, (list) => `${selection("users")} WHERE id IN ${list}`),
  };
}

function pushQueries({
  pushes,
  idsAfter,
  rows,
  name,
  column,
  selection,
  asText,
  inBatches,
  sizes,
  tables,
}: QueryParts) {
  return {
    pushIds: (afterId: number, limit: number) => idsAfter("pushes", afterId, limit),
    pushSizes: (ids: readonly number[]) =>
      sizes("pushes", ["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"], ids),
    pushes: (ids: readonly number[]) => inBatches(ids, (list) => `${selection("pushes")} WHERE id IN ${list}`),
    /** `url_token` and the first `id` of links that several pushes have, which is possible without the unique index. */
    sharedLinks() {
      const token = column("url_token");
      return rows.all(
        `SELECT ${asText(token)} AS url_token, ${asText(`MIN(${pushes}.id)`)} AS id FROM ${pushes}
         WHERE ${token} <> '' GROUP BY ${token} HAVING COUNT(*) > 1 ORDER BY MIN(${pushes}.id) LIMIT ${sharedLinksMax}`,
      );
    },
    /** `id` and `value` of a column's newest or oldest encrypted values, without very long ones. */
    async sealedValues({ table, column: sealed }: LockboxColumn, order: "ASC" | "DESC", limit: number) {
      if (!tables.has(table) || !tables.hasColumn(table, sealed)) return [];
      const value = column(sealed);
      return await rows.all(
        `SELECT ${asText("id")} AS id, ${asText(value)} AS value FROM ${name(table)}
         WHERE ${value} <> '' AND OCTET_LENGTH(${value}) <= ${sampleBytesMax}
         ORDER BY ${name(table)}.id ${order} LIMIT ${limit}`,
      );
    },
  };
}

function entryQueries({ entries, withAlias, rows, selection, asText, inBatches, firstOf, tables }: QueryParts) {
  return {
    /**
     * Counts of audit entries: `push_id`, `kind`, `entries`, `first_at`. It counts all kinds: for some kinds only, SQLite scans the
     * index of kinds, which is the whole table.
     */
    entryCounts: (pushIds: readonly number[]) =>
      inBatches(
        pushIds,
        (list) =>
          `SELECT ${asText("push_id")} AS push_id, ${asText("kind")} AS kind, ${asText("COUNT(*)")} AS entries,
             ${asText("MIN(created_at)")} AS first_at
           FROM ${entries} WHERE push_id IN ${list} GROUP BY push_id, kind`,
      ),
    /** Counts of link deliveries: `push_id`, `entries`. */
    async notificationCounts(pushIds: readonly number[]) {
      if (!tables.has("notify_by_emails")) return [];
      const deliveries = `${withAlias("audit_logs", "l")} JOIN ${withAlias("notify_by_emails", "n")} ON n.audit_log_id = l.id`;
      return await inBatches(
        pushIds,
        (list) =>
          `SELECT ${asText("l.push_id")} AS push_id, ${asText("COUNT(*)")} AS entries
           FROM ${deliveries} WHERE l.push_id IN ${list} GROUP BY l.push_id`,
      );
    },
    /** The time of a counted view. @param number 1 for the first view. */
    async countedViewAt(pushId: number, number: number): Promise<Cell> {
      const { at = null } = await firstOf(
        `SELECT ${asText("created_at")} AS at FROM ${entries} WHERE push_id = ? AND kind IN (1, 2)
         ORDER BY ${entries}.created_at, id LIMIT 1 OFFSET ${number - 1}`,
        [pushId],
      );
      return at;
    },
    auditEntries: (pushId: number) =>
      rows.all(`${selection("audit_logs")} WHERE push_id = ? ORDER BY ${entries}.created_at, ${entries}.id`, [pushId]),
    async notifications(auditIds: readonly number[]) {
      if (!tables.has("notify_by_emails")) return [];
      return await inBatches(auditIds, (list) => `${selection("notify_by_emails")} WHERE audit_log_id IN ${list}`);
    },
  };
}

function fileQueries({
  attachedToPushes,
  exists,
  withoutPush,
  rows,
  name,
  column,
  selection,
  asText,
  inBatches,
  firstOf,
  countFrom,
  tables,
}: QueryParts) {
  return {
    /** With the attachment's id as `attachment_id`. Without a blob its columns are NULL. */
    async files(pushIds: readonly number[]) {
      const columns = [
        `${asText(`a.${column("id")}`)} AS attachment_id`,
        `${asText(`a.${column("record_id")}`)} AS push_id`,
        ...blobColumns.map((blobColumn) => `${asText(column(blobColumn, "b"))} AS ${column(blobColumn)}`),
      ];
      return await inBatches(
        pushIds,
        (list) =>
          `SELECT ${columns.join(", ")} ${attachedToPushes} AND a.${column("record_id")} IN ${list}
           ORDER BY a.${column("id")}`,
      );
    },
    /** `service_name`, and the number of `files` of pushes in it. */
    async services() {
      const service = `b.${column("service_name")}`;
      return await rows.all(
        `SELECT ${asText(service)} AS service_name, ${asText("COUNT(*)")} AS files ${attachedToPushes}
         GROUP BY ${service}`,
      );
    },

    async count(table: CountedTable): Promise<number> {
      if (!exists(table)) return 0;
      return await countFrom(table === "files" ? attachedToPushes : `FROM ${name(table)}`);
    },
    /** Counts rows whose push is not in the database. */
    countWithoutPush: async (table: keyof typeof withoutPush) =>
      exists(table) ? await countFrom(withoutPush[table]()) : 0,
    /** `entries`, `greatest_id` and `newest`, the time of the last change. */
    tableState(table: SourceTable) {
      const newest = tables.hasColumn(table, "updated_at") ? asText(`MAX(${column("updated_at")})`) : "NULL";
      return firstOf(
        `SELECT ${asText("COUNT(*)")} AS entries, ${asText(`MAX(${column("id")})`)} AS greatest_id, ${newest} AS newest
         FROM ${name(table)}`,
      );
    },
    /** Counts the rows up to an id, and those of them that were changed after a time. */
    async countUpTo(table: SourceTable, id: string, changedAfter: string | null) {
      const from = `FROM ${name(table)} WHERE ${column("id")} <= ?`;
      const changed = `${from} AND ${column("updated_at")} > ?`;
      return {
        present: await countFrom(from, [id]),
        changed: changedAfter === null ? 0 : await countFrom(changed, [id, changedAfter]),
      };
    },
    async customCss(): Promise<Cell> {
      if (!tables.has("site_settings")) return null;
      const statement = `${selection("site_settings")} WHERE ${column("key")} = 'custom_css'`;
      return (await firstOf(statement)).value ?? null;
    },
    /** When the database was created, to the microsecond. It is the same in every copy. */
    async createdAt(): Promise<Cell> {
      if (!tables.has("ar_internal_metadata")) return null;
      const statement = `${selection("ar_internal_metadata")} WHERE ${column("key")} = 'environment'`;
      return (await firstOf(statement)).created_at ?? null;
    },
    firstUser: async () => (await rows.all(`${selection("users")} ORDER BY ${name("users")}.id LIMIT 1`))[0],
  };
}

function trailQueries(deps: QueryParts) {
  return { ...entryQueries(deps), ...fileQueries(deps) };
}

/** All queries of the source, in SQL that its three engines understand. Tables are paged by id, in constant memory. */
export function createSourceQueries(tables: SourceTables) {
  const shared = queryParts(tables);
  return { ...userQueries(shared), ...pushQueries(shared), ...trailQueries(shared) };
}
