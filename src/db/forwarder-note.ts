import { hourMs } from "../base/clock.ts";
import type { Database } from "./sqlite.ts";

/** Which untrusted peer last sent X-Forwarded-* headers: written by the server, read by the operator's check. */
export interface ForwarderNote {
  /**
   * Writes at most once an hour: anybody can send such headers. A failed write is told by the promise and not tried
   * again before its hour is over.
   */
  write(address: string, now: number): Promise<void>;
  find(): { readonly address: string; readonly seenAt: number } | undefined;
}

const name = "untrusted_forwarder";

export function createForwarderNote(db: Database): ForwarderNote {
  const upsert = db.writer.prepare<[string, Buffer]>(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const read = db.reader.prepare<[string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");
  let triedAt: number | undefined;
  return {
    async write(address, now) {
      if (triedAt !== undefined && Math.abs(now - triedAt) < hourMs) return;
      triedAt = now;
      await db.write(() => void upsert.run(name, Buffer.from(`${now} ${address}`)));
    },
    find() {
      const [, seenAt, address] = /^(\d+) (.+)$/.exec(read.get(name)?.value.toString("utf8") ?? "") ?? [];
      return seenAt === undefined || address === undefined ? undefined : { address, seenAt: Number(seenAt) };
    },
  };
}
