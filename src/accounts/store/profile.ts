import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

export interface ProfileStore {
  setLanguage(userId: number, language: string | null, now: number): Promise<void>;
  /** As `setPushDefaults` wrote them; null: never. */
  pushDefaults(userId: number): Promise<string | null>;
  setPushDefaults(userId: number, defaults: string, now: number): Promise<void>;
  /** An address that somebody asked to move to and has not confirmed. */
  unconfirmedEmail(userId: number): Promise<string | null>;
}

const setLanguage = sql<[language: string | null, now: number, userId: number]>(
  "UPDATE users SET language = ?, updated_at = ? WHERE id = ?",
);
const setDefaults = sql<[defaults: string, now: number, userId: number]>(
  "UPDATE users SET push_defaults = ?, updated_at = ? WHERE id = ?",
);
const readProfile = sql<[userId: number], { pushDefaults: string | null; unconfirmedEmail: string | null }>(
  "SELECT push_defaults AS pushDefaults, unconfirmed_email AS unconfirmedEmail FROM users WHERE id = ?",
);

export function createProfileStore({ read, idempotent }: Database): ProfileStore {
  return {
    async setLanguage(userId, language, now) {
      await idempotent.run(setLanguage, language, now, userId);
    },
    pushDefaults: async (userId) => (await read.one(readProfile, userId))?.pushDefaults ?? null,
    async setPushDefaults(userId, defaults, now) {
      await idempotent.run(setDefaults, defaults, now, userId);
    },
    unconfirmedEmail: async (userId) => (await read.one(readProfile, userId))?.unconfirmedEmail ?? null,
  };
}
