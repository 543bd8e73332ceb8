import type {
  ImportSource,
  MissingPart,
  RelatedCounts,
  SourceCounts,
  SourceFile,
  SourceKind,
  SourceRow,
} from "@sealpush/import-password-pusher";
import type { Destination } from "./domain-destination.ts";
import { noRelated } from "./source-values.ts";

/** A row that was not imported completely. It holds no secret or token. */
export interface Problem {
  readonly table: "users" | "pushes" | "site_settings";
  readonly id: number;
  /**
   * `left_out`: the row was not imported; a later run tries again. `partly`: it was imported, but not what the reason names, and
   * stays so.
   */
  readonly effect: "left_out" | "partly";
  /** Without names. */
  readonly reason: string;
  readonly file?: Pick<SourceFile, "service" | "key"> & { readonly name: string };
}

/** Each row of the source is counted once. `skipped`: it is not worth importing. */
const noCounts = () => ({ imported: 0, importedBefore: 0, leftOut: 0, skipped: 0 });
export type Counts = ReturnType<typeof noCounts>;

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

type Reason = Pick<NotImported, "effect" | "reason">;

const ofLeftOutPush: Reason = { effect: "leftOut", reason: "They belong to pushes that are left out." };
const ofSkippedPush: Reason = { effect: "skipped", reason: "They belong to pushes that are not needed." };
const withoutPush: Reason = { effect: "skipped", reason: "Their push is not in the source any more." };
const ofUnreadablePush: Reason = { effect: "leftOut", reason: "They belong to pushes that the database cannot read." };
const unreadable: Reason = { effect: "leftOut", reason: "They cannot be read, or are missing or damaged." };
const ownerless: Reason = { effect: "skipped", reason: "Their push has no owner, so nobody could see them." };
const ended: Reason = { effect: "skipped", reason: "Their push had ended." };

const reasonsMax = 200;
const otherReasons = "Other reasons.";

type NotImportedRow = Pick<SourceRow<unknown>, "id" | "related">;

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

  /** The push is not needed. */
  skip({ related }: NotImportedRow, reason: string): void {
    this.#addNotImported("pushes", { effect: "skipped", reason }, 1);
    this.#addRest(related, noRelated, () => ofSkippedPush);
  }

  /** @param file that cannot be read. */
  leaveOut(table: Problem["table"], { id, related }: NotImportedRow, reason: string, file?: SourceFile): void {
    if (table === "site_settings") this.styleSheet.leftOut += 1;
    else this.#addNotImported(table, { effect: "leftOut", reason }, 1);
    if (table === "pushes") this.#addRest(related, noRelated, () => ofLeftOutPush);
    this.#report({ table, id, effect: "left_out", reason, ...problemFile(file) });
  }

  /** The parts of an imported row that are missing, or not as at the source. */
  reportMissing(table: Problem["table"], id: number, parts: readonly Pick<MissingPart, "reason" | "file">[]): void {
    for (const { reason, file } of parts) this.#report({ table, id, effect: "partly", reason, ...problemFile(file) });
  }

  addPush(kind: SourceKind, state: PushState, fileBytes: number): void {
    this.counts.pushes.imported += 1;
    count(this.kinds, `${kind} ${state}`);
    this.fileBytes += fileBytes;
  }

  /** Counts the related rows of an imported push. @param inSource undefined: they could not be counted. */
  addRelated(
    effect: "imported" | "importedBefore",
    inSource: RelatedCounts | undefined,
    push: {
      readonly imported: RelatedCounts;
      readonly missingParts: readonly MissingPart["part"][];
      readonly isOwned: boolean;
    },
  ): void {
    const { imported, missingParts, isOwned } = push;
    for (const table of relatedTables) this.counts[table][effect] += imported[table];
    const hasTrail = imported.auditEntries > 0 || missingParts.includes("trail");
    this.#addRest(inSource, imported, (table) => {
      if (table === "files") return missingParts.includes("files") ? unreadable : ended;
      return isOwned || (table === "auditEntries" && hasTrail) ? unreadable : ownerless;
    });
  }

  /** Counts related rows that belong to no push, or to pushes that could not be counted. Called last. */
  addRelatedWithoutPush(inSource: RelatedCounts, countsWithoutPush: RelatedCounts): void {
    this.#addRest(countsWithoutPush, noRelated, () => withoutPush);
    if (this.uncounted === 0) return;
    const { auditEntries, notifications, files } = this.counts;
    const soFar = { auditEntries: totalOf(auditEntries), notifications: totalOf(notifications), files: totalOf(files) };
    this.#addRest(inSource, soFar, () => ofUnreadablePush);
  }

  /** @param inSource undefined: they could not be counted. */
  #addRest(
    inSource: RelatedCounts | undefined,
    imported: RelatedCounts,
    reasonOf: (table: keyof RelatedCounts) => Reason,
  ): void {
    if (inSource === undefined) this.uncounted += 1;
    else
      for (const table of relatedTables) {
        this.#addNotImported(table, reasonOf(table), Math.max(inSource[table] - imported[table], 0));
      }
  }

  #addNotImported(table: CountedTable, { effect, reason }: Reason, rows: number): void {
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

export interface ImportDeps {
  readonly source: ImportSource;
  readonly destination: Destination;
  readonly options: {
    /** A user of the source and the account here with the same email are the same person. The account gets the user's pushes and API token. */
    readonly mergeUsers?: boolean;
    readonly withoutLostFiles?: boolean;
    /** undefined: nobody has decided. Then those who may have been asked to confirm their address stay unconfirmed. */
    readonly unconfirmedUsers: UnconfirmedUsers | undefined;
  };
  readonly now: number;
  /** When it is aborted, rows in progress are finished and no others are started. */
  readonly signal: AbortSignal;
  readonly onProgress: (table: "users" | "pushes", read: number, total: number) => void;
  readonly onProblem: (problem: Problem) => void;
}

export interface ImportRun extends Omit<ImportDeps, "onProgress" | "onProblem"> {
  readonly results: ImportResults;
  readonly owners: Owners;
  /** As `ImportSource.firstConfirmationEmailAt`. */
  readonly firstConfirmationEmailAt: number | undefined;
  readonly onRow: ReturnType<typeof countRows>;
}

/** @returns a function that is called for every row that was read. */
export function countRows(inSource: Pick<SourceCounts, "users" | "pushes">, onProgress: ImportDeps["onProgress"]) {
  const read = { users: 0, pushes: 0 };
  return (table: "users" | "pushes"): void => {
    read[table] += 1;
    onProgress(table, read[table], inSource[table]);
  };
}

/**
 * What became of the source's users, by their ids there: the id of their account here; "left_out": not imported; "deleted":
 * the account was deleted here. Users who are not in the source have no entry.
 */
export type Owners = Map<number, number | "left_out" | "deleted">;

/** @returns null: nobody, or nobody with an account here. */
export function accountOf(owners: Owners, sourceId: number | null): number | null {
  const owner = sourceId === null ? undefined : owners.get(sourceId);
  return typeof owner === "number" ? owner : null;
}
