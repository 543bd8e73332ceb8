import { AppError } from "../../base/errors.ts";
import type { Actor } from "../actor.ts";
import { createLinkDeliveryReports } from "../audit/read-trail.ts";
import type { PushDeps } from "../deps.ts";
import {
  hasProvenOwner,
  isForgotten,
  isListedFor,
  isProvenOwner,
  ownerKeysOf,
  toListedPush,
  toOwnersPush,
  toPush,
} from "../present-push.ts";
import { type AuditEntry, type ListedPush, type Push, pageSize } from "../push.ts";
import type { PushRow } from "../store/tables.ts";

export function readOperations(deps: PushDeps) {
  return {
    /** Counts no view and opens no secret. The owner also gets name and note. */
    async find(urlToken: string, actor: Actor): Promise<Push | undefined> {
      const now = deps.clock.now();
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      if (row === undefined || isForgotten(row, now)) return undefined;
      return isProvenOwner(row, urlToken, actor, deps.vault)
        ? toOwnersPush(row, urlToken, now, deps.vault.keyring)
        : toPush(row, urlToken, now);
    },

    /** Newest first, filtered by the current state. */
    async list(ownerId: number, state: "active" | "expired", page: number): Promise<PushList> {
      const now = deps.clock.now();
      const search = { state, kind: null, order: "newest" } as const;
      const offset = (page - 1) * pageSize;
      const rows = await deps.store.lists.filtered(ownerId, search, { now, limit: pageSize, offset });
      const keys = await ownerKeysOf(deps, ownerId);
      return new PushList(rows, (row) => toListedPush(row, now, keys));
    },

    /** The pushes of the owner among these ids, in their order. @param ownerId null: answers to a request of nobody. */
    async listByIds(ownerId: number | null, ids: readonly number[]): Promise<PushList> {
      const now = deps.clock.now();
      const rows = await deps.store.lists.byIds(ids);
      const keys = await ownerKeysOf(deps, ownerId);
      return new PushList(
        rows.filter((row) => isListedFor(row, ownerId) && !isForgotten(row, now)),
        (row) => toListedPush(row, now, keys),
      );
    },

    /** Oldest first, as Password Pusher. @throws AppError not_authenticated, forbidden, not_found. */
    async audit(urlToken: string, actor: Actor, page: number): Promise<readonly AuditEntry[]> {
      if (actor.user === null) throw new AppError("not_authenticated", "The audit trail needs an API token.");
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      if (row === undefined || isForgotten(row, deps.clock.now())) throw new AppError("not_found", "not-found");
      if (!isProvenOwner(row, urlToken, actor, deps.vault))
        throw new AppError("forbidden", "Only its owner may read the audit trail of a push.");
      const reports = createLinkDeliveryReports(deps, row);
      const rows = await deps.store.lists.oldestOfTrail(row.id, pageSize, (page - 1) * pageSize);
      return await Promise.all(
        rows.map(async ({ sequence, userId: _, ...entry }) => ({
          ...entry,
          ...(await reports.of(entry.kind, sequence)),
        })),
      );
    },

    /** See `senderOf`. A push that has ended shows none. */
    async findSender({ urlToken, showsSender, expired }: Push): Promise<string | null> {
      // Most pushes show none, and cost no read.
      if (!showsSender || expired) return null;
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      return row === undefined ? null : await senderOf(deps, row, urlToken);
    },
  };
}

/**
 * The address that everybody with the link may see; null: none. A push whose owner was changed in the database shows none:
 * recipients trust the address.
 */
export async function senderOf({ emails, vault }: PushDeps, row: PushRow, urlToken: string): Promise<string | null> {
  const { ownerId, senderShown, isAnswer } = row;
  if (!senderShown || isAnswer === 1 || ownerId === null || !hasProvenOwner(row, urlToken, vault)) return null;
  const owner = await emails.findOwner(ownerId);
  return owner?.isConfirmed === true && !owner.isDisabled ? owner.email : null;
}

/** One page of a list. Its pushes are opened one after the other: their notes together may have many megabytes. */
export class PushList implements Iterable<ListedPush> {
  readonly #rows: readonly PushRow[];
  readonly #open: (row: PushRow) => ListedPush | undefined;

  constructor(rows: readonly PushRow[], open: (row: PushRow) => ListedPush | undefined) {
    this.#rows = rows;
    this.#open = open;
  }

  /** Bytes of the sealed names and notes, which the list holds. */
  get labelBytes(): number {
    const lengthOf = (sealed: Buffer | null) => sealed?.length ?? 0;
    return this.#rows.reduce((bytes, row) => bytes + lengthOf(row.nameSealed) + lengthOf(row.noteSealed), 0);
  }

  *[Symbol.iterator](): Generator<ListedPush> {
    for (const row of this.#rows) {
      const push = this.#open(row);
      if (push !== undefined) yield push;
    }
  }
}
