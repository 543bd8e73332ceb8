import { type AuditRecord, cleanReferrer, cutText, foldedSequence, folds } from "./audit-trail.ts";
import type { AuditKind, LinkDeliveryReport } from "./push.ts";

/** An event from elsewhere. Its texts may be anything; times in ms since the epoch. */
export interface AdoptedEvent extends AuditRecord {
  readonly updatedAt: number;
  /** Of creation_email_send: what was mailed there. */
  readonly linkDelivery: LinkDeliveryReport | null;
}

/** As the store holds it: `sequence` is negative for the entries that stand for many. */
export interface AdoptedEntry extends AdoptedEvent {
  readonly sequence: number;
  readonly times: number;
}

/**
 * The same trail as if the events had happened here: texts cut, referrers without links, and what comes after the first
 * thousand folded where it is of a kind that is. @param events oldest first.
 */
export function adoptedTrail(events: readonly AdoptedEvent[]): readonly AdoptedEntry[] {
  const entries: AdoptedEntry[] = [];
  const folded = new Map<AuditKind, AdoptedEntry>();
  for (const [at, event] of events.entries()) {
    const count = at + 1;
    const clean = cleanEvent(event);
    if (!folds(event.kind, count)) {
      entries.push({ ...clean, sequence: count, times: 1 });
      continue;
    }
    const earlier = folded.get(event.kind);
    const [began, times] = [earlier?.at ?? clean.at, (earlier?.times ?? 0) + 1];
    folded.set(event.kind, { ...clean, sequence: foldedSequence(event.kind), at: began, times });
  }
  return [...entries, ...folded.values()];
}

function cleanEvent(event: AdoptedEvent): AdoptedEvent {
  return {
    ...event,
    address: cutText(event.address),
    userAgent: cutText(event.userAgent),
    // Links are told by their shape: which address the other installation had, nobody says.
    referrer: cutText(cleanReferrer(event.referrer, "")),
  };
}
