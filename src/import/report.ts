import { closeSync, fchmodSync, fstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { systemErrorCode } from "../config/system-error.ts";
import type { ImportSummary } from "./run-import.ts";
import { type Behind, type Counts, countedTables, type Problem, type Tally, tableNames } from "./tally.ts";

export interface ReportHead {
  readonly version: string;
  readonly fingerprint: string;
  readonly dryRun: boolean;
  readonly startedAt: number;
}

/** How a run ended: `failed` and `interrupted` are to be run again. */
export type ReportOutcome = "complete" | "with_problems" | "interrupted" | "failed";

/**
 * The report of a run as JSON, and as text beside it. Both are their owner's alone. Problems are written as they come: there
 * may be as many as rows. Neither holds a secret, a token or a name.
 */
export interface ReportFiles {
  /** Of the JSON; the text lies beside it with the ending `.txt`. */
  readonly path: string;
  problem(problem: Problem): void;
  /** @param summary undefined: the run failed before it had one; `failure` says why. */
  finish(end: {
    readonly outcome: ReportOutcome;
    readonly finishedAt: number;
    readonly summary: ImportSummary | undefined;
    readonly failure: string | undefined;
  }): void;
}

/**
 * @param place `named`: the path of the JSON, which an operator has given; what is there is overwritten, for the same
 * command is run again. `unnamed`: such a path that is free, or gets a number: no earlier report is lost. @throws what the
 * system throws.
 */
export function openReport(
  place: { readonly named: string } | { readonly unnamed: string },
  head: ReportHead,
): ReportFiles {
  const { path, json, text } = "named" in place ? openBoth(place.named, "w") : openFree(place.unnamed);
  const { version, fingerprint, dryRun, startedAt } = head;
  const began = { format: 1, product: "sealpush", version, source: fingerprint, dry_run: dryRun };
  const opening = JSON.stringify({ ...began, started_at: new Date(startedAt).toISOString() });
  write(json, path, `${opening.slice(0, -1)},\n"problems":[`);
  write(
    text,
    textPathOf(path),
    `Import from Password Pusher${dryRun ? " (nothing was written)" : ""}\n\nWhat did not come along whole:\n`,
  );
  let problems = 0;
  return {
    path,
    problem(problem) {
      write(json, path, `${problems === 0 ? "" : ","}\n${JSON.stringify(problem)}`);
      write(text, textPathOf(path), `  ${lineOf(problem)}\n`);
      problems += 1;
    },
    finish({ outcome, finishedAt, summary, failure }) {
      const end = {
        outcome,
        finished_at: new Date(finishedAt).toISOString(),
        ...(failure !== undefined && { failure }),
      };
      const rest = JSON.stringify({ ...end, ...(summary && countsOf(summary)) }, undefined, 1);
      write(json, path, `\n],${rest.slice(1)}\n`);
      if (problems === 0) write(text, textPathOf(path), "  nothing\n");
      const lines = [
        ...(summary === undefined ? [] : summaryLines(summary)),
        ...(failure === undefined ? [] : [failure]),
      ];
      write(text, textPathOf(path), `\n${lines.join("\n")}\n`);
      closeSync(json);
      closeSync(text);
    },
  };
}

interface OpenFiles {
  readonly path: string;
  readonly json: number;
  readonly text: number;
}

/** @throws Error with one sentence: a disk may be full only by then. */
function write(file: number, path: string, messages: string): void {
  try {
    writeSync(file, messages);
  } catch (error) {
    throw new Error(`${path} cannot be written (${systemErrorCode(error)}).`, { cause: error });
  }
}

function openFree(path: string): OpenFiles {
  for (let number = 1; ; number += 1) {
    try {
      return openBoth(number === 1 ? path : path.replace(/\.json$/, `-${number}.json`), "wx");
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
  }
}

/** Both or none. */
function openBoth(path: string, flags: "w" | "wx"): OpenFiles {
  const json = openPrivately(path, flags);
  try {
    return { path, json, text: openPrivately(textPathOf(path), flags) };
  } catch (error) {
    closeSync(json);
    if (flags === "wx") unlinkSync(path);
    throw error;
  }
}

function openPrivately(path: string, flags: "w" | "wx"): number {
  const file = openSync(path, flags, 0o600);
  // What was there may be open to others; a device is theirs too.
  if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  return file;
}

export function textPathOf(path: string): string {
  return `${path.replace(/\.json$/, "")}.txt`;
}

export function lineOf({ table, id, effect, reason }: Problem): string {
  const what = table === "site_settings" ? "style sheet" : `${table === "users" ? "user" : "push"} ${id}`;
  return `${what} (${effectNames[effect]}): ${reason}`;
}

const effectNames = { left_out: "left out", partly: "in part", superseded: "as it is here" } as const;

function countsOf({ warnings, there, tally, differences }: ImportSummary) {
  const counts = ({ brought, known, leftOut, skipped }: Counts) => ({ brought, known, left_out: leftOut, skipped });
  const { users, pushes, auditEntries, notifications, files } = tally.counts;
  return {
    warnings,
    there: {
      ...{ users: there.users, pushes: there.pushes, audit_entries: there.auditEntries },
      ...{ notifications: there.notifications, files: there.files },
    },
    users: counts(users),
    pushes: counts(pushes),
    audit_entries: counts(auditEntries),
    notifications: counts(notifications),
    files: counts(files),
    style_sheet: counts(tally.style),
    completed: tally.completed,
    pushes_by_kind_and_state: Object.fromEntries([...tally.kinds].sort()),
    file_bytes: tally.fileBytes,
    behind: tally.behind.map(({ table, effect, reason, count }) => ({
      ...{ table: tableNames[table].toLowerCase(), effect: effect === "leftOut" ? "left_out" : effect, reason, count },
    })),
    problems_because: Object.fromEntries(tally.problemReasons),
    differences,
  };
}

/** For people: what a run has done, one line a thing. */
export function summaryLines({ warnings, there, tally, differences }: ImportSummary): readonly string[] {
  const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines]);
  return [
    ...tableLines(there, tally),
    ...titled("Pushes brought now, by kind and state:", countedLines(tally.kinds)),
    ...titled("Left out or skipped, because:", tally.behind.map(behindLine)),
    ...titled("Brought in part, because:", countedLines(tally.partReasons)),
    ...(tally.completed === 0
      ? []
      : ["", `Of earlier runs, ${tally.completed} that had come in part got more of it now.`]),
    ...titled(
      "Warnings:",
      warnings.map((warning) => `  ${warning}`),
    ),
    ...titled(
      "Both sides do not agree:",
      differences.map((difference) => `  ${difference}`),
    ),
  ];
}

const heads = ["there", "brought now", "came before", "left out", "skipped"];

/** Of each table, the first number is the sum of the others. */
function tableLines(there: ImportSummary["there"], tally: Tally): readonly string[] {
  const row = (name: string, total: number, { brought, known, leftOut, skipped }: Counts) =>
    [name.padEnd(16), ...[total, brought, known, leftOut, skipped].map((count) => String(count).padStart(12))].join("");
  const style = tally.style;
  const styles = style.brought + style.known + style.leftOut + style.skipped;
  return [
    `${"".padEnd(16)}${heads.map((head) => head.padStart(12)).join("")}`,
    ...countedTables.map((table) => row(tableNames[table].toLowerCase(), there[table], tally.counts[table])),
    row("style sheet", styles, style),
    ...(tally.fileBytes === 0 ? [] : [`The files brought now have ${tally.fileBytes} bytes.`]),
  ];
}

function countedLines(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].sort().map(([reason, count]) => `${String(count).padStart(9)}  ${reason}`);
}

function behindLine({ table, effect, reason, count }: Behind): string {
  const did = effect === "leftOut" ? "left out" : "skipped";
  return `${String(count).padStart(9)}  ${tableNames[table].toLowerCase()} ${did}: ${reason}`;
}
