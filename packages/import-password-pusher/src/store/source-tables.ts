import { SourceError } from "../source.ts";
import type { SourceRows } from "./source-rows.ts";

/** The columns that are read. Columns that are missing in an older installation are read as NULL. */
const wanted = {
  users: columnsOf(`id, email, encrypted_password, admin, authentication_token, preferred_language, confirmed_at,
    unconfirmed_email, locked_at, otp_secret_ciphertext, otp_required_for_login, last_otp_timestep,
    otp_backup_code_digests, created_at, updated_at, current_sign_in_at, last_sign_in_at`),
  pushes: columnsOf(`id, kind, url_token, user_id, name, note_ciphertext, payload_ciphertext, passphrase_ciphertext,
    expire_after_days, expire_after_views, expired, expired_on, deletable_by_viewer, retrieval_step, created_at, updated_at`),
  audit_logs: columnsOf("id, push_id, kind, ip, user_agent, referrer, user_id, created_at, updated_at"),
  notify_by_emails: columnsOf(`id, audit_log_id, status, proceed_at, recipients_ciphertext, locale_ciphertext,
    successful_sends_ciphertext, error_message_ciphertext`),
  active_storage_attachments: columnsOf("id, name, record_type, record_id, blob_id"),
  active_storage_blobs: columnsOf("id, key, filename, content_type, byte_size, checksum, service_name"),
  site_settings: columnsOf("key, value"),
  ar_internal_metadata: columnsOf("key, created_at"),
  schema_migrations: columnsOf("version"),
};

function columnsOf(list: string): readonly string[] {
  return list.split(/,\s+/);
}

export type SourceTable = keyof typeof wanted;

/**
 * The tables and columns of each schema version. A copy without one of them is incomplete and is refused: reading it as empty would
 * silently lose a passphrase, a second factor or a file.
 */
const needed: readonly (readonly [since: number, table: SourceTable, columns?: readonly string[]])[] = [
  [0, "pushes"],
  [0, "users", wanted.users.filter((column) => !/otp_|unconfirmed_email|locked_at/.test(column))],
  [0, "audit_logs"],
  [0, "active_storage_attachments"],
  [0, "active_storage_blobs"],
  [20260321120000, "users"],
  [20260427123959, "site_settings"],
  [20260427190300, "notify_by_emails"],
];

/** Since this version all pushes are in one table. */
const schemaVersionMin = 20250606094103;
/** The schema version of 2.11.4, which this package was written for. */
const schemaVersionKnown = 20260509010000;

export type SourceTables = Awaited<ReturnType<typeof openSourceTables>>;

/** Reads which tables and columns exist. @throws SourceError if it is not a database of the source, or is too old. */
export async function openSourceTables(rows: SourceRows) {
  const present = new Map<string, ReadonlySet<string>>();
  for (const table of Object.keys(wanted)) present.set(table, await rows.columns(table));
  const version = await knownVersionOf(rows, present);
  for (const [since, table, columns = wanted[table]] of needed) {
    if (version < since) continue;
    const columnNames = present.get(table) ?? new Set();
    if (columnNames.size === 0) throw incomplete(`there is no table ${table}`);
    const missing = columns.find((column) => !columnNames.has(column));
    if (missing !== undefined) throw incomplete(`the table ${table} has no column ${missing}`);
  }
  return {
    rows,
    warnings: warningsOf(version),
    has: (table: SourceTable) => (present.get(table)?.size ?? 0) > 0,
    hasColumn: (table: SourceTable, column: string) => present.get(table)?.has(column) === true,
    selection(table: SourceTable): string {
      const columns = wanted[table].map((column) =>
        present.get(table)?.has(column) === true ? `${table}.${column}` : `NULL AS ${column}`,
      );
      return `SELECT ${columns.join(", ")} FROM ${table}`;
    },
  };
}

/** @throws SourceError if it is not a database of the source, or is too old. */
async function knownVersionOf(rows: SourceRows, present: ReadonlyMap<string, ReadonlySet<string>>): Promise<number> {
  if (present.get("schema_migrations")?.has("version") !== true) {
    throw notTheSource("there is no table schema_migrations with a version");
  }
  if (present.get("pushes")?.has("url_token") !== true) {
    // Before 2.x there were several tables of pushes; this one existed from the beginning.
    if ((await rows.columns("passwords")).has("url_token")) throw tooOld("1.x");
    throw notTheSource("there is no table pushes with url_tokens");
  }
  const version = await schemaVersionOf(rows);
  if (version < schemaVersionMin) throw tooOld(`schema ${version}`);
  return version;
}

async function schemaVersionOf(rows: SourceRows): Promise<number> {
  const texts = (await rows.all("SELECT version FROM schema_migrations")).map(({ version }) => String(version));
  return texts.filter((text) => /^\d{14}$/.test(text)).reduce((greatest, text) => Math.max(greatest, Number(text)), 0);
}

function warningsOf(version: number): readonly string[] {
  if (version === schemaVersionKnown) return [];
  const [age, consequence] =
    version < schemaVersionKnown
      ? ["older", "missing tables and columns are read as empty"]
      : ["newer", "additions of later versions are not imported"];
  return [`This Password Pusher is ${age} than 2.11.4 (schema ${version}): ${consequence}.`];
}

function tooOld(what: string): SourceError {
  return new SourceError(
    `This Password Pusher is too old (${what}): upgrade it to the newest 2.x, start it once, and run the import again.`,
  );
}

function incomplete(what: string): SourceError {
  return new SourceError(`--database names an incomplete copy of Password Pusher's database: ${what}.`);
}

function notTheSource(what: string): SourceError {
  return new SourceError(`--database does not name a database of Password Pusher 2.x: ${what}.`);
}
