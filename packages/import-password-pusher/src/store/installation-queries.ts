import { firstOf, from } from "./ask.ts";
import { attachedToPushes } from "./file-queries.ts";
import type { Cell, SourceRecord } from "./source-rows.ts";
import type { SourceTables } from "./source-tables.ts";

/** The installation as a whole: how much there is, by what to tell it, how it looks. */
export interface InstallationQueries {
  count(table: CountedTable): Promise<number>;
  /** Rows that belong to no push that is there. */
  countOfNoPush(table: Exclude<CountedTable, "users" | "pushes">): Promise<number>;
  customCss(): Promise<Cell>;
  /** When the database was made: to the microsecond, the same in every later copy. */
  madeAt(): Promise<Cell>;
  firstUser(): Promise<SourceRecord | undefined>;
}

type CountedTable = "users" | "pushes" | "audit_logs" | "notify_by_emails" | "files";

export function createInstallationQueries(tables: SourceTables): InstallationQueries {
  const { rows, name, column, selection } = tables;
  const { asText } = rows.dialect;
  const isThere = (table: CountedTable) => table === "files" || tables.has(table);

  async function countFrom(of: string): Promise<number> {
    return Number((await firstOf(tables, `SELECT ${asText("COUNT(*)")} AS entries ${of}`)).entries ?? 0);
  }

  const noPush = (pushId: string) => `NOT EXISTS (SELECT 1 FROM ${name("pushes")} p WHERE p.id = ${pushId})`;
  const ofNoPush = {
    audit_logs: () => `FROM ${from(tables, "audit_logs", "l")} WHERE ${noPush("l.push_id")}`,
    notify_by_emails: () =>
      `FROM ${from(tables, "notify_by_emails", "n")}
       LEFT JOIN ${from(tables, "audit_logs", "l")} ON l.id = n.audit_log_id WHERE ${noPush("l.push_id")}`,
    files: () => `${attachedToPushes(tables)} AND ${noPush(`a.${column("record_id")}`)}`,
  };

  return {
    async count(table) {
      if (!isThere(table)) return 0;
      return await countFrom(table === "files" ? attachedToPushes(tables) : `FROM ${name(table)}`);
    },
    countOfNoPush: async (table) => (isThere(table) ? await countFrom(ofNoPush[table]()) : 0),
    async customCss() {
      if (!tables.has("site_settings")) return null;
      const statement = `${selection("site_settings")} WHERE ${column("key")} = 'custom_css'`;
      return (await firstOf(tables, statement)).value ?? null;
    },
    async madeAt() {
      if (!tables.has("ar_internal_metadata")) return null;
      const statement = `${selection("ar_internal_metadata")} WHERE ${column("key")} = 'environment'`;
      return (await firstOf(tables, statement)).created_at ?? null;
    },
    firstUser: async () => (await rows.all(`${selection("users")} ORDER BY ${name("users")}.id LIMIT 1`))[0],
  };
}
