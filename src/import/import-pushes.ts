import { tombstoneMs } from "../pushes/present-push.ts";
import type { PushOutcome } from "./destination.ts";
import { inLanes } from "./lanes.ts";
import { findLostFile, type Known, linkProblem, readPush } from "./read-push.ts";
import type { ImportRun } from "./run-import.ts";
import type { SourcePush, SourceRow } from "./source.ts";
import type { PushState } from "./tally.ts";

/** Writes that arrive together share a commit, and the work of one lane fills the waiting of another. */
const laneLimits = { lanesMax: 16, weightMax: 16 * 1024 * 1024 };
/** Of what one push takes beside its payload. */
const rowWeight = 4_096;

export async function importPushes(run: ImportRun): Promise<void> {
  const rows = unknownRows(run);
  await inLanes(rows, { ...laneLimits, weightOf, signal: run.signal }, async (row) => {
    if (row.outcome === "unreadable") run.tally.leaveOut("pushes", row.id, row.reason);
    else if (row.outcome === "skipped") run.tally.skip("pushes", row.reason);
    else await bring(run, row.row, row.problems);
  });
}

/** Those that no earlier run has brought. */
async function* unknownRows(run: ImportRun): AsyncGenerator<SourceRow<SourcePush>> {
  const known = run.destination.knownPushes();
  for await (const row of run.source.pushes(0)) {
    run.onRow("pushes");
    if (await known.has(row.id)) run.tally.pushes.known += 1;
    else yield row;
  }
}

function weightOf(row: SourceRow<SourcePush>): number {
  // A character takes two bytes in memory, and what is sealed of it up to four.
  return rowWeight + (row.outcome === "read" ? (row.row.open?.payload.length ?? 0) * 6 : 0);
}

async function bring(run: ImportRun, push: SourcePush, problems: readonly string[]): Promise<void> {
  const { tally } = run;
  const owner = run.owners.ownerOf(push.userId);
  if (owner.outcome === "left_out") {
    return tally.leaveOut("pushes", push.id, "Its owner has no account here: it comes along once the owner does.");
  }
  const ownerId = owner.outcome === "here" ? owner.userId : null;
  const state = stateOf(push, ownerId);
  if (state === "tombstone" && (push.end?.at ?? 0) + tombstoneMs <= run.now) {
    return tally.skip("pushes", "Nobody owns it, and it ended more than 30 days ago.");
  }
  const problem = linkProblem(push.urlToken);
  if (problem !== undefined) return tally.leaveOut("pushes", push.id, problem);
  await adopt(run, push, ownerId, state, problems);
}

function stateOf(push: SourcePush, ownerId: number | null): PushState {
  if (push.open !== null) return "open";
  return ownerId === null ? "tombstone" : "ended";
}

async function adopt(
  run: ImportRun,
  push: SourcePush,
  ownerId: number | null,
  state: PushState,
  problems: readonly string[],
): Promise<void> {
  const { tally, owners } = run;
  const entries = state === "tombstone" ? [] : await run.source.auditEntries(push.id);
  const lost = new Map<number, string>();
  for (;;) {
    const brought = await tryToBring(run, push, { ownerId, owners, entries, lostFileIds: new Set(lost.keys()) });
    switch (brought.outcome) {
      case "file_lost":
        if (!run.options.withoutLostFiles) {
          return tally.leaveOut("pushes", push.id, `A file of it cannot be had. ${brought.reason}`);
        }
        lost.set(brought.fileId, brought.reason);
        break;
      case "link_taken":
        return tally.leaveOut("pushes", push.id, "Another push here has the same link.");
      case "known":
        tally.pushes.known += 1;
        return;
      case "brought": {
        const { pushId, fileBytes } = brought;
        const files = (push.open?.files.length ?? 0) - lost.size;
        tally.bringPush({ kind: push.kind, state, pushId, auditEvents: entries.length, files, fileBytes });
        for (const reason of problems) tally.lacks("pushes", push.id, reason);
        for (const reason of lost.values()) tally.lacks("pushes", push.id, `It comes without a file. ${reason}`);
        return;
      }
    }
  }
}

type Attempt = PushOutcome | { readonly outcome: "file_lost"; readonly fileId: number; readonly reason: string };

async function tryToBring({ destination, source }: ImportRun, push: SourcePush, known: Known): Promise<Attempt> {
  try {
    return await destination.bringPush(push.id, readPush(push, known, source));
  } catch (error) {
    const file = findLostFile(error);
    if (file === undefined) throw error;
    return { outcome: "file_lost", fileId: file.fileId, reason: file.message };
  }
}
