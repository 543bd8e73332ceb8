import { type Part, partNames } from "./lacks.ts";
import type { Holdings, Lack, SourceKind } from "./source.ts";

/** Something that did not come along as it stood there. It holds no secret, token or name. */
export interface Problem {
  readonly table: "users" | "pushes" | "site_settings";
  /** Of the source. */
  readonly id: number;
  /**
   * `left_out`: nothing of it is here, and a later run tries again. `partly`: it is here, but for what the reason says, and a
   * later run tries to bring that. `superseded`: what had stayed behind is not wanted any more, which is no problem.
   */
  readonly effect: "left_out" | "partly" | "superseded";
  readonly reason: string;
}

export interface Counts {
  brought: number;
  /** In an earlier run. */
  known: number;
  /** Wanted, and not here. */
  leftOut: number;
  /** Not worth bringing along. */
  skipped: number;
}

/** What is counted at both sides, by the source's names. */
export type CountedTable = "users" | "pushes" | keyof Holdings;

export const countedTables = ["users", "pushes", "auditEntries", "notifications", "files"] as const;

/** As people call them. */
export const tableNames: Readonly<Record<CountedTable, string>> = {
  users: "Users",
  pushes: "Pushes",
  auditEntries: "Audit entries",
  notifications: "Mails in trails",
  files: "Files",
};

export type PushState = "open" | "ended" | "tombstone";

/** Why rows of a table are not here: `leftOut` or `skipped` of its counts, reason by reason. */
export interface Behind {
  readonly table: CountedTable;
  readonly effect: "leftOut" | "skipped";
  readonly reason: string;
  count: number;
}

const reasonsMax = 200;
const idsShown = 20;
const noCounts = (): Counts => ({ brought: 0, known: 0, leftOut: 0, skipped: 0 });

/** What has become of the rows so far. Of what was read it keeps numbers only. */
export class Tally {
  readonly counts: Readonly<Record<CountedTable, Counts>> = {
    users: noCounts(),
    pushes: noCounts(),
    auditEntries: noCounts(),
    notifications: noCounts(),
    files: noCounts(),
  };
  readonly style: Counts = noCounts();
  /** "text open" and so on. */
  readonly kinds = new Map<string, number>();
  readonly problemReasons = new Map<string, number>();
  /** Those among them that no count of a table tells. */
  readonly partReasons = new Map<string, number>();
  problems = 0;
  /** Rows of earlier runs that got what they had lacked. */
  completed = 0;
  fileBytes = 0;
  /** Of the pushes that this run has brought: those that are still here at its end, and the events in their trails. */
  readonly staying = { pushes: 0, events: 0 };
  /** Pushes of which nobody could count what belongs to them. */
  uncounted = 0;
  /** How many pushes have an owner who is no user of the source, and the first of them. */
  readonly ownerless: { count: number; readonly first: number[] } = { count: 0, first: [] };
  readonly #behind = new Map<string, Behind>();
  readonly #onProblem: (problem: Problem) => void;

  constructor(onProblem: (problem: Problem) => void) {
    this.#onProblem = onProblem;
  }

  get behind(): readonly Behind[] {
    return [...this.#behind.values()];
  }

  skip(table: "users" | "pushes", reason: string): void {
    this.stayBehind(table, "skipped", reason, 1);
  }

  leaveOut(table: Problem["table"], id: number, reason: string): void {
    if (table === "site_settings") this.style.leftOut += 1;
    else this.stayBehind(table, "leftOut", reason, 1);
    this.#tell({ table, id, effect: "left_out", reason });
  }

  stayBehind(table: CountedTable, effect: Behind["effect"], reason: string, rows: number): void {
    if (rows === 0) return;
    this.counts[table][effect] += rows;
    const known = this.#behind.has(`${table} ${effect} ${reason}`) || this.#behind.size < reasonsMax;
    const told = known ? reason : "Something else.";
    const key = `${table} ${effect} ${told}`;
    const entry = this.#behind.get(key) ?? { table, effect, reason: told, count: 0 };
    entry.count += rows;
    this.#behind.set(key, entry);
  }

  lacks(table: Problem["table"], id: number, lacks: readonly Lack[]): void {
    for (const { reason } of lacks) this.#tell({ table, id, effect: "partly", reason });
  }

  noteOwnerless(id: number): void {
    this.ownerless.count += 1;
    if (this.ownerless.first.length < idsShown) this.ownerless.first.push(id);
  }

  supersede(table: Problem["table"], id: number, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const what = parts.map((part) => partNames[part]).join(", ");
    const reason = `What it came without (${what}) was set here meanwhile, or is gone here: that stays as it is.`;
    this.#onProblem({ table, id, effect: "superseded", reason });
  }

  bringPush(push: {
    readonly kind: SourceKind;
    readonly state: PushState;
    /** No server forgets it before the end of the run. */
    readonly stays: boolean;
    readonly auditEvents: number;
    readonly fileBytes: number;
  }): void {
    this.counts.pushes.brought += 1;
    count(this.kinds, `${push.kind} ${push.state}`);
    this.fileBytes += push.fileBytes;
    if (!push.stays) return;
    this.staying.pushes += 1;
    this.staying.events += push.auditEvents;
  }

  #tell(problem: Problem): void {
    this.problems += 1;
    // Reasons that name rows are one reason.
    const reason = problem.reason.replace(/\b\d+\b/g, "…");
    count(this.problemReasons, reason);
    if (problem.effect === "partly" || problem.table === "site_settings") count(this.partReasons, reason);
    this.#onProblem(problem);
  }
}

function count(counts: Map<string, number>, reason: string): void {
  const key = counts.has(reason) || counts.size < reasonsMax ? reason : "Something else.";
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
