import { createFileQueries, type FileQueries } from "./file-queries.ts";
import { createInstallationQueries, type InstallationQueries } from "./installation-queries.ts";
import { createRowQueries, type RowQueries } from "./row-queries.ts";
import type { SourceTables } from "./source-tables.ts";
import { createTrailQueries, type TrailQueries } from "./trail-queries.ts";

/** All that the source is asked, in SQL that its three engines understand. */
export interface SourceQueries extends RowQueries, TrailQueries, FileQueries, InstallationQueries {}

export function createSourceQueries(tables: SourceTables): SourceQueries {
  return {
    ...createRowQueries(tables),
    ...createTrailQueries(tables),
    ...createFileQueries(tables),
    ...createInstallationQueries(tables),
  };
}
