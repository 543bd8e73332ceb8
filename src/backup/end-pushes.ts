import type { Domain } from "../domain.ts";
import type { AuditRecord } from "../pushes/audit/audit-trail.ts";

const batchRows = 256;

/**
 * Ends live pushes for good, as an administrator would: secrets destroyed, files queued for deletion, the owner's trail
 * says so. Those whose time is over end by that. @param which null: all of them. @returns how many ended.
 */
export async function endPushes(
  { store }: Pick<Domain, "store">,
  which: ReadonlySet<number> | null,
  now: number,
): Promise<number> {
  const end = async (pushId: number) =>
    (await store.end({ pushId, reason: "time", endedAt: now, blobsDueAt: 0, audit: null })) ||
    (await store.end({ pushId, reason: "administrator", endedAt: now, blobsDueAt: 0, audit: restoredAt(now) }));
  let ended = 0;
  for (let beforeId = Number.MAX_SAFE_INTEGER; ; ) {
    const batch = await store.adminLists.before(beforeId, batchRows);
    const last = batch.at(-1);
    if (last === undefined) return ended;
    const live = batch.filter((push) => push.endedAt === null && (which === null || which.has(push.id)));
    ended += (await Promise.all(live.map((push) => end(push.id)))).filter(Boolean).length;
    beforeId = last.id;
  }
}

function restoredAt(now: number): AuditRecord {
  return { kind: "expire", userId: null, address: "", userAgent: "sealpush restore", referrer: "", at: now };
}
