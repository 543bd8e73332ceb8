import type { Database } from "../../database/database.ts";
import { readMeta, removeMeta } from "../../database/meta.ts";
import { sql } from "../../database/statement.ts";

/** Why no email can be sent. */
export interface MailServerFailure {
  /** "connection": the server cannot be reached, or refuses the sign-in. "sender": it refuses this server's address. */
  readonly part: "connection" | "sender";
  /** For administrators, in English, without any address, link or token. */
  readonly sentence: string;
}

const name = "mail_server_failure";

const insert = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
);
const update = sql<[value: Buffer, name: string]>("UPDATE meta SET value = ? WHERE name = ?");

/** What is known about the mail server over all processes. */
export function createMailServerStore(db: Database) {
  const autocommit = db.autocommit({ retry: "idempotent" });
  return {
    /** @returns undefined: the server is available. */
    async find(): Promise<MailServerFailure | undefined> {
      const text = (await db.read.one(readMeta, name))?.value.toString("utf8") ?? "";
      const [, part, sentence] = /^(connection|sender) (.+)$/.exec(text) ?? [];
      if ((part !== "connection" && part !== "sender") || sentence === undefined) return undefined;
      return { part, sentence };
    },

    /** @returns whether the server was available until now. */
    async setFailure({ part, sentence }: MailServerFailure): Promise<boolean> {
      const value = Buffer.from(`${part} ${sentence}`);
      if ((await autocommit.run(insert, name, value)) === 1) return true;
      await autocommit.run(update, value, name);
      return false;
    },

    /** @returns whether the server was unavailable until now. */
    removeFailure: async (): Promise<boolean> => (await autocommit.run(removeMeta, name)) === 1,
  };
}
