import { version1 } from "./schema/version-1.ts";
import { version2 } from "./schema/version-2.ts";
import { version3 } from "./schema/version-3.ts";

/**
 * The schema, a file a version, applied in order and never edited once released. Times are integers (ms since the
 * epoch), ids are made by us (`ids.ts`), sealed values and digests are blobs: any SQL engine can hold the same shapes.
 */
export const migrations: readonly string[] = [version1, version2, version3];
