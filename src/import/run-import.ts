import type { SourceCounts } from "@sealpush/import-password-pusher";
import { refuseChangedSource } from "./changed-source.ts";
import type { Destination } from "./destination.ts";
import { importPushes } from "./import-pushes.ts";
import { countedTables, ImportResults, tableNames, totalOf } from "./import-results.ts";
import { importStyleSheet } from "./import-style-sheet.ts";
import { importUsers } from "./import-users.ts";
import type { ImportDeps, ImportRun } from "./run-context.ts";

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
  const read = { users: 0, pushes: 0 };
  const results = new ImportResults(onProblem);
  const run: ImportRun = {
    ...deps,
    results,
    owners: new Map(),
    firstConfirmationEmailAt: await source.firstConfirmationEmailAt(),
    onRow(table) {
      read[table] += 1;
      onProgress(table, read[table], inSource[table]);
    },
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
  const expectAtLeast = (what: string, expected: number, found: number) => {
    if (found < expected) differences.push(`${what}: expected at least ${expected}, found ${found}.`);
  };
  for (const table of countedTables) {
    expectEqual(`${tableNames[table]} of the source`, inSource[table], totalOf(results.counts[table]));
  }
  const { rows, run } = destination;
  if (run === undefined) return differences;
  const [recorded, recordedByThisRun] = [await rows.counts(), await rows.counts(run)];
  for (const table of countedTables) {
    const { imported, importedBefore } = results.counts[table];
    expectAtLeast(`${tableNames[table]} recorded here`, imported + importedBefore, recorded[table]);
  }
  for (const table of ["users", "pushes", "files"] as const) {
    const what = `${tableNames[table]} recorded here by this run`;
    expectEqual(what, results.counts[table].imported, recordedByThisRun[table]);
  }
  return differences;
}
