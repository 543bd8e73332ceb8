import type { Database } from "../../db/sqlite.ts";

export interface ProfileStore {
  setLanguage(userId: number, language: string | null, now: number): Promise<void>;
  /** As `setPushDefaults` wrote them; null: never. */
  pushDefaults(userId: number): string | null;
  setPushDefaults(userId: number, defaults: string, now: number): Promise<void>;
  /** An address that somebody asked to move to and has not confirmed. */
  unconfirmedEmail(userId: number): string | null;
}

export function createProfileStore(db: Database): ProfileStore {
  const setLanguage = db.writer.prepare<[string | null, number, number]>(
    "UPDATE users SET language = ?, updated_at = ? WHERE id = ?",
  );
  const setDefaults = db.writer.prepare<[string, number, number]>(
    "UPDATE users SET push_defaults = ?, updated_at = ? WHERE id = ?",
  );
  const read = db.reader.prepare<[number], { push_defaults: string | null; unconfirmed_email: string | null }>(
    "SELECT push_defaults, unconfirmed_email FROM users WHERE id = ?",
  );
  return {
    setLanguage: (userId, language, now) => db.write(() => void setLanguage.run(language, now, userId)),
    pushDefaults: (userId) => read.get(userId)?.push_defaults ?? null,
    setPushDefaults: (userId, defaults, now) => db.write(() => void setDefaults.run(defaults, now, userId)),
    unconfirmedEmail: (userId) => read.get(userId)?.unconfirmed_email ?? null,
  };
}
