import { dayMs } from "../base/clock.ts";
import { tombstoneMs } from "../pushes/present-push.ts";
import { countBehind, countWith } from "./count-holdings.ts";
import type { ImportRun } from "./deps.ts";
import type { PushOutcome } from "./destination.ts";
import { stillLacking, stillToCome } from "./lacks.ts";
import { inLanes } from "./lanes.ts";
import { findLostFile, linkProblem, type PushContext, readPush } from "./read-push.ts";
import type { Holdings, Lack, PushPart, SourcePush, SourceRow, SourceTrail } from "./source.ts";
import type { ImportedRow } from "./store/imported-rows.ts";
import type { PushState } from "./tally.ts";

/** Writes that arrive together share a commit, and the work of one lane fills the waiting of another. */
const laneLimits = { lanesMax: 16, weightMax: 16 * 1024 * 1024 };
/** In ms, with a margin. */
const longestRunMs = 7 * dayMs;
/** Of what one push takes beside its payload and its trail. */
const rowWeight = 4_096;
/** An entry is held as it was read, as it will be written, and as its statement has it. */
const entryWeight = 2_048;

type PushRow = SourceRow<SourcePush, PushPart>;
type ReadRow = Extract<PushRow, { readonly outcome: "read" }>;

export async function importPushes(run: ImportRun): Promise<void> {
  await inLanes(unknownRows(run), { ...laneLimits, weightOf, signal: run.signal }, async ({ row, known }) => {
    if (known !== undefined) await settleKnown(run, row, known);
    else if (row.outcome === "unreadable") leaveOut(run, row, row.reason);
    else if (row.outcome === "skipped") skip(run, row, row.reason);
    else await bring(run, row);
  });
}

interface WaitingRow {
  readonly row: PushRow;
  /** It came in part in an earlier run. */
  readonly known: ImportedRow | undefined;
}

/** Those that no earlier run has brought whole. */
async function* unknownRows(run: ImportRun): AsyncGenerator<WaitingRow> {
  const knownPushes = run.destination.knownPushes();
  for await (const row of run.source.pushes()) {
    run.onRow("pushes");
    noteOwner(run, row);
    const known = await knownPushes.find(row.id);
    if (known === undefined || known.lacks.length > 0) yield { row, known };
    else countKnown(run, row, known, known.holdings);
  }
}

/** A row in which an owner stands who is no user of the source: all but what only an owner could see comes along. */
function noteOwner({ owners, tally }: ImportRun, row: PushRow): void {
  if (row.outcome !== "read" || row.row.userId === null) return;
  if (owners.ownerOf(row.row.userId).outcome === "nobody") tally.noteOwnerless(row.id);
}

function weightOf({ row }: WaitingRow): number {
  if (row.outcome !== "read") return rowWeight;
  // A character takes two bytes in memory, and what is sealed of it up to four.
  const payloadWeight = (row.row.open?.payload.length ?? 0) * 6;
  return rowWeight + payloadWeight + (row.holdings?.auditEntries ?? 0) * entryWeight;
}

/** @param here what there is of it now, which a completion may have made more. */
function countKnown({ tally, owners }: ImportRun, row: PushRow, known: ImportedRow, here: Holdings): void {
  tally.counts.pushes.known += 1;
  const now = {
    auditEntries: Math.max(here.auditEntries - known.holdings.auditEntries, 0),
    notifications: Math.max(here.notifications - known.holdings.notifications, 0),
    files: 0,
  };
  const isOwned = row.outcome !== "read" || owners.ownerOf(row.row.userId).outcome !== "nobody";
  countWith(tally, { there: row.holdings, here, now, lacks: known.lacks, isOwned });
}

function leaveOut({ tally }: ImportRun, { id, holdings }: PushRow, reason: string): void {
  tally.leaveOut("pushes", id, reason);
  countBehind(tally, "leftOut", holdings);
}

function skip({ tally }: ImportRun, { holdings }: PushRow, reason: string): void {
  tally.skip("pushes", reason);
  countBehind(tally, "skipped", holdings);
}

async function bring(run: ImportRun, row: ReadRow): Promise<void> {
  const push = row.row;
  const owner = run.owners.ownerOf(push.userId);
  if (owner.outcome === "left_out") {
    return leaveOut(run, row, "Its owner has no account here: it comes along once the owner does.");
  }
  if (owner.outcome === "gone") return skip(run, row, "The account of its owner was deleted here.");
  const ownerId = owner.outcome === "here" ? owner.userId : null;
  const state = stateOf(push, ownerId);
  if (state === "tombstone" && (push.end?.at ?? 0) + tombstoneMs <= run.now) {
    return skip(run, row, "Nobody owns it, and it ended more than 30 days ago.");
  }
  const problem = linkProblem(push.urlToken);
  if (problem !== undefined) return leaveOut(run, row, problem);
  await adopt(run, row, ownerId, state);
}

function stateOf(push: SourcePush, ownerId: number | null): PushState {
  if (push.open !== null) return "open";
  return ownerId === null ? "tombstone" : "ended";
}

/** What is read beside the row of a push, for what it is here. */
interface Surroundings extends Omit<PushContext, "lostFileIds"> {
  readonly lacks: readonly Lack<PushPart>[];
}

async function lookAround(run: ImportRun, row: ReadRow, ownerId: number | null): Promise<Surroundings> {
  const { owners } = run;
  const isTombstone = stateOf(row.row, ownerId) === "tombstone";
  const trail: SourceTrail = isTombstone ? { entries: [], lacks: [] } : await run.source.trail(row.id);
  const lacks = [...row.lacks, ...trail.lacks, ...lackingPeople(run, trail)];
  // What nobody could ever see is not missed.
  const missed = lacks.filter(({ part }) => ownerId !== null || (part !== "note" && part !== "notifications"));
  return { ownerId, owners, entries: trail.entries, lacks: missed };
}

function lackingPeople({ owners }: ImportRun, { entries }: SourceTrail): readonly Lack<PushPart>[] {
  if (!entries.some(({ userId }) => owners.ownerOf(userId).outcome === "left_out")) return [];
  const reason = "Its audit trail names somebody who has no account here: who did that stays unknown until then.";
  return [{ part: "people", reason }];
}

async function adopt(run: ImportRun, row: ReadRow, ownerId: number | null, state: PushState): Promise<void> {
  const { tally } = run;
  const push = row.row;
  const around = await lookAround(run, row, ownerId);
  const lost = new Map<number, string>();
  for (;;) {
    const lacks = [...around.lacks, ...lostFiles(lost)];
    const here = holdingsOf(around, (push.open?.files.length ?? 0) - lost.size);
    const brought = await tryToBring(run, row, { ...around, lostFileIds: new Set(lost.keys()) }, lacks, here);
    switch (brought.outcome) {
      case "file_lost":
        if (!run.options.withoutLostFiles) {
          return leaveOut(run, row, `A file of it cannot be had. ${brought.reason}`);
        }
        lost.set(brought.fileId, brought.reason);
        break;
      case "link_taken":
        return leaveOut(run, row, "Another push here has the same link.");
      case "known":
        // Another import of the same installation runs beside this one.
        return await settleKnown(run, row, brought.known);
      case "brought": {
        const { fileBytes } = brought;
        const stays = staysMeanwhile(run, push, ownerId);
        tally.bringPush({ kind: push.kind, state, stays, fileBytes, auditEvents: here.auditEntries });
        const parts = lacks.map(({ part }) => part);
        const isOwned = ownerId !== null;
        countWith(tally, { there: row.holdings, here, now: here, lacks: parts, isOwned });
        return tally.lacks("pushes", push.id, lacks);
      }
    }
  }
}

/** Whether no server that runs beside this can have forgotten it by the end of the run. */
function staysMeanwhile({ destination, now }: ImportRun, { end }: SourcePush, ownerId: number | null): boolean {
  const forgottenAt = end === null ? undefined : destination.forgetsAt({ ownerId, endedAt: end.at });
  return forgottenAt === undefined || forgottenAt > now + longestRunMs;
}

function lostFiles(lost: ReadonlyMap<number, string>): readonly Lack<PushPart>[] {
  return [...lost.values()].map((reason) => ({ part: "files", reason: `It comes without a file. ${reason}` }));
}

function holdingsOf({ entries, ownerId }: Surroundings, files: number): Holdings {
  const told = ownerId === null ? 0 : entries.filter(({ notification }) => notification !== null).length;
  return { auditEntries: entries.length, notifications: told, files };
}

type Attempt = PushOutcome | { readonly outcome: "file_lost"; readonly fileId: number; readonly reason: string };

async function tryToBring(
  { destination, source }: ImportRun,
  { row: push }: ReadRow,
  context: PushContext,
  lacks: readonly Lack<PushPart>[],
  holdings: Holdings,
): Promise<Attempt> {
  try {
    const parts = lacks.map(({ part }) => part);
    return await destination.bringPush({
      ...{ sourceId: push.id, push: readPush(push, context, source), lacks: parts, holdings },
    });
  } catch (error) {
    const file = findLostFile(error);
    if (file === undefined) throw error;
    return { outcome: "file_lost", fileId: file.fileId, reason: file.message };
  }
}

async function settleKnown(run: ImportRun, row: PushRow, known: ImportedRow): Promise<void> {
  if (known.lacks.length > 0) await complete(run, row, known);
  else countKnown(run, row, known, known.holdings);
}

/** Of one that came in part in an earlier run. */
async function complete(run: ImportRun, row: PushRow, known: ImportedRow): Promise<void> {
  const { tally, destination, source } = run;
  if (row.outcome !== "read") {
    countKnown(run, row, known, known.holdings);
    return tally.lacks("pushes", row.id, stillLacking(known.lacks, row.reason));
  }
  const owner = run.owners.ownerOf(row.row.userId);
  const around = await lookAround(run, row, owner.outcome === "here" ? owner.userId : null);
  const completion = await destination.completePush(known, {
    sourceId: row.id,
    push: readPush(row.row, { ...around, lostFileIds: new Set() }, source),
    lacks: around.lacks.map(({ part }) => part),
    holdings: holdingsOf(around, known.holdings.files),
  });
  if (completion.outcome === "overtaken") return await settleKnown(run, row, completion.now);
  if (completion.filled.length > 0) tally.completed += 1;
  countKnown(run, row, known, completion.holdings);
  tally.supersede("pushes", row.id, completion.superseded);
  tally.lacks("pushes", row.id, stillToCome(around.lacks, completion.lacks));
}
