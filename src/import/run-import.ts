import { countRest } from "./count-holdings.ts";
import type { ImportDeps, ImportRun } from "./deps.ts";
import type { Destination } from "./destination.ts";
import { importPushes } from "./import-pushes.ts";
import { importUsers } from "./import-users.ts";
import { Owners } from "./owners.ts";
import type { SourceCounts } from "./source.ts";
import { type Counts, countedTables, Tally, tableNames } from "./tally.ts";

export interface ImportSummary {
  readonly interrupted: boolean;
  readonly warnings: readonly string[];
  readonly there: SourceCounts;
  readonly tally: Tally;
  /** Where both sides, counted at the end, do not agree; one sentence each. */
  readonly differences: readonly string[];
}

/**
 * Brings users, then pushes, then the style sheet from a source to a destination. Each row is a transaction of its own and is noted
 * in it, so a run may end anywhere, and the next one goes on from there. @throws what the destination or the source throws
 * when they fail as a whole; what one row lacks is told instead.
 */
export async function runImport(deps: ImportDeps): Promise<ImportSummary> {
  const { source, destination, signal } = deps;
  const there = await source.counts();
  const read = { users: 0, pushes: 0 };
  const tally = new Tally(deps.onProblem);
  const run: ImportRun = {
    ...{ ...deps, tally, owners: new Owners() },
    onRow(table) {
      read[table] += 1;
      deps.onProgress(table, read[table], there[table]);
    },
  };
  await importUsers(run);
  if (!signal.aborted) await importPushes(run);
  if (!signal.aborted) await importStyle(run);
  const interrupted = signal.aborted;
  if (!interrupted) countRest(tally, there, there.ofNoPush);
  const differences = interrupted ? [] : await compare(destination, tally, there);
  // Only now they have all counts.
  const warnings = [...source.warnings, ...ownerlessWarning(tally)];
  return { interrupted, warnings, there, tally, differences };
}

function ownerlessWarning({ ownerless: { count, first } }: Tally): readonly string[] {
  if (count === 0) return [];
  const what =
    count === 1
      ? "push has an owner who is no user there: it comes along as nobody's"
      : "pushes have an owner who is no user there: they come along as nobody's";
  const ids = `${first.join(", ")}${count > first.length ? ", …" : ""}`;
  return [`${count} ${what}, without name and note (${ids}).`];
}

async function importStyle({ source, destination, tally }: ImportRun): Promise<void> {
  const css = await source.styleSheet();
  if (css === undefined) return;
  const brought = await destination.bringStyle(css);
  switch (brought.outcome) {
    case "brought":
    case "known":
      tally.style[brought.outcome] += 1;
      return;
    case "other_style":
      return tally.leaveOut("site_settings", 0, "This server has another style sheet already: it stays.");
    case "refused":
      return tally.leaveOut("site_settings", 0, brought.reason);
  }
}

/**
 * Each row of the source must have been dealt with in one way, and each that came must be here. What another run brings
 * meanwhile, and what a server does with what came, is no difference.
 */
async function compare(destination: Destination, tally: Tally, there: SourceCounts): Promise<readonly string[]> {
  const differences: string[] = [];
  const agree = (what: string, expected: number, found: number, least = false) => {
    if (found === expected || (least && found > expected)) return;
    differences.push(`${what}: ${expected} ${least ? "at least " : ""}were expected, ${found} were found.`);
  };
  for (const table of countedTables) {
    agree(`${tableNames[table]} accounted for, of those at the source`, there[table], sumOf(tally.counts[table]));
  }
  const here = await destination.countHere();
  if (here === undefined) return differences;
  const { noted, notedByThisRun, standing } = here;
  for (const table of countedTables) {
    const { brought, known } = tally.counts[table];
    agree(`${tableNames[table]} noted here`, brought + known, noted[table], true);
  }
  for (const table of ["users", "pushes", "files"] as const) {
    agree(`${tableNames[table]} noted here by this run`, tally.counts[table].brought, notedByThisRun[table]);
  }
  agree("Pushes of this run here", tally.staying.pushes, standing.pushes, true);
  agree("Events in trails of pushes of this run here", tally.staying.events, standing.auditEvents, true);
  agree("Files of open pushes of this run here", standing.files.noted, standing.files.found);
  return differences;
}

function sumOf({ brought, known, leftOut, skipped }: Counts): number {
  return brought + known + leftOut + skipped;
}
