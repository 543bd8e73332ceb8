import type { MissingPart, RelatedCounts, SourceFile, SourceKind } from "@sealpush/import-password-pusher";
import { noRelated } from "./source-values.ts";

/** A row that was not imported completely. It holds no secret or token. */
export interface Problem {
  readonly table: "users" | "pushes" | "site_settings";
  /** In the source. */
  readonly id: number;
  /**
   * `left_out`: the row was not imported; a later run tries again. `partly`: it was imported, but not what the reason names, and
   * stays so.
   */
  readonly effect: "left_out" | "partly";
  /** Without names. */
  readonly reason: string;
  /** The file that cannot be read. */
  readonly file?: ProblemFile;
}

export interface ProblemFile {
  readonly name: string;
  /** Where the source keeps it, and under which key. */
  readonly service: string;
  readonly key: string;
}

/** Each row of the source is counted once. */
export interface Counts {
  imported: number;
  /** By an earlier run. */
  importedBefore: number;
  /** Could not be imported. */
  leftOut: number;
  /** Rows that are not worth importing. */
  skipped: number;
}

/** Tables whose rows are counted in source and destination. */
export type CountedTable = "users" | "pushes" | keyof RelatedCounts;

const relatedTables = ["auditEntries", "notifications", "files"] as const satisfies (keyof RelatedCounts)[];
export const countedTables = ["users", "pushes", ...relatedTables] as const;

/** In texts for people. */
export const tableNames: Readonly<Record<CountedTable, string>> = {
  users: "Users",
  pushes: "Pushes",
  auditEntries: "Audit entries",
  notifications: "Link deliveries",
  files: "Files",
};

export type PushState = "open" | "ended" | "tombstone";

/** How many rows of a table were not imported for one reason. They are a part of the table's `leftOut` or `skipped`. */
export interface NotImported {
  readonly table: CountedTable;
  readonly effect: "leftOut" | "skipped";
  readonly reason: string;
  count: number;
}

/** Why rows that belong to a push were not imported. */
type Reasons = Readonly<Record<keyof RelatedCounts, Pick<NotImported, "effect" | "reason">>>;

function forAllTables(effect: NotImported["effect"], reason: string): Reasons {
  const same = { effect, reason };
  return { auditEntries: same, notifications: same, files: same };
}

const ofLeftOutPush = forAllTables("leftOut", "They belong to pushes that are left out.");
const ofSkippedPush = forAllTables("skipped", "They belong to pushes that are not needed.");
const withoutPush = forAllTables("skipped", "Their push is not in the source any more.");
const ofUnreadablePush = forAllTables("leftOut", "They belong to pushes that the database cannot read.");

const unreadable = {
  effect: "leftOut",
  reason: "They cannot be read, or are missing or damaged.",
} as const;
const ownerless = { effect: "skipped", reason: "Their push has no owner, so nobody could see them." } as const;
const ended = { effect: "skipped", reason: "Their push had ended." } as const;

const reasonsMax = 200;
const otherReasons = "Other reasons.";
const noCounts = (): Counts => ({ imported: 0, importedBefore: 0, leftOut: 0, skipped: 0 });

/** The results of a run so far. It holds numbers and reasons only, none of the rows. */
export class ImportResults {
  readonly counts: Readonly<Record<CountedTable, Counts>> = {
    users: noCounts(),
    pushes: noCounts(),
    auditEntries: noCounts(),
    notifications: noCounts(),
    files: noCounts(),
  };
  readonly styleSheet: Counts = noCounts();
  /** Keys such as "text open". */
  readonly kinds = new Map<string, number>();
  readonly problemReasons = new Map<string, number>();
  /** Reasons of problems that are not in the counts of a table. */
  readonly partReasons = new Map<string, number>();
  problems = 0;
  fileBytes = 0;
  /** Pushes whose related rows could not be counted. */
  uncounted = 0;
  readonly #notImported = new Map<string, NotImported>();
  readonly #onProblem: (problem: Problem) => void;

  constructor(onProblem: (problem: Problem) => void) {
    this.#onProblem = onProblem;
  }

  get notImported(): readonly NotImported[] {
    return [...this.#notImported.values()];
  }

  skip(table: "users" | "pushes", reason: string): void {
    this.#addNotImported(table, "skipped", reason, 1);
  }

  /** @param file that cannot be read. */
  leaveOut(table: Problem["table"], id: number, reason: string, file?: SourceFile): void {
    if (table === "site_settings") this.styleSheet.leftOut += 1;
    else this.#addNotImported(table, "leftOut", reason, 1);
    this.#report({ table, id, effect: "left_out", reason, ...problemFile(file) });
  }

  /** What of an imported row is missing, or not as at the source. */
  reportMissing(table: Problem["table"], id: number, parts: readonly Pick<MissingPart, "reason" | "file">[]): void {
    for (const { reason, file } of parts) this.#report({ table, id, effect: "partly", reason, ...problemFile(file) });
  }

  addPush(kind: SourceKind, state: PushState, fileBytes: number): void {
    this.counts.pushes.imported += 1;
    count(this.kinds, `${kind} ${state}`);
    this.fileBytes += fileBytes;
  }

  /** Counts the related rows of a push that was not imported. @param inSource undefined: they could not be counted. */
  addRelatedOfMissingPush(effect: NotImported["effect"], inSource: RelatedCounts | undefined): void {
    if (inSource === undefined) this.uncounted += 1;
    else this.#addRest(inSource, noRelated, effect === "skipped" ? ofSkippedPush : ofLeftOutPush);
  }

  /** Counts the related rows of an imported push. */
  addRelated(
    effect: "imported" | "importedBefore",
    push: {
      /** undefined: they could not be counted. */
      readonly inSource: RelatedCounts | undefined;
      readonly imported: RelatedCounts;
      readonly missingParts: readonly MissingPart["part"][];
      readonly isOwned: boolean;
    },
  ): void {
    const { inSource, imported, missingParts, isOwned } = push;
    for (const table of relatedTables) this.counts[table][effect] += imported[table];
    if (inSource === undefined) {
      this.uncounted += 1;
      return;
    }
    const hasTrail = imported.auditEntries > 0 || missingParts.includes("trail");
    this.#addRest(inSource, imported, {
      auditEntries: hasTrail || isOwned ? unreadable : ownerless,
      notifications: isOwned ? unreadable : ownerless,
      files: missingParts.includes("files") ? unreadable : ended,
    });
  }

  /** Counts related rows that belong to no push, or to pushes that could not be counted. Called last. */
  addRelatedWithoutPush(inSource: RelatedCounts, countsWithoutPush: RelatedCounts): void {
    this.#addRest(countsWithoutPush, noRelated, withoutPush);
    if (this.uncounted === 0) return;
    const { auditEntries, notifications, files } = this.counts;
    const soFar = { auditEntries: totalOf(auditEntries), notifications: totalOf(notifications), files: totalOf(files) };
    this.#addRest(inSource, soFar, ofUnreadablePush);
  }

  #addRest(inSource: RelatedCounts, imported: RelatedCounts, reasons: Reasons): void {
    for (const table of relatedTables) {
      const { effect, reason } = reasons[table];
      this.#addNotImported(table, effect, reason, Math.max(inSource[table] - imported[table], 0));
    }
  }

  #addNotImported(table: CountedTable, effect: NotImported["effect"], reason: string, rows: number): void {
    if (rows === 0) return;
    this.counts[table][effect] += rows;
    const isKept = this.#notImported.has(`${table} ${effect} ${reason}`) || this.#notImported.size < reasonsMax;
    const shown = isKept ? reason : otherReasons;
    const key = `${table} ${effect} ${shown}`;
    const entry = this.#notImported.get(key) ?? { table, effect, reason: shown, count: 0 };
    entry.count += rows;
    this.#notImported.set(key, entry);
  }

  #report(problem: Problem): void {
    this.problems += 1;
    // Reasons that differ in the ids of rows only are counted together.
    const reason = problem.reason.replace(/\b\d+\b/g, "…");
    count(this.problemReasons, reason);
    if (problem.effect === "partly" || problem.table === "site_settings") count(this.partReasons, reason);
    this.#onProblem(problem);
  }
}

const fileTextMax = 255;

function problemFile(file: SourceFile | undefined): Pick<Problem, "file"> {
  if (file === undefined) return {};
  const cut = (text: string) => text.slice(0, fileTextMax).toWellFormed();
  return { file: { name: cut(file.filename), service: cut(file.service), key: cut(file.key) } };
}

export function totalOf({ imported, importedBefore, leftOut, skipped }: Counts): number {
  return imported + importedBefore + leftOut + skipped;
}

function count(counts: Map<string, number>, reason: string): void {
  const key = counts.has(reason) || counts.size < reasonsMax ? reason : otherReasons;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * What becomes of users who have not confirmed their address. If the source signed them in, it never asked for a confirmation, so a
 * missing one must not lock them out here.
 */
export type UnconfirmedUsers = "confirmed" | "unconfirmed";
