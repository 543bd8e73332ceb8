import { type Clock, clockSpreadMs, dayMs, minuteMs, secondMs } from "../../base/clock.ts";
import type { ClockTrust } from "../../base/clock-trust.ts";
import { BlobMissingError, type BlobStore, BlobStoreError } from "../../blobs/blob-store.ts";
import type { Config } from "../../config/config.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { blobsGraceMs, type PushDeps, storeWaitMsMax, ticketTtlMs } from "../deps.ts";
import { tombstoneMs } from "../present-push.ts";
import type { PushUpkeep } from "../store/maintenance.ts";
import type { PushStore } from "../store/push-store.ts";

export interface SweepDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly clockTrust: ClockTrust;
  readonly monotonicMs: () => number;
  readonly store: Pick<PushStore, "upkeep" | "downloadTickets" | "claimRetries" | "creationKeys">;
  readonly blobs: BlobStore;
  readonly abortAfter: (ms: number) => AbortSignal;
  /** Resolves after `ms`; never rejects. */
  readonly pause: (ms: number) => Promise<void>;
  readonly onBlobDeletionFailed: (error: unknown) => void;
  /** The other steps run all the same. */
  readonly onStepFailed: (step: string, error: unknown) => void;
}

export type SweepReport = Awaited<ReturnType<typeof sweep>>;

const batchRows = 50;
/** Longer than a claim may take to be committed. */
const payloadsStayMs = minuteMs;
/** Each is one short row. */
const payloadRows = 500;
/** An object store is slow for each deletion but handles many at once. */
const deletionsAtOnce = 8;
/** One attempt at each sweep to read blobs for which downloads wait. */
const probesAtOnce = 8;
const probeMs = 10 * secondMs;
/** A sweep rests three times as long as it works, so that claims get most of the CPU. */
const restShare = 3;
const orphanAgeMs = 15 * minuteMs;
/** After this time, every request that began before the deletion of the account has finished. */
const departureMs = dayMs;
/** Longer than a store needs for one batch. */
const leaseMs = 5 * minuteMs;
const retryFirstMs = 10 * secondMs;
const retryMaxMs = dayMs / 4;
/** Bounds every loop. A sweep that finds more leaves the rest to the next one. */
const batchesMax = 20_000;

/**
 * Ends overdue pushes, removes what is past its retention, and drains the queue of blobs to delete. Work that depends on
 * the time waits until the clock is trusted. Blobs of pushes that a person deleted are deleted without waiting. A step that
 * fails stops no other one.
 */
export async function sweep(deps: SweepDeps, signal: AbortSignal) {
  const { config } = deps;
  const { upkeep } = deps.store;
  const now = deps.clock.now();
  const clockTrusted = deps.clockTrust.check();
  const step = async (name: string, run: () => Promise<number>) => {
    try {
      return await run();
    } catch (error) {
      deps.onStepFailed(name, error);
      return 0;
    }
  };
  const inBatches = (name: string, batch: () => Promise<number>) => step(name, () => repeat(deps, signal, batch));
  const trusted = async (name: string, batch: () => Promise<number>) =>
    clockTrusted ? await inBatches(name, batch) : 0;

  const ended = await trusted("due pushes", () => upkeep.endDue(now, batchRows, blobsGraceMs(config)));
  await inBatches("payloads", () => upkeep.removeEndedPayloads(now - payloadsStayMs, payloadRows));
  const released = await inBatches("deleted accounts", () => releaseDeparted(upkeep, now, batchRows));
  await trusted("forgotten accounts", () => upkeep.forgetDeparted(now - departureMs));
  const removeTombstones = () => upkeep.removeTombstones(now - tombstoneMs, batchRows);
  const tombstonesRemoved = await trusted("tombstones", removeTombstones);
  const { purgeAfterMs } = config;
  const purge = async () => (purgeAfterMs === undefined ? 0 : await upkeep.purgeOwned(now - purgeAfterMs, batchRows));
  const purged = await trusted("purge", purge);
  const orphansAbandoned = await trusted("uploads", () => upkeep.abandonOrphans(now - orphanAgeMs, batchRows));
  await trusted("unfinished uploads", () => upkeep.removeUnfinishedUploads(now, batchRows));
  const keyRowsTrimmed = await trusted("key rows", () => upkeep.trimRowSecrets(batchRows * 10));
  const resume = async () => (clockTrusted ? await resumeTickets(deps, signal) : 0);
  const ticketsResumed = await step("waiting downloads", resume);
  const blobsDueAt = now + blobsGraceMs(config);
  const latestDueAt = latestExpiry(now, Math.max(retryMaxMs, blobsGraceMs(config)));
  await trusted("blob deletions of a later clock", () => upkeep.bringBlobsForward(blobsDueAt, latestDueAt));
  const lease = { now, untriedBy: clockTrusted ? now : 0, leasedUntil: now + leaseMs };
  const blobsDeleted = await step("blob deletions", () => drainBlobDeletions(deps, signal, lease));
  return {
    clockTrusted,
    ended,
    /** Pushes of deleted accounts. */
    released,
    tombstonesRemoved,
    purged,
    orphansAbandoned,
    keyRowsTrimmed,
    /** Downloads that waited for the store and can continue, because it answers again. */
    ticketsResumed,
    blobsDeleted,
  };
}

/** Tickets that wait for the store are valid as usual from the moment at which it answers again. @returns how many. */
async function resumeTickets(deps: SweepDeps, stop: AbortSignal): Promise<number> {
  const { config, clock, blobs } = deps;
  const { downloadTickets } = deps.store;
  const resume = () => {
    const now = clock.now();
    return downloadTickets.resume(now + ticketTtlMs(config), now + blobsGraceMs(config));
  };
  const blobKeys = await downloadTickets.waitingBlobs(clock.now(), probesAtOnce);
  if (blobKeys.length === 0) return 0;
  const signal = AbortSignal.any([stop, deps.abortAfter(probeMs)]);
  // Try several, so that one unreadable file does not delay the others.
  const answers = await Promise.all(blobKeys.map((blobKey) => answersRead(blobs, blobKey, signal)));
  return answers.includes(true) ? await resume() : 0;
}

async function answersRead(blobs: BlobStore, blobKey: string, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of blobs.read(blobKey, { start: 0, end: 0 }, signal)) break;
    return true;
  } catch (error) {
    if (error instanceof BlobMissingError) return true;
    if (error instanceof BlobStoreError) return false;
    throw error;
  }
}

/** Stops at an unreachable store until the next sweep: waiting for it would delay the ends of pushes. */
async function drainBlobDeletions(
  deps: SweepDeps,
  signal: AbortSignal,
  lease: Parameters<PushUpkeep["leaseBlobDeletions"]>[0],
): Promise<number> {
  let deleted = 0;
  await repeat(deps, signal, async () => {
    const due = await deps.store.upkeep.leaseBlobDeletions(lease, batchRows);
    for (let at = 0; at < due.length; at += deletionsAtOnce) {
      const some = due.slice(at, at + deletionsAtOnce);
      const outcomes = await Promise.all(some.map((deletion) => deleteBlob(deps, deletion, lease.now)));
      deleted += outcomes.filter((outcome) => outcome === "deleted").length;
      if (outcomes.includes("out_of_reach")) return 0;
    }
    return due.length;
  });
  return deleted;
}

async function deleteBlob(
  { store: { upkeep }, blobs, onBlobDeletionFailed }: SweepDeps,
  { blobKey, attempts }: { readonly blobKey: string; readonly attempts: number },
  now: number,
): Promise<"deleted" | "failed" | "out_of_reach"> {
  try {
    await blobs.delete(blobKey);
  } catch (error) {
    onBlobDeletionFailed(error);
    // Postponed beyond this run, so it does not return the same blob again.
    const pauseMs = Math.min(retryFirstMs * 2 ** Math.min(attempts, 20), retryMaxMs);
    await upkeep.postponeBlobDeletion(blobKey, now + pauseMs);
    return error instanceof BlobStoreError ? "out_of_reach" : "failed";
  }
  await upkeep.blobDeleted(blobKey);
  return "deleted";
}

type ExpiryDeps = Pick<SweepDeps, "config" | "clock" | "clockTrust" | "monotonicMs" | "pause" | "store">;

/**
 * Overwrites the copies of row secrets for claims that can no longer be repeated: whatever the clock says, because that only
 * ends the time to repeat a request. Removes the keys of creations when they are old, unless the clock may be wrong: a key
 * without a row would count as unused. Not part of a sweep, which may take long. @returns how many.
 */
export async function removeExpiredRetries(deps: ExpiryDeps, signal: AbortSignal): Promise<number> {
  const { clock, clockTrust, config } = deps;
  const { claimRetries, creationKeys } = deps.store;
  const copies = await repeat(deps, signal, () => {
    const now = clock.now();
    return claimRetries.removeExpired(now, latestExpiry(now, config.claimRetrySeconds * secondMs), batchRows);
  });
  if (!clockTrust.check()) return copies;
  return copies + (await repeat(deps, signal, () => creationKeys.removeOld(batchRows)));
}

/** Overwrites the keys of expired download tickets. Not part of a sweep, which may take long. @returns how many. */
export async function removeExpiredTickets(deps: ExpiryDeps, signal: AbortSignal): Promise<number> {
  const { clock, clockTrust, config } = deps;
  if (!clockTrust.check()) return 0;
  return await repeat(deps, signal, () => {
    const now = clock.now();
    const issued = latestExpiry(now, ticketTtlMs(config));
    return deps.store.downloadTickets.removeExpired(now, { issued, waiting: issued + storeWaitMsMax }, batchRows);
  });
}

/** @returns when a row expires at the latest that was not stored before the clock was set back. `now` is read for each batch. */
function latestExpiry(now: number, lifeMs: number): number {
  return now + lifeMs + clockSpreadMs;
}

async function repeat(
  deps: Pick<SweepDeps, "monotonicMs" | "pause">,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < batchesMax && !signal.aborted; batch += 1) {
    const startedAt = deps.monotonicMs();
    const done = await step();
    total += done;
    if (done === 0) break;
    await deps.pause((deps.monotonicMs() - startedAt) * restShare);
  }
  return total;
}

/** Pushes per transaction: few enough that other claims are not delayed. */
const releasedRows = 100;
const ownersAtOnce = 100;

export function ownerOperations(deps: PushDeps) {
  return {
    /** How many pushes of the owner can still be opened, at most `countedMax`. */
    countLive: (ownerId: number, countedMax: number): Promise<number> =>
      deps.store.upkeep.countLive(ownerId, deps.clock.now(), countedMax),

    /** Ends all live pushes of the owner for an administrator, at once. After a failure it can be repeated. */
    async endOwned(ownerId: number, by: Actor): Promise<void> {
      const now = deps.clock.now();
      const audit = auditRecord("expire", by, now);
      while ((await deps.store.upkeep.endOwned(ownerId, now, releasedRows, audit)) === releasedRows);
    },

    /**
     * For a deleted account: its pushes end at once. Resolves when only their tombstones remain; the sweeper finishes the work
     * after a crash.
     */
    async removeOwner(ownerId: number): Promise<void> {
      const now = deps.clock.now();
      while ((await deps.store.upkeep.releaseOwned(ownerId, now, releasedRows)) > 0);
    },
  };
}

/**
 * For the sweeper: releases pushes of deleted owners that a crash left behind, and those created during the deletion.
 * @returns how many were released, at most about `limit`.
 */
export async function releaseDeparted(
  departures: Pick<PushUpkeep, "departedOwners" | "releaseOwned">,
  now: number,
  limit: number,
): Promise<number> {
  let released = 0;
  let last = 0;
  while (released < limit) {
    const owners = await departures.departedOwners(last, ownersAtOnce);
    for (const ownerId of owners) {
      if (released < limit) released += await departures.releaseOwned(ownerId, now, limit - released);
    }
    last = owners.at(-1) ?? last;
    if (owners.length < ownersAtOnce) break;
  }
  return released;
}
