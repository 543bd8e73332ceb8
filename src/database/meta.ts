import { sql } from "./statement.ts";

// Values that exist once per installation, by name.

export const readMeta = sql<[name: string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");
export const putMeta = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
export const removeMeta = sql<[name: string]>("DELETE FROM meta WHERE name = ?");
