import type { Problem } from "../../import/import-results.ts";
import { countsOf, lineOf, type ReportOutcome, summaryLines, textPathOf } from "../../import/report.ts";
import type { ImportSummary } from "../../import/run-import.ts";
import type { Events } from "../../telemetry/events.ts";
import type { CliIo } from "../cli-io.ts";
import { eventsFor } from "../open-domain.ts";

/** In addition to the codes of all commands. */
export const withProblemsExitCode = 3;

export interface ImportEnding {
  readonly summary: ImportSummary;
  readonly outcome: Exclude<ReportOutcome, "failed">;
  readonly isDryRun: boolean;
  readonly suppressedCount: number;
  readonly report: string | undefined;
}

/** Where an import says what it does: to people, or in the log of the start that imports. */
export interface ImportOutput {
  /** Events of the domain into which it imports. */
  readonly events: Events;
  warning(sentence: string): void;
  readonly progress: Progress;
  problem(problem: Problem): void;
  finished(ending: ImportEnding): void;
  /** The source has changed since an earlier run. */
  refused(lines: readonly string[]): void;
}

type Progress = (table: string, read: number, total: number) => void;

const progressEveryMs = 2_000;

/** Prints or logs every few seconds, and at the end of each table. */
export function createProgress(io: CliIo, print: Progress = printedOutput(io).progress): Progress {
  let printedAt = io.monotonicMs();
  return (table, read, total) => {
    const now = io.monotonicMs();
    if (read < total && now - printedAt < progressEveryMs) return;
    printedAt = now;
    print(table, read, total);
  };
}

export function printedOutput(io: CliIo): ImportOutput {
  return {
    events: eventsFor(io),
    warning: (sentence) => io.stderr(`WARNING: ${sentence}\n`),
    progress: (table, read, total) => io.stderr(`${table}: ${read} of ${total}\n`),
    problem: (problem) => io.stderr(`${lineOf(problem)}\n`),
    finished({ summary, outcome, isDryRun, suppressedCount, report }) {
      if (suppressedCount > 0) {
        const where = report === undefined ? "--report FILE lists them all" : "The report lists them all";
        io.stderr(`and ${suppressedCount} more. ${where}.\n`);
      }
      for (const line of summaryLines(summary)) io.stdout(`${line}\n`);
      io.stdout(`\n${isDryRun ? "Nothing was written: this is what a run would do." : endings[outcome]}\n`);
      if (report !== undefined) io.stdout(`Report: ${report} and ${textPathOf(report)}\n`);
    },
    refused(lines) {
      for (const line of lines) io.stderr(`${line}\n`);
    },
  };
}

/** Each line is an event, as all others in the log of a server. */
export function loggedOutput(events: Events): ImportOutput {
  return {
    events,
    warning: events.importWarning,
    progress: (table, read, total) => events.importProgress({ table, read, total }),
    problem: events.importProblem,
    finished: ({ summary, outcome, suppressedCount, report }) =>
      events.importFinished({ outcome, suppressedCount, report, counts: countsOf(summary), sentence: logged[outcome] }),
    refused: (lines) => events.importRefused(lines.join("\n")),
  };
}

const leftOut =
  "To import what was left out, run `sealpush import password-pusher` again with what was missing, such as the right keys or the " +
  "files. What was imported in part stays so: to complete it, import into an empty data folder.";
const countsAgree = "Everything is imported. The counts of source and destination agree.";

const endings: Readonly<Record<ImportEnding["outcome"], string>> = {
  complete: countsAgree,
  with_problems: `Everything else is imported. ${leftOut}`,
  interrupted: "Interrupted. To continue, run the same command again.",
};

const starts =
  "The server starts with its own database. Keep SEALPUSH_MOVE_IN=yes set. To compare both sides without counting a view, run " +
  "`sealpush import verify`.";

const logged: typeof endings = {
  complete: `${countsAgree} ${starts}`,
  with_problems: `Everything else is imported. ${starts} ${leftOut}`,
  interrupted: "Interrupted. The next start continues.",
};
