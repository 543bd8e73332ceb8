import type { SchemaVersion } from "./both-engines.ts";
import { version1 } from "./version-1.ts";

/**
 * The versions of the schema, applied in order. A released version is never edited: a change is a new file and a new line
 * here.
 *
 * On PostgreSQL, servers of the previous version keep running while a newer one migrates. A version therefore only adds
 * (expand); a later one removes what is no longer used (contract). No statement may block running servers for long.
 */
export const schemaVersions: readonly SchemaVersion[] = [version1];
