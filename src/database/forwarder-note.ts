import { hourMs } from "../base/clock.ts";
import type { Database } from "./database.ts";
import { putMeta, readMeta } from "./meta.ts";

const name = "untrusted_forwarder";

export type ForwarderNote = ReturnType<typeof createForwarderNote>;

/** The untrusted peer that last sent X-Forwarded-* headers. The server writes it; `sealpush doctor` reads it. */
export function createForwarderNote(db: Database) {
  let triedAt: number | undefined;
  return {
    /**
     * Writes at most once an hour, because anybody can send such headers. A failed write rejects and is not retried within
     * the hour.
     */
    async write(address: string, now: number): Promise<void> {
      if (triedAt !== undefined && Math.abs(now - triedAt) < hourMs) return;
      triedAt = now;
      await db.autocommit({ retry: "whenNotExecuted" }).run(putMeta, name, Buffer.from(`${now} ${address}`));
    },
    async find() {
      const text = (await db.read.one(readMeta, name))?.value.toString("utf8") ?? "";
      const [, seenAt, address] = /^(\d+) (.+)$/.exec(text) ?? [];
      return seenAt === undefined || address === undefined ? undefined : { address, seenAt: Number(seenAt) };
    },
  };
}
