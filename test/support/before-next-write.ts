import { vi } from "vitest";
import type { Database } from "../../src/database/database.ts";

/** Runs `change` between what a request has read and checked, and its next serialized write, as another request could. */
export function beforeNextWrite(db: Database, change: () => Promise<unknown>): void {
  vi.spyOn(db, "writeSerialized").mockImplementationOnce(async (lock, work) => {
    await change();
    return await db.writeSerialized(lock, work);
  });
}
