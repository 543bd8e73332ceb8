import { version1 } from "./schema/version-1.ts";
import { version2 } from "./schema/version-2.ts";

/**
 * PostgreSQL's schema, a file a version, applied in order and never edited once released. The shapes are those of
 * SQLite's (`../migrations.ts`): integers are BIGINT, bytes are BYTEA, texts compare by their bytes. What only this engine
 * has is said where it stands.
 *
 * Servers of the version before go on working while a newer one migrates: a migration only adds (expand); what nobody
 * uses any more is taken away by a later version (contract). No statement may hold a lock that stops them for long.
 */
export const migrations: readonly string[] = [version1, version2];
