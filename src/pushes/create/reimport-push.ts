import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import type { ReadConnection, Transaction } from "../../database/database.ts";
import { auditEntriesMax } from "../audit/audit-trail.ts";
import { openLink, ownerKeysOf } from "../present-push.ts";
import { firstGeneration } from "../seals.ts";
import {
  deleteImportedPush,
  endImportedPush,
  type ImportedEvent,
  type ImportedPushState,
  PushChangedError,
  readImportedState,
  readOwnEntries,
  replaceImportedPush,
  restrictImportedPush,
  type StricterLimits,
} from "../store/import-push.ts";
import { optionsBy, pushes } from "../store/tables.ts";
import { createWriteOperations } from "../store/write-operations.ts";
import {
  countedViews,
  endedByTime,
  expiryOf,
  type ImportedPush,
  type PushImportDeps,
  withSealedRows,
} from "./import-push.ts";

/** A push that was imported before, as the other installation has it now. */
export interface PushToReimport {
  readonly pushId: number;
  readonly push: ImportedPush;
  /** All parts that were imported before can be read now. */
  readonly isComplete: boolean;
  /** In the other installation, since it was imported. */
  readonly haveLimitsChanged: boolean;
  /** How many events its trail had when it was imported. */
  readonly importedEvents: number;
  /** How many of its views here are those of the other installation. */
  readonly importedViews: number;
}

/**
 * What becomes of the push here:
 * - `replaced`: nobody did anything with it here, so it becomes what a first import would make of it.
 * - `merged`: it becomes the same, with the views of both, its events and edits here, and the stricter of all limits.
 * - `restricted`, `ended`: its content stays as it is here, with the views of both and the stricter limits, or it ends.
 * - `spent`: the views of both have reached its limit, so it ends.
 * - `kept`: it has ended here, or is gone, or the other installation is a copy from before the last import, or only the time that
 *   it had there has passed.
 */
export type ReimportPlan = "replaced" | "merged" | "restricted" | "spent" | "ended" | "kept";

type PlannedPush = Omit<PushToReimport, "pushId" | "importedEvents">;

/** Decides without writing anything. */
export function planReimport(here: ImportedPushState | undefined, request: PlannedPush): ReimportPlan {
  if (here === undefined) return "kept";
  const plan = planWithoutSum(here, request);
  if (plan !== "merged" && plan !== "restricted") return plan;
  const { views, expireAfterViews } = stricterLimits(here, request);
  return views < expireAfterViews ? plan : "spent";
}

function planWithoutSum(
  here: ImportedPushState,
  { push, isComplete, haveLimitsChanged, importedViews }: PlannedPush,
): Exclude<ReimportPlan, "spent"> {
  const { row, wasOpen, isTouched } = here;
  // The other installation never opens an ended push again, nor forgets views.
  const isOlderCopy = push.open !== null && (!wasOpen || countedViews(push) < importedViews);
  if (isOlderCopy || (isTouched && row.endedAt !== null)) return "kept";
  if (isTouched || !isComplete) {
    if (push.open === null) {
      // Its owner may have given it more time here.
      if (isTouched && endedByTime(push) && !haveLimitsChanged) {
        return countedViews(push) > importedViews ? "restricted" : "kept";
      }
      return row.endedAt === null ? "ended" : "kept";
    }
    return isComplete && canMerge(here, push.open) ? "merged" : "restricted";
  }
  return "replaced";
}

/** A push keeps its content if that was edited here, is being downloaded, or has a passphrase that the other one lacks. */
function canMerge(here: ImportedPushState, open: NonNullable<ImportedPush["open"]>): boolean {
  const { row, hasLinkDeliveries, isInUse } = here;
  const losesPassphrase = row.passphraseSalt !== null && open.passphrase === "";
  const isContentImported = row.sealGeneration === firstGeneration && !losesPassphrase;
  // Beyond that number entries count several events, which cannot be told apart.
  return isContentImported && !hasLinkDeliveries && !isInUse && row.auditCount <= auditEntriesMax;
}

export const readState = (
  connection: ReadConnection,
  { pushId, importedEvents }: Pick<PushToReimport, "pushId" | "importedEvents">,
) => readImportedState(connection, pushId, importedEvents);

export type Reimport =
  | {
      readonly outcome: "imported" | "kept";
      readonly plan: ReimportPlan;
      readonly pushId: number;
      /** It is asked for a passphrase in the other installation, and not here. */
      readonly lacksPassphrase: boolean;
    }
  /** Nothing was written, because the push has changed here meanwhile. */
  | { readonly outcome: "changed_meanwhile" };

/** Updates the record of the push, in the same transaction. */
type Settle = (tx: Transaction, done: Extract<Reimport, { readonly plan: ReimportPlan }>) => Promise<void>;

/** In one transaction. @throws the error of reading a file. */
export async function reimportPush(deps: PushImportDeps, request: PushToReimport, settle: Settle): Promise<Reimport> {
  const here = await readState(deps.db.read, request);
  const plan = planReimport(here, request);
  try {
    if (here !== undefined && (plan === "replaced" || plan === "merged")) {
      return await replace(deps, { request, here, plan, settle });
    }
    return await deps.db.write(async (tx) => {
      const { push, pushId } = request;
      if (here !== undefined && plan !== "kept") await restrictImportedPush(tx, here, stricterLimits(here, request));
      const end = plan === "spent" ? ({ at: deps.clock.now(), reason: "views" } as const) : push.end;
      if (here !== undefined && (plan === "spent" || plan === "ended") && end !== null) {
        await endImportedPush(tx, createWriteOperations(deps.db), here, end);
      }
      const lacksPassphrase =
        plan === "restricted" && here?.row.passphraseSalt === null && (push.open?.passphrase ?? "") !== "";
      const done = { outcome: "kept", plan, pushId, lacksPassphrase } as const;
      await settle(tx, done);
      return done;
    });
  } catch (error) {
    if (error instanceof PushChangedError) return { outcome: "changed_meanwhile" };
    throw error;
  }
}

interface Replacement {
  readonly request: PushToReimport;
  readonly here: ImportedPushState;
  readonly plan: ReimportPlan;
  readonly settle: Settle;
}

async function replace(deps: PushImportDeps, { request, here, plan, settle }: Replacement): Promise<Reimport> {
  const link = openLink(here.row, await ownerKeysOf(deps, here.row.ownerId));
  const push = {
    ...(plan === "merged" ? await mergedPush(deps, request, here) : request.push),
    // What the owner's lists have lost, for example by a change of the account's address, stays lost.
    hasLostLink: link === "not_stored",
  };
  const operations = createWriteOperations(deps.db);
  return await withSealedRows(deps, push, async (rows) => {
    const done = { outcome: "imported", plan, pushId: rows.row.id, lacksPassphrase: false } as const;
    await deps.db.write(async (tx) => {
      await replaceImportedPush(tx, operations, { before: here, rows, now: deps.clock.now() });
      await settle(tx, done);
    });
    return done;
  });
}

/** The views of both installations, each counted once, and the stricter of all limits. */
function stricterLimits({ row }: ImportedPushState, { push, importedViews }: PlannedPush): StricterLimits {
  const time =
    push.open === null
      ? row
      : {
          expireAfterDays: Math.min(row.expireAfterDays, push.expireAfterDays),
          expiresAt: Math.min(row.expiresAt, expiryOf(push)),
        };
  return {
    expireAfterDays: time.expireAfterDays,
    expireAfterViews: Math.min(row.expireAfterViews, push.expireAfterViews),
    views: row.views + Math.max(countedViews(push) - importedViews, 0),
    expiresAt: time.expiresAt,
    retrievalStep: row.retrievalStep || push.retrievalStep,
  };
}

async function mergedPush(
  { db, vault }: PushImportDeps,
  request: PushToReimport,
  here: ImportedPushState,
): Promise<ImportedPush> {
  const { push, importedEvents } = request;
  const { row, isEdited } = here;
  const { expiresAt, retrievalStep, ...limits } = stricterLimits(here, request);
  const own = await readOwnEntries(db.read, row.id, importedEvents);
  const label = (column: RotatedColumn, sealed: Buffer | null) =>
    sealed === null
      ? ""
      : (vault.keyring.open(column, { id: row.id, ownerId: row.ownerId }, sealed)?.toString("utf8") ?? "");
  return {
    ...push,
    ...(isEdited && {
      ...optionsBy((option) => row[option]),
      name: label(pushes.seals.name, row.nameSealed),
      note: label(pushes.seals.note, row.noteSealed),
    }),
    ...limits,
    retrievalStep,
    expiresAtLatest: expiresAt,
    refusals: 0,
    updatedAt: Math.max(push.updatedAt, row.updatedAt),
    trail: [
      ...push.trail,
      ...own.map(({ createdAt, ...entry }): ImportedEvent => ({ ...entry, at: createdAt, linkDelivery: null })),
    ],
  };
}

/** A push that the other installation does not have any more. */
export type PushToWithdraw = Pick<PushToReimport, "pushId" | "importedEvents"> & {
  /** Whether the other installation may have deleted a push of this owner for no other reason than that its time is over. */
  readonly isPurged: (ownerId: number | null) => boolean;
};

/**
 * Removes the push if nobody did anything with it here, and ends it otherwise. One that has more time here than it had there stays.
 * @param settle runs in the same transaction.
 */
export async function withdrawPush(
  { db, clock }: Pick<PushImportDeps, "db" | "clock">,
  { pushId, importedEvents, isPurged }: PushToWithdraw,
  settle: (tx: Transaction) => Promise<void>,
): Promise<Withdrawal> {
  const now = clock.now();
  const operations = createWriteOperations(db);
  return await db.write(async (tx) => {
    const here = await readImportedState(tx, pushId, importedEvents);
    const outcome = withdrawal(here, isPurged);
    if (here !== undefined && outcome === "ended")
      await endImportedPush(tx, operations, here, { at: now, reason: "owner" });
    if (outcome === "removed") await deleteImportedPush(tx, operations, pushId, now);
    await settle(tx);
    return outcome;
  });
}

export type Withdrawal = "removed" | "ended" | "kept" | "gone";

/** Decides without writing anything. */
export function withdrawal(here: ImportedPushState | undefined, isPurged: PushToWithdraw["isPurged"]): Withdrawal {
  if (here === undefined) return "gone";
  if (!here.isTouched) return "removed";
  if (here.row.endedAt !== null) return "gone";
  // It is still open, so its owner has given it more time here.
  return isPurged(here.row.ownerId) ? "kept" : "ended";
}
