import type { Connection } from "./sqlite.ts";

/** A master key that may have sealed rows of this database. */
export interface KeyMark {
  readonly keyId: string;
  /** Changes whenever a process that seals under the key says that it is at work. */
  readonly markedAt: string;
}

const prefix = "key_in_use:";

/** In the order of their ids. */
export function readKeyMarks(connection: Connection): readonly KeyMark[] {
  const rows = connection
    .prepare<[string], { name: string; value: Buffer }>("SELECT name, value FROM meta WHERE name GLOB ? ORDER BY name")
    .all(`${prefix}*`);
  return rows.map((row) => ({ keyId: row.name.slice(prefix.length), markedAt: row.value.toString("latin1") }));
}

/** The functions run inside a unit of writing. */
export interface KeyMarks {
  mark(keyId: string, now: number): void;
  /** @returns false when the mark has changed since it was read: the key is in use again. */
  remove(mark: KeyMark): boolean;
}

export function prepareKeyMarks(writer: Connection): KeyMarks {
  const upsert = writer.prepare(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const remove = writer.prepare("DELETE FROM meta WHERE name = ? AND value = ?");
  return {
    mark(keyId, now) {
      upsert.run(`${prefix}${keyId}`, Buffer.from(String(now), "latin1"));
    },
    remove: (mark) => remove.run(`${prefix}${mark.keyId}`, Buffer.from(mark.markedAt, "latin1")).changes === 1,
  };
}
