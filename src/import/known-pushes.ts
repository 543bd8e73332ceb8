import type { KnownPushes, KnownUser } from "./destination.ts";
import type { ImportedRow, ImportedRows } from "./store/imported-rows.ts";

const batchRows = 1_000;

/** Both sides in the order of the source's ids, a batch of ours at a time. */
export function createKnownPushes(rows: ImportedRows): KnownPushes {
  let batch: readonly ImportedRow[] = [];
  let at = 0;
  let last = Number.MIN_SAFE_INTEGER;
  let isLastBatch = false;

  async function readNext(): Promise<void> {
    batch = await rows.after("push", last, batchRows);
    at = 0;
    last = batch.at(-1)?.sourceId ?? last;
    isLastBatch = batch.length < batchRows;
  }

  return {
    async find(sourceId) {
      for (;;) {
        while (at < batch.length && (batch[at]?.sourceId ?? sourceId) < sourceId) at += 1;
        const row = batch[at];
        if (row !== undefined) return row.sourceId === sourceId ? row : undefined;
        if (isLastBatch) return undefined;
        await readNext();
      }
    },
  };
}

/** By the source's ids. */
export async function readKnownUsers(rows: ImportedRows): Promise<ReadonlyMap<number, KnownUser>> {
  const users = new Map<number, KnownUser>();
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const batch = await rows.usersAfter(last, batchRows);
    for (const row of batch) users.set(row.sourceId, row);
    last = batch.at(-1)?.sourceId ?? last;
    if (batch.length < batchRows) return users;
  }
}
