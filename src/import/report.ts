import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { systemErrorCode, systemReason } from "../base/system-error.ts";
import {
  type CountedTable,
  type Counts,
  countedTables,
  type ImportResults,
  type NotImported,
  type Problem,
  tableNames,
  totalOf,
} from "./import-results.ts";
import type { ImportSummary } from "./run-import.ts";
import type { Finding } from "./verify-import.ts";

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
  const isGiven = "given" in location;
  const [json, text] = isGiven ? openBoth(location.given, openReplaceable) : openFree(location.default);
  // Both have been checked before either of them is changed.
  for (const { file } of [json, text]) if (isGiven && fstatSync(file).isFile()) ftruncateSync(file);
  const { version, fingerprint, dryRun, startedAt } = head;
  const began = { format: 1, product: "sealpush", version, source: fingerprint, dry_run: dryRun };
  const opening = JSON.stringify({ ...began, started_at: new Date(startedAt).toISOString() });
  write(json, `${opening.slice(0, -1)},\n"problems":[`);
  const note = dryRun ? " (nothing was written)" : "";
  write(text, `${textHead}${note}\n\nRows that were not imported completely:\n`);
  let problems = 0;
  return {
    path: json.path,
    problem(problem: Problem): void {
      write(json, `${problems === 0 ? "" : ","}\n${JSON.stringify(problem)}`);
      write(text, `  ${lineOf(problem)}${fileText(problem)}\n`);
      problems += 1;
    },
    finish({ outcome, finishedAt, summary, failure }: ReportEnd): void {
      const end = { outcome, finished_at: new Date(finishedAt).toISOString(), failure };
      const rest = JSON.stringify({ ...end, ...(summary && countsOf(summary)) }, undefined, 1);
      write(json, `\n],${rest.slice(1)}\n`);
      if (problems === 0) write(text, "  none\n");
      const lines = summary === undefined ? [failure] : summaryLines(summary);
      write(text, `\n${lines.join("\n")}\n`);
      for (const { file } of [json, text]) closeSync(file);
    },
  };
}

interface ReportFile {
  readonly path: string;
  readonly file: number;
}

/** @throws Error with one sentence, for example when the disk is full. */
function write({ file, path }: ReportFile, content: string): void {
  try {
    writeSync(file, content);
  } catch (error) {
    throw new Error(`${path} cannot be written (${systemReason(error)}).`, { cause: error });
  }
}

const jsonHead = '{"format":1,"product":"sealpush","version":';
const textHead = "Import from Password Pusher";

type ReportFiles = readonly [json: ReportFile, text: ReportFile];

/** @param open gets the path and how a report there begins. */
function openBoth(path: string, open: (path: string, head: string) => number): ReportFiles {
  const json = { path, file: open(path, jsonHead) };
  try {
    const textPath = textPathOf(path);
    return [json, { path: textPath, file: open(textPath, textHead) }];
  } catch (error) {
    closeSync(json.file);
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
    if (systemErrorCode(error) !== "ENOENT") throw systemErrorCode(error) === "ELOOP" ? notAReport(path) : error;
    throw new Error(`The folder of ${path} does not exist: give --report another path.`, { cause: error });
  }
}

function notAReport(path: string): Error {
  return new Error(
    `${path} exists and is not a report of an import, so it is not replaced: give --report another path.`,
  );
}

function openFree(path: string): ReportFiles {
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? path : path.replace(/\.json$/, `-${number}.json`);
    if (existsSync(textPathOf(numbered))) continue;
    try {
      return openBoth(numbered, (each) => openSync(each, "wx", 0o600));
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
  }
}

export function textPathOf(path: string): string {
  return `${path.replace(/\.json$/, "")}.txt`;
}

/** Without the name of a file, so that it may be in a log. */
export function lineOf({ table, id, effect, reason }: Problem | Finding): string {
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
  failed: "failed",
  changed: "changed",
} as const;

export function countsOf({ warnings, inSource, results, differences }: ImportSummary) {
  const counts = ({ imported, importedBefore, leftOut, skipped }: Counts) => ({
    brought: imported,
    known: importedBefore,
    left_out: leftOut,
    skipped,
  });
  const byTable = <Value>(value: (table: CountedTable) => Value) =>
    Object.fromEntries(countedTables.map((table) => [table.replace("auditEntries", "audit_entries"), value(table)]));
  return {
    warnings,
    there: byTable((table) => inSource[table]),
    ...byTable((table) => counts(results.counts[table])),
    style_sheet: counts(results.styleSheet),
    pushes_by_kind_and_state: Object.fromEntries([...results.kinds].sort()),
    file_bytes: results.fileBytes,
    behind: results.notImported.map((rows) => ({
      ...rows,
      table: tableNames[rows.table].toLowerCase(),
      effect: rows.effect === "leftOut" ? "left_out" : rows.effect,
    })),
    problems_because: Object.fromEntries(results.problemReasons),
    differences,
  };
}

export function summaryLines({ warnings, inSource, results, differences }: ImportSummary): readonly string[] {
  const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ["", title, ...lines]);
  const indented = (sentences: readonly string[]) => sentences.map((sentence) => `  ${sentence}`);
  return [
    ...tableLines(inSource, results),
    ...titled("Imported pushes by kind and state:", countedLines(results.kinds)),
    ...titled("Reasons for rows that were left out or not needed:", results.notImported.map(notImportedLine)),
    ...titled("Reasons for what else was not imported:", countedLines(results.partReasons)),
    ...titled("Warnings:", indented(warnings)),
    ...titled("The counts of source and destination do not agree:", indented(differences)),
  ];
}

/** In each line, the first number is the sum of the others. */
function tableLines(inSource: ImportSummary["inSource"], results: ImportResults): readonly string[] {
  const row = (name: string, total: number, { imported, importedBefore, leftOut, skipped }: Counts) =>
    tableLine(name.padEnd(16), [total, imported, importedBefore, leftOut, skipped]);
  return [
    tableLine("".padEnd(16), ["in source", "imported", "before", "left out", "not needed"]),
    ...countedTables.map((table) => row(tableNames[table].toLowerCase(), inSource[table], results.counts[table])),
    row("style sheet", totalOf(results.styleSheet), results.styleSheet),
    ...(results.fileBytes === 0 ? [] : [`The imported files have ${results.fileBytes} bytes.`]),
  ];
}

export function tableLine(name: string, cells: readonly (string | number)[]): string {
  return [name, ...cells.map((cell) => String(cell).padStart(12))].join("");
}

function countedLines(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].sort().map(([reason, count]) => `${String(count).padStart(9)}  ${reason}`);
}

function notImportedLine({ table, effect, reason, count }: NotImported): string {
  const verb = effect === "leftOut" ? "left out" : "not needed";
  return `${String(count).padStart(9)}  ${tableNames[table].toLowerCase()} ${verb}: ${reason}`;
}
