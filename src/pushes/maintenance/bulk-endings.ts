import { secondMs } from "../../base/clock.ts";
import { isWithin, networkText, parseAddress, parseNetwork } from "../../base/networks.ts";
import type { InTransaction } from "../../database/database.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import type { BulkEndingFilter, BulkEndingPreview } from "../push.ts";
import { CooperativeQueue } from "../read/cooperative-queue.ts";
import type { EndingCandidate } from "../store/bulk-endings.ts";
import type { PushStore } from "../store/push-store.ts";
import type { BulkEnding } from "../store/tables.ts";

/** Pushes examined per transaction: few enough that claims in between are not delayed. */
const sliceRows = 200;
const previewSliceRows = 1_000;
const previewRowsMax = 500_000;
const listed = 10;
/** Rests three times as long as it works, as the sweep does. */
const restShare = 3;

type Selection = Pick<BulkEnding, "network" | "createdBefore" | "largerThanBytes" | "owners">;

/** Whether the filter restricts anything: a request without a restriction would end every push. */
export function isRestricted({ network, olderThanMs, largerThanBytes, owners }: BulkEndingFilter): boolean {
  return network !== "" || olderThanMs > 0 || largerThanBytes > 0 || owners !== "all";
}

/** @returns a network as the filter needs it; undefined: the text is neither an address nor a network. */
export function readEndingNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && networkText(network);
}

/** For the administrators' log, in all languages. */
export function describeBulkEnding({ network, olderThanMs, largerThanBytes, owners }: BulkEndingFilter): string {
  return [
    ...(network === "" ? [] : [`network=${network}`]),
    ...(olderThanMs === 0 ? [] : [`older-than=${olderThanMs / secondMs}s`]),
    ...(largerThanBytes === 0 ? [] : [`larger-than=${largerThanBytes}B`]),
    ...(owners === "all" ? [] : [owners]),
  ].join(" ");
}

function selectionOf({ olderThanMs, ...filter }: BulkEndingFilter, now: number): Selection {
  if (!isRestricted({ olderThanMs, ...filter })) throw new Error("A request must restrict which pushes it ends.");
  return { ...filter, createdBefore: now - olderThanMs };
}

function selects({ network, createdBefore, largerThanBytes, owners }: Selection): (push: EndingCandidate) => boolean {
  const parsed = network === "" ? undefined : parseNetwork(network);
  if (network !== "" && parsed === undefined) throw new Error("The network of the request cannot be read.");
  return (push) => {
    if (push.endedAt !== null && push.lingers === 0) return false;
    if (push.createdAt > createdBefore) return false;
    if (largerThanBytes > 0 && push.storedBytes <= largerThanBytes) return false;
    if (owners !== "all" && (owners === "anonymous") !== (push.ownerId === null)) return false;
    if (parsed === undefined) return true;
    const address = parseAddress(push.address);
    return address !== undefined && isWithin(address, [parsed]);
  };
}

export function bulkEndingOperations(deps: PushDeps) {
  const { clock, store } = deps;
  const turns = new CooperativeQueue();
  return {
    /** How many live pushes match the filter now, and how many bytes they hold. Ends nothing. */
    async previewBulkEnding(filter: BulkEndingFilter): Promise<BulkEndingPreview> {
      const matches = selects(selectionOf(filter, clock.now()));
      let lastId = 0;
      let [count, bytes] = [0, 0];
      for (let rows = 0; rows < previewRowsMax; rows += previewSliceRows) {
        await turns.next();
        const examined = await store.bulkEndings.candidatesAfter(lastId, previewSliceRows);
        for (const push of examined.filter((candidate) => candidate.endedAt === null && matches(candidate))) {
          count += 1;
          bytes += push.storedBytes;
        }
        lastId = examined.at(-1)?.id ?? lastId;
        if (examined.length < previewSliceRows) return { count, bytes, isComplete: true };
      }
      return { count, bytes, isComplete: false };
    },

    /**
     * Requests the end of all live pushes that match and exist by now. A job ends them in the background, also after a
     * restart. @param together writes in the same transaction. @returns the id of the request.
     */
    async startBulkEnding(
      filter: BulkEndingFilter,
      by: Pick<Actor, "user" | "address" | "userAgent">,
      together: InTransaction,
    ): Promise<number> {
      const now = clock.now();
      const { user, address, userAgent } = by;
      const admin = { adminId: user?.id ?? null, address, userAgent };
      return await store.bulkEndings.start({ ...selectionOf(filter, now), ...admin, requestedAt: now }, together);
    },

    /** The latest requests and their progress, newest first. */
    latestBulkEndings: (): Promise<readonly BulkEnding[]> => store.bulkEndings.latest(listed),
  };
}

interface BulkEndingDeps {
  readonly store: Pick<PushStore, "bulkEndings">;
  readonly clock: PushDeps["clock"];
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** Works on open requests until none is left or the signal is aborted. @returns the number of ended pushes. */
export async function runBulkEndings(deps: BulkEndingDeps, signal: AbortSignal): Promise<number> {
  const { store, clock, monotonicMs, pause } = deps;
  let total = 0;
  while (!signal.aborted) {
    const startedAt = monotonicMs();
    const ended = await store.bulkEndings.advance(clock.now(), sliceRows, selects, auditOf(clock.now()));
    if (ended === undefined) break;
    total += ended;
    await pause((monotonicMs() - startedAt) * restShare);
  }
  return total;
}

const auditOf = (now: number) => (request: BulkEnding) => {
  const { adminId, address, userAgent } = request;
  const user = adminId === null ? null : { id: adminId, admin: true };
  return auditRecord("expire", { user, client: "", address, userAgent, referrer: "", ownOrigin: "" }, now);
};
