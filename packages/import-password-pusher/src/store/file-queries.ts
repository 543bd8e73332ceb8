import { from, inBatches } from "./ask.ts";
import type { SourceRecord } from "./source-rows.ts";
import type { SourceTables } from "./source-tables.ts";

/** What is on record of the files of pushes. */
export interface FileQueries {
  /** With the attachment's id as `attachment_id`; without a blob, its columns are NULL. */
  files(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** `service_name` and how many `files` of pushes lie there. */
  services(): Promise<readonly SourceRecord[]>;
}

const blobColumns = ["key", "filename", "content_type", "byte_size", "checksum", "service_name"];

/** `FROM` to `WHERE` of the attachments `a` of pushes with their blobs `b`. */
export function attachedToPushes(tables: SourceTables): string {
  const { column } = tables;
  return `FROM ${from(tables, "active_storage_attachments", "a")}
    LEFT JOIN ${from(tables, "active_storage_blobs", "b")} ON b.${column("id")} = a.${column("blob_id")}
    WHERE a.${column("record_type")} = 'Push' AND a.${column("name")} = 'files'`;
}

export function createFileQueries(tables: SourceTables): FileQueries {
  const { rows, column } = tables;
  const { asText } = rows.dialect;
  return {
    async files(ids) {
      const columns = [
        `${asText(`a.${column("id")}`)} AS attachment_id`,
        `${asText(`a.${column("record_id")}`)} AS push_id`,
        ...blobColumns.map((blobColumn) => `${asText(column(blobColumn, "b"))} AS ${column(blobColumn)}`),
      ];
      return await inBatches(
        tables,
        ids,
        (list) =>
          `SELECT ${columns.join(", ")} ${attachedToPushes(tables)} AND a.${column("record_id")} IN ${list}
           ORDER BY a.${column("id")}`,
      );
    },
    async services() {
      const service = `b.${column("service_name")}`;
      return await rows.all(
        `SELECT ${asText(service)} AS service_name, ${asText("COUNT(*)")} AS files ${attachedToPushes(tables)}
         GROUP BY ${service}`,
      );
    },
  };
}
