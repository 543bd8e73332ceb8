import type { Engine } from "../database.ts";

/** The DDL of one version of the schema for each engine. */
export type SchemaVersion = Readonly<Record<Engine, string>>;

/** Keeps a part of the DDL for one engine and leaves it out for the other. */
type OnlyFor = (ddl: string) => string;

/**
 * One DDL for both engines, so that neither can lack a column. It is written with SQLite's types: INTEGER (ids, flags and
 * times in ms since the epoch), TEXT and BLOB. PostgreSQL gets BIGINT, TEXT that compares by its bytes, and BYTEA. Ids are
 * chosen by the application (`ids.ts`).
 */
export function forBothEngines(ddl: (sqlite: OnlyFor, postgres: OnlyFor) => string): SchemaVersion {
  const keep: OnlyFor = (part) => part;
  const drop: OnlyFor = () => "";
  return { sqlite: ddl(keep, drop), postgres: translateToPostgres(ddl(drop, keep)) };
}

function translateToPostgres(ddl: string): string {
  return ddl
    .replace(/\bINTEGER\b/g, "BIGINT")
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replace(/\bBLOB\b/g, "BYTEA")
    .replaceAll(") WITHOUT ROWID;", ");");
}
