import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { systemErrorCode } from "../config/system-error.ts";
import {
  type Counts,
  countedTables,
  type ImportResults,
  type NotImported,
  type Problem,
  tableNames,
  totalOf,
} from "./import-results.ts";
import type { ImportSummary } from "./run-import.ts";

export interface ReportHead {
  readonly version: string;
  readonly fingerprint: string;
  readonly dryRun: boolean;
  readonly startedAt: number;
}

/** After `interrupted` and `failed` the command has to be run again. */
export type ReportOutcome = "complete" | "with_problems" | "interrupted" | "failed";

export interface ReportEnd {
  readonly outcome: ReportOutcome;
  readonly finishedAt: number;
  /** undefined: the run failed, and `failure` says why. */
  readonly summary: ImportSummary | undefined;
  readonly failure: string | undefined;
}

/**
 * Opens the report of a run: a JSON file, and a text file next to it whose name ends in `.txt`. Only their owner may read them.
 * Problems are written at once, because there may be as many as rows. Neither file holds a secret or a token. Files that cannot be read are named.
 * @param location `given`: the path of the JSON file that the operator gave. An earlier report is overwritten, since the same
 * command is run again; any other file is refused, such as the source's database. `default`: a path that gets a number if it is taken, so that no earlier report is lost.
 * @throws the error of the operating system.
 */
export function openReport(location: { readonly given: string } | { readonly default: string }, head: ReportHead) {
  const { path, json, text } = "given" in location ? openGiven(location.given) : openFree(location.default);
  const { version, fingerprint, dryRun, startedAt } = head;
  const began = { format: 1, product: "sealpush", version, source: fingerprint, dry_run: dryRun };
  const opening = JSON.stringify({ ...began, started_at: new Date(startedAt).toISOString() });
  write(json, path, `${opening.slice(0, -1)},\n"problems":[`);
  write(
    text,
    textPathOf(path),
    `Import from Password Pusher${dryRun ? " (nothing was written)" : ""}\n\nRows that were not imported completely:\n`,
  );
  let problems = 0;
  return {
    /** Path of the JSON file. */
    path,
    problem(problem: Problem): void {
      write(json, path, `${problems === 0 ? "" : ","}\n${JSON.stringify(problem)}`);
      write(text, textPathOf(path), `  ${lineOf(problem)}${fileText(problem)}\n`);
      problems += 1;
    },
    finish({ outcome, finishedAt, summary, failure }: ReportEnd): void {
      const end = {
        outcome,
        finished_at: new Date(finishedAt).toISOString(),
        ...(failure !== undefined && { failure }),
      };
      const rest = JSON.stringify({ ...end, ...(summary && countsOf(summary)) }, undefined, 1);
      write(json, path, `\n],${rest.slice(1)}\n`);
      if (problems === 0) write(text, textPathOf(path), "  none\n");
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

/** @throws Error with one sentence, for example when the disk is full. */
function write(file: number, path: string, content: string): void {
  try {
    writeSync(file, content);
  } catch (error) {
    throw new Error(`${path} cannot be written (${systemErrorCode(error)}).`, { cause: error });
  }
}

const jsonHead = '{"format":1,"product":"sealpush","version":';
const textHead = "Import from Password Pusher";

/** Both files are checked before either of them is changed. */
function openGiven(path: string): OpenFiles {
  const json = openReplaceable(path, jsonHead);
  try {
    const text = openReplaceable(textPathOf(path), textHead);
    for (const file of [json, text]) if (fstatSync(file).isFile()) ftruncateSync(file);
    return { path, json, text };
  } catch (error) {
    closeSync(json);
    throw error;
  }
}

/** @throws Error with one sentence for a link, and for a file that is neither empty nor a report. */
function openReplaceable(path: string, head: string): number {
  const isDevice = statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() === true;
  const file = openUnlinked(path, constants.O_RDWR | constants.O_CREAT | (isDevice ? 0 : constants.O_NOFOLLOW));
  const found = fstatSync(file);
  if (!found.isFile()) return file;
  const begin = Buffer.alloc(head.length);
  readSync(file, begin, 0, begin.length, 0);
  if (found.size > 0 && begin.toString("latin1") !== head) {
    closeSync(file);
    throw notAReport(path);
  }
  fchmodSync(file, 0o600);
  return file;
}

function openUnlinked(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    throw systemErrorCode(error) === "ELOOP" ? notAReport(path) : error;
  }
}

function notAReport(path: string): Error {
  return new Error(
    `${path} exists and is not a report of an import, so it is not replaced: give --report another path.`,
  );
}

function openFree(path: string): OpenFiles {
  for (let number = 1; ; number += 1) {
    try {
      return createBoth(number === 1 ? path : path.replace(/\.json$/, `-${number}.json`));
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
  }
}

/** Creates both files or neither. */
function createBoth(path: string): OpenFiles {
  const json = openSync(path, "wx", 0o600);
  try {
    return { path, json, text: openSync(textPathOf(path), "wx", 0o600) };
  } catch (error) {
    closeSync(json);
    unlinkSync(path);
    throw error;
  }
}

export function textPathOf(path: string): string {
  return `${path.replace(/\.json$/, "")}.txt`;
}

/** Without the name of a file, so that it may be in a log. */
export function lineOf({ table, id, effect, reason }: Problem): string {
  const what = table === "site_settings" ? "style sheet" : `${table === "users" ? "user" : "push"} ${id}`;
  return `${what} (${effectNames[effect]}): ${reason}`;
}

function fileText({ file }: Problem): string {
  if (file === undefined) return "";
  const [name, service, key] = [file.name, file.service, file.key].map(quoted);
  return ` The file is ${name}, in the service ${service} under the key ${key}.`;
}

/** Control characters from the source's database must not reach a terminal. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const effectNames = {
  left_out: "left out",
  partly: "imported in part",
} as const;

/** The summary of a run as fields. */
export function countsOf({ warnings, inSource, results, differences }: ImportSummary) {
  const counts = ({ imported, importedBefore, leftOut, skipped }: Counts) => ({
    brought: imported,
    known: importedBefore,
    left_out: leftOut,
    skipped,
  });
  const { users, pushes, auditEntries, notifications, files } = results.counts;
  return {
    warnings,
    there: {
      users: inSource.users,
      pushes: inSource.pushes,
      audit_entries: inSource.auditEntries,
      notifications: inSource.notifications,
      files: inSource.files,
    },
    users: counts(users),
    pushes: counts(pushes),
    audit_entries: counts(auditEntries),
    notifications: counts(notifications),
    files: counts(files),
    style_sheet: counts(results.styleSheet),
    pushes_by_kind_and_state: Object.fromEntries([...results.kinds].sort()),
    file_bytes: results.fileBytes,
    behind: results.notImported.map(({ table, effect, reason, count }) => ({
      table: tableNames[table].toLowerCase(),
      effect: effect === "leftOut" ? "left_out" : effect,
      reason,
      count,
    })),
    problems_because: Object.fromEntries(results.problemReasons),
    differences,
  };
}

/** The summary of a run as text. */
export function summaryLines({ warnings, inSource, results, differences }: ImportSummary): readonly string[] {
  const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines]);
  return [
    ...tableLines(inSource, results),
    ...titled("Imported pushes by kind and state:", countedLines(results.kinds)),
    ...titled("Reasons for rows that were left out or not needed:", results.notImported.map(notImportedLine)),
    ...titled("Reasons for rows that were imported in part:", countedLines(results.partReasons)),
    ...titled(
      "Warnings:",
      warnings.map((warning) => `  ${warning}`),
    ),
    ...titled(
      "The counts of source and destination do not agree:",
      differences.map((difference) => `  ${difference}`),
    ),
  ];
}

const heads = ["in source", "imported", "before", "left out", "not needed"];

/** In each line, the first number is the sum of the others. */
function tableLines(inSource: ImportSummary["inSource"], results: ImportResults): readonly string[] {
  const row = (name: string, total: number, { imported, importedBefore, leftOut, skipped }: Counts) =>
    [
      name.padEnd(16),
      ...[total, imported, importedBefore, leftOut, skipped].map((count) => String(count).padStart(12)),
    ].join("");
  return [
    `${"".padEnd(16)}${heads.map((head) => head.padStart(12)).join("")}`,
    ...countedTables.map((table) => row(tableNames[table].toLowerCase(), inSource[table], results.counts[table])),
    row("style sheet", totalOf(results.styleSheet), results.styleSheet),
    ...(results.fileBytes === 0 ? [] : [`The imported files have ${results.fileBytes} bytes.`]),
  ];
}

function countedLines(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].sort().map(([reason, count]) => `${String(count).padStart(9)}  ${reason}`);
}

function notImportedLine({ table, effect, reason, count }: NotImported): string {
  const verb = effect === "leftOut" ? "left out" : "not needed";
  return `${String(count).padStart(9)}  ${tableNames[table].toLowerCase()} ${verb}: ${reason}`;
}
