import { hourMs } from "../base/clock.ts";
import type { Database } from "./database.ts";
import { sql } from "./statement.ts";

/** The untrusted peer that last sent X-Forwarded-* headers. The server writes it; `sealpush doctor` reads it. */
export interface ForwarderNote {
  /**
   * Writes at most once an hour, because anybody can send such headers. A failed write rejects and is not retried within
   * the hour.
   */
  write(address: string, now: number): Promise<void>;
  find(): Promise<{ readonly address: string; readonly seenAt: number } | undefined>;
}

const name = "untrusted_forwarder";

const writeNote = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
const readNote = sql<[name: string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");

export function createForwarderNote(db: Database): ForwarderNote {
  let triedAt: number | undefined;
  return {
    async write(address, now) {
      if (triedAt !== undefined && Math.abs(now - triedAt) < hourMs) return;
      triedAt = now;
      await db.autocommit({ retry: "whenNotExecuted" }).run(writeNote, name, Buffer.from(`${now} ${address}`));
    },
    async find() {
      const text = (await db.read.one(readNote, name))?.value.toString("utf8") ?? "";
      const [, seenAt, address] = /^(\d+) (.+)$/.exec(text) ?? [];
      return seenAt === undefined || address === undefined ? undefined : { address, seenAt: Number(seenAt) };
    },
  };
}
