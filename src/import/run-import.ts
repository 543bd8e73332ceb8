import type { ImportSource, SourceChange, SourceCounts } from "@sealpush/import-password-pusher";
import { readStyleSheet, type StyleSheetProblem } from "../branding/style-sheet.ts";
import { keyedHash } from "../crypto/sodium.ts";
import type { Destination } from "./domain-destination.ts";
import { importPushes } from "./import-pushes.ts";
import {
  countedTables,
  countRows,
  type ImportDeps,
  ImportResults,
  type ImportRun,
  tableNames,
  totalOf,
} from "./import-results.ts";
import { importUsers } from "./import-users.ts";
import { type Activity, styleSheetId } from "./store/imported-rows.ts";

export type ImportSummary = Awaited<ReturnType<typeof runImport>>;

/**
 * Imports users, then pushes, then the style sheet. Each row is written and recorded in a transaction of its own, so a run may be
 * interrupted anywhere, and the next run continues. @throws SourceChangedError, and errors of the source or the destination as a whole. Errors of a
 * single row are reported instead.
 */
export async function runImport({ onProgress, onProblem, ...deps }: ImportDeps) {
  const { source, destination, signal } = deps;
  await refuseChangedSource(source, destination, deps.now);
  const inSource = await source.counts();
  const results = new ImportResults(onProblem);
  const run: ImportRun = {
    ...deps,
    results,
    owners: new Map(),
    firstConfirmationEmailAt: await source.firstConfirmationEmailAt(),
    onRow: countRows(inSource, onProgress),
  };
  if (!signal.aborted) await importUsers(run);
  if (!signal.aborted) await importPushes(run);
  if (!signal.aborted) await importStyleSheet(run);
  const interrupted = signal.aborted;
  if (!interrupted) results.addRelatedWithoutPush(inSource, inSource.withoutPush);
  return {
    interrupted,
    inSource,
    results,
    /** Where the counts of source and destination do not agree, one sentence each. */
    differences: interrupted ? [] : await compareCounts(destination, results, inSource),
    // Read last: their counts grow while rows are read.
    warnings: source.warnings,
  };
}

async function importStyleSheet({ source, destination, results }: ImportRun): Promise<void> {
  const css = await source.styleSheet();
  if (css === undefined) return;
  if ((await destination.rows.find("style", styleSheetId)) !== undefined) {
    results.styleSheet.importedBefore += 1;
    return;
  }
  const read = await readStyleSheet(css);
  const present = await destination.findStyleSheet();
  const isOther = present !== undefined && !(read.ok && Buffer.from(read.css, "utf8").equals(present));
  if (isOther) return leaveOut("This server already has another style sheet, which stays.");
  if (!read.ok) return leaveOut(refusalOf(read.problem));
  const isNew = await destination.importStyleSheet(css);
  results.styleSheet[isNew ? "imported" : "importedBefore"] += 1;

  function leaveOut(reason: string): void {
    results.leaveOut("site_settings", { id: styleSheetId }, reason);
  }
}

const refusedParts = {
  at_rule: "a rule",
  function: "an address or a function call",
  address: "an address or a function call",
  property: "a property",
} as const;

function refusalOf(problem: StyleSheetProblem): string {
  if (problem.reason === "too_long") return `The style sheet has more than ${problem.bytesMax} bytes.`;
  const position = `line ${problem.line}, column ${problem.column}`;
  if (problem.reason === "unreadable") return `The style sheet cannot be read at ${position}.`;
  return `The style sheet has ${refusedParts[problem.reason]} at ${position} that this server does not allow.`;
}

/**
 * Every row of the source must be counted once, and every imported row must be present. Rows that another run imports
 * meanwhile, and changes that a running server makes, are not differences.
 */
async function compareCounts(
  destination: Destination,
  results: ImportResults,
  inSource: SourceCounts,
): Promise<readonly string[]> {
  const differences: string[] = [];
  const expectEqual = (what: string, expected: number, found: number) => {
    if (found !== expected) differences.push(`${what}: expected ${expected}, found ${found}.`);
  };
  for (const table of countedTables) {
    expectEqual(`${tableNames[table]} of the source`, inSource[table], totalOf(results.counts[table]));
  }
  const { rows, run } = destination;
  if (run === undefined) return differences;
  const [recorded, recordedByThisRun] = [await rows.counts(), await rows.counts(run)];
  for (const table of countedTables) {
    const { imported, importedBefore } = results.counts[table];
    const expected = imported + importedBefore;
    if (recorded[table] >= expected) continue;
    differences.push(`${tableNames[table]} recorded here: expected at least ${expected}, found ${recorded[table]}.`);
  }
  for (const table of ["users", "pushes", "files"] as const) {
    const what = `${tableNames[table]} recorded here by this run`;
    expectEqual(what, results.counts[table].imported, recordedByThisRun[table]);
  }
  return differences;
}

const digestBytes = 16;

/** The source is not as it was when the first of its rows was imported. Nothing was written. */
export class SourceChangedError extends Error {
  override readonly name = "SourceChangedError";
  /** Empty: rows have the same numbers and times as before, and are others. */
  readonly changes: readonly SourceChange[];
  readonly activity: Activity;

  constructor(changes: readonly SourceChange[], activity: Activity) {
    super("Password Pusher has changed since its first rows were imported here, so nothing was written.");
    this.changes = changes;
    this.activity = activity;
  }
}

/**
 * A later run imports only what no run has imported. If the source has changed, it would leave spent pushes open here, and the ids of
 * a copy that was used separately would give pushes to other users.
 * @param now milliseconds since the epoch. @throws SourceChangedError.
 */
async function refuseChangedSource(
  source: ImportSource,
  { rows, identitiesKey }: Destination,
  now: number,
): Promise<void> {
  const snapshot = await source.snapshot();
  // Without the key, nothing of the identities can be computed from the record.
  const identities = keyedHash(identitiesKey, digestBytes, "identities", snapshot.identities).toString("base64url");
  const recorded = await rows.readSnapshot();
  if (recorded === undefined) return rows.setSnapshot({ ...snapshot, identities, at: now });
  const changes = await source.changesSince(recorded.tables);
  if (changes.length === 0 && identities === recorded.identities) return;
  throw new SourceChangedError(changes, await rows.activitySince(recorded.at));
}
