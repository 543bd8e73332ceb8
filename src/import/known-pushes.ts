import type { KnownPushes } from "./destination.ts";
import type { ImportedRows } from "./store/imported-rows.ts";

const batchRows = 1_000;

/** Both sides in the order of the source's ids, a batch of ours at a time. */
export function createKnownPushes(rows: ImportedRows): KnownPushes {
  let batch: readonly number[] = [];
  let at = 0;
  let last = Number.MIN_SAFE_INTEGER;
  let isLastBatch = false;

  async function readNext(): Promise<void> {
    batch = (await rows.after("push", last, batchRows)).map(({ sourceId }) => sourceId);
    at = 0;
    last = batch.at(-1) ?? last;
    isLastBatch = batch.length < batchRows;
  }

  return {
    async has(sourceId) {
      for (;;) {
        while (at < batch.length && (batch[at] ?? sourceId) < sourceId) at += 1;
        if (at < batch.length) return batch[at] === sourceId;
        if (isLastBatch) return false;
        await readNext();
      }
    },
  };
}

/** By the source's ids; null: their account here was deleted since. */
export async function readKnownUsers(rows: ImportedRows): Promise<ReadonlyMap<number, number | null>> {
  const users = new Map<number, number | null>();
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const batch = await rows.usersAfter(last, batchRows);
    for (const { sourceId, id, stands } of batch) users.set(sourceId, stands === 1 ? id : null);
    last = batch.at(-1)?.sourceId ?? last;
    if (batch.length < batchRows) return users;
  }
}
