import type { SealedPlace } from "../lockbox.ts";
import { inBatches } from "./ask.ts";
import type { SourceRecord } from "./source-rows.ts";
import type { SourceTable, SourceTables } from "./source-tables.ts";

/** Users and pushes. Pages go by id, so that memory does not grow with the installation. */
export interface RowQueries {
  /** `id`, in order. */
  userIds(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  /** `id` and how large the columns are that may be so, in `bytes`. */
  userSizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  users(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  pushIds(afterId: number, limit: number): Promise<readonly SourceRecord[]>;
  pushSizes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  pushes(ids: readonly number[]): Promise<readonly SourceRecord[]>;
  /** `url_token` and the first `id` of the links that several pushes have, where the index that forbids it is gone. */
  sharedLinks(): Promise<readonly SourceRecord[]>;
  /** `id` and `value` of what is sealed in a column, the newest or the oldest rows; none that is very long. */
  sealedValues(place: SealedPlace, order: "ASC" | "DESC", limit: number): Promise<readonly SourceRecord[]>;
}

/** Of a sealed value that keys are tried on. */
const sampleBytesMax = 65_536;
/** They are held in memory; of further ones that one comes that is written first. */
const sharedLinksMax = 10_000;

export function createRowQueries(tables: SourceTables): RowQueries {
  const { rows, name, column, selection } = tables;
  const { asText } = rows.dialect;

  const idsAfter = (table: SourceTable, afterId: number, limit: number) =>
    rows.all(
      `SELECT ${asText("id")} AS id FROM ${name(table)} WHERE id > ? ORDER BY ${name(table)}.id LIMIT ${limit}`,
      [afterId],
    );

  async function sizes(table: SourceTable, columns: readonly string[], ids: readonly number[]) {
    const bytes = columns
      .filter((large) => tables.hasColumn(table, large))
      .map((large) => `COALESCE(OCTET_LENGTH(${column(large)}), 0)`)
      .join(" + ");
    return await inBatches(
      tables,
      ids,
      (list) => `SELECT ${asText("id")} AS id, ${asText(bytes)} AS bytes FROM ${name(table)} WHERE id IN ${list}`,
    );
  }

  return {
    userIds: (afterId, limit) => idsAfter("users", afterId, limit),
    userSizes: (ids) => sizes("users", ["otp_backup_code_digests", "encrypted_password"], ids),
    users: (ids) => inBatches(tables, ids, (list) => `${selection("users")} WHERE id IN ${list}`),
    pushIds: (afterId, limit) => idsAfter("pushes", afterId, limit),
    pushSizes: (ids) => sizes("pushes", ["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"], ids),
    pushes: (ids) => inBatches(tables, ids, (list) => `${selection("pushes")} WHERE id IN ${list}`),
    sharedLinks() {
      const [token, pushes] = [column("url_token"), name("pushes")];
      return rows.all(
        `SELECT ${asText(token)} AS url_token, ${asText(`MIN(${pushes}.id)`)} AS id FROM ${pushes}
         WHERE ${token} <> '' GROUP BY ${token} HAVING COUNT(*) > 1 ORDER BY MIN(${pushes}.id) LIMIT ${sharedLinksMax}`,
      );
    },
    async sealedValues({ table, column: sealed }, order, limit) {
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
