import { AppError } from "../../base/errors.ts";
import type { PushDeps } from "../deps.ts";
import { hasEnded, isSealedLabel, openLabel, ownerKeysOf, toListedPush } from "../present-push.ts";
import { type FoundPushes, type PushSearch, pageSize } from "../push.ts";
import { type PushRow, type PushSummary, pushes, type SealedLabels } from "../store/tables.ts";
import { CooperativeQueue } from "./cooperative-queue.ts";

export const searchLimits = {
  /** Limits per search: pushes read, and sealed bytes of names and notes decrypted. */
  rowsMax: 20_000,
  labelBytesMax: 64 * 1024 * 1024,
  /** The same limits per turn of the event loop. */
  turnRowsMax: 250,
  turnLabelBytesMax: 512 * 1024,
  /** Concurrent searches of one owner. */
  perOwnerMax: 4,
};
export type SearchLimits = Readonly<typeof searchLimits>;

/** The search for every push of an owner. @param page from 1. */
export function everyPush(page: number): PushSearch {
  return { state: "all", kind: null, text: "", order: "newest", page };
}

/** Folds case independently of the language, and compatibility forms (full width, ligatures) into one. */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toUpperCase().normalize("NFKC");
}

export function searchOperations(deps: PushDeps, limits: SearchLimits) {
  const turns = new CooperativeQueue();
  const running = new Map<number, number>();

  return {
    /**
     * For the owner's dashboard. Names and notes are sealed, so a search decrypts a bounded number of them one by one.
     * Without a search text only one page is decrypted. @throws AppError too_many_requests.
     */
    async search(ownerId: number, search: PushSearch): Promise<FoundPushes> {
      const now = deps.clock.now();
      if (search.text === "") return listed(deps, ownerId, search, now);
      const others = running.get(ownerId) ?? 0;
      if (others >= limits.perOwnerMax) {
        throw new AppError("too_many_requests", "Too many searches at once.", { retryAfterSeconds: 1 });
      }
      running.set(ownerId, others + 1);
      try {
        return await new Walk(deps, limits, turns, { ownerId, search, now }).run();
      } finally {
        const left = (running.get(ownerId) ?? 1) - 1;
        if (left === 0) running.delete(ownerId);
        else running.set(ownerId, left);
      }
    },
  };
}

async function listed(deps: PushDeps, ownerId: number, search: PushSearch, now: number): Promise<FoundPushes> {
  const offset = (search.page - 1) * pageSize;
  const rows = await deps.store.lists.filtered(ownerId, search, { now, limit: pageSize + 1, offset });
  return await found(deps, rows, { ownerId, now }, { stopped: false, metSealedLabel: false });
}

/** @param rows the page's rows, plus one more if there is a next page. */
async function found(
  deps: PushDeps,
  rows: readonly PushRow[],
  { ownerId, now }: Pick<Asked, "ownerId" | "now">,
  how: Pick<FoundPushes, "stopped" | "metSealedLabel">,
): Promise<FoundPushes> {
  const keys = await ownerKeysOf(deps, ownerId);
  const pushes = rows.slice(0, pageSize).flatMap((row) => toListedPush(row, now, keys) ?? []);
  return { pushes, hasMore: rows.length > pageSize, ...how };
}

interface Asked<Search = PushSearch> {
  readonly ownerId: number;
  readonly search: Search;
  readonly now: number;
}

/** The pushes of one owner in the order of the list, from the first of that state on. Each slice has a turn of the event loop. */
export async function* summarySlices(
  { store: { lists } }: PushDeps,
  turns: CooperativeQueue,
  { ownerId, search, now, limit }: Asked<Pick<PushSearch, "state" | "order">> & { readonly limit: number },
): AsyncGenerator<readonly PushSummary[]> {
  let last: PushSummary | null = null;
  do {
    await turns.next();
    const slice: readonly PushSummary[] = await lists.summaries(ownerId, search, { now, last, limit });
    yield slice;
    last = slice.length < limit ? null : (slice.at(-1) ?? null);
  } while (last !== null);
}

/** One search in the order of the list, until its page is full, no push is left, or a limit is reached. */
class Walk {
  readonly #deps: PushDeps;
  readonly #limits: SearchLimits;
  readonly #turns: CooperativeQueue;
  readonly #asked: Asked;
  readonly #wanted: string;
  readonly #matches: number[] = [];
  #rows = 0;
  #labelBytes = 0;
  #metSealedLabel = false;

  constructor(deps: PushDeps, limits: SearchLimits, turns: CooperativeQueue, asked: Asked) {
    this.#deps = deps;
    this.#limits = limits;
    this.#turns = turns;
    this.#asked = asked;
    this.#wanted = foldCase(asked.search.text);
  }

  async run(): Promise<FoundPushes> {
    const { ownerId, search, now } = this.#asked;
    const slice = { now, limit: this.#limits.turnRowsMax };
    let ended: "done" | "stopped" | undefined;
    for await (const summaries of summarySlices(this.#deps, this.#turns, { ...slice, ownerId, search })) {
      ended = await this.#scan(summaries);
      if (ended !== undefined) break;
    }
    // Pushes that were purged meanwhile are missing on the page.
    const rows = await this.#deps.store.lists.byIds(this.#matches.slice((search.page - 1) * pageSize));
    const how = { stopped: ended === "stopped", metSealedLabel: this.#metSealedLabel };
    return await found(this.#deps, rows, this.#asked, how);
  }

  /** Labels are fetched for all pushes of one turn together: over a network each fetch is a round trip. */
  async #scan(summaries: readonly PushSummary[]): Promise<"done" | "stopped" | undefined> {
    const { rowsMax, labelBytesMax, turnLabelBytesMax } = this.#limits;
    let batch: number[] = [];
    let batchBytes = 0;
    for (const summary of summaries) {
      if (this.#isAfterState(summary)) {
        await this.#open(batch);
        return "done";
      }
      const opens = this.#passes(summary) ? summary.labelBytes : 0;
      if (this.#rows >= rowsMax || this.#labelBytes + opens > labelBytesMax) {
        return (await this.#open(batch)) ? "done" : "stopped";
      }
      this.#rows += 1;
      if (opens === 0) continue;
      if (batchBytes > 0 && batchBytes + opens > turnLabelBytesMax) {
        if (await this.#open(batch)) return "done";
        await this.#turns.next();
        batch = [];
        batchBytes = 0;
      }
      batch.push(summary.id);
      batchBytes += opens;
      this.#labelBytes += opens;
    }
    return (await this.#open(batch)) ? "done" : undefined;
  }

  /** By end, the pushes of one state are one after the other. */
  #isAfterState(summary: PushSummary): boolean {
    const { search, now } = this.#asked;
    if (search.order === "latest") return search.state === "active" && hasEnded(summary, now);
    return search.order === "soonest" && search.state === "expired" && !hasEnded(summary, now);
  }

  #passes(summary: PushSummary): boolean {
    const { search, now } = this.#asked;
    if (search.kind !== null && search.kind !== summary.kind) return false;
    return search.state === "all" || (search.state === "expired") === hasEnded(summary, now);
  }

  /** Collects the matches among these pushes, in their order. @returns whether there are enough for the page. */
  async #open(pushIds: readonly number[]): Promise<boolean> {
    const matchesMax = this.#asked.search.page * pageSize + 1;
    if (pushIds.length === 0) return false;
    const labels = await this.#deps.store.lists.labels(pushIds);
    for (const id of pushIds) {
      const sealed = labels.get(id);
      if (sealed !== undefined && this.#holdsText(id, sealed)) this.#matches.push(id);
      if (this.#matches.length >= matchesMax) return true;
    }
    return false;
  }

  #holdsText(id: number, { nameSealed, noteSealed }: SealedLabels): boolean {
    const { keyring } = this.#deps.vault;
    const row = { id, ownerId: this.#asked.ownerId };
    const labels = [
      openLabel(keyring, pushes.seals.name, row, nameSealed),
      openLabel(keyring, pushes.seals.note, row, noteSealed),
    ];
    this.#metSealedLabel ||= labels.some(isSealedLabel);
    return labels.some((label) => label !== null && !isSealedLabel(label) && foldCase(label).includes(this.#wanted));
  }
}
