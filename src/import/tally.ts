import type { SourceKind } from "./source.ts";

/** Something that did not come along as it stood there. It holds no secret, token or name. */
export interface Problem {
  readonly table: "users" | "pushes" | "site_settings";
  /** Of the source. */
  readonly id: number;
  /** `left_out`: nothing of it is here, and a later run tries again. `partly`: it is here, but for what the reason says. */
  readonly effect: "left_out" | "partly";
  readonly reason: string;
}

export interface Counts {
  brought: number;
  /** In an earlier run. */
  known: number;
  /** With a problem each. */
  leftOut: number;
  /** Not worth bringing along. */
  skipped: number;
}

export type PushState = "open" | "ended" | "tombstone";

const reasonsMax = 200;

/** What has become of the rows so far. Of what was read it keeps numbers only. */
export class Tally {
  readonly users: Counts = { brought: 0, known: 0, leftOut: 0, skipped: 0 };
  readonly pushes: Counts = { brought: 0, known: 0, leftOut: 0, skipped: 0 };
  readonly style: Counts = { brought: 0, known: 0, leftOut: 0, skipped: 0 };
  /** "text open" and so on. */
  readonly kinds = new Map<string, number>();
  readonly skipReasons = new Map<string, number>();
  readonly problemReasons = new Map<string, number>();
  problems = 0;
  auditEvents = 0;
  files = 0;
  fileBytes = 0;
  /** The least id that a push of this run got; undefined: none came. */
  firstPushId: number | undefined;
  readonly #onProblem: (problem: Problem) => void;

  constructor(onProblem: (problem: Problem) => void) {
    this.#onProblem = onProblem;
  }

  skip(table: "users" | "pushes", reason: string): void {
    this[table].skipped += 1;
    count(this.skipReasons, reason);
  }

  leaveOut(table: Problem["table"], id: number, reason: string): void {
    this[table === "site_settings" ? "style" : table].leftOut += 1;
    this.#tell({ table, id, effect: "left_out", reason });
  }

  lacks(table: Problem["table"], id: number, reason: string): void {
    this.#tell({ table, id, effect: "partly", reason });
  }

  bringPush(push: {
    readonly kind: SourceKind;
    readonly state: PushState;
    readonly pushId: number;
    readonly auditEvents: number;
    readonly files: number;
    readonly fileBytes: number;
  }): void {
    this.pushes.brought += 1;
    count(this.kinds, `${push.kind} ${push.state}`);
    this.auditEvents += push.auditEvents;
    this.files += push.files;
    this.fileBytes += push.fileBytes;
    this.firstPushId = Math.min(this.firstPushId ?? push.pushId, push.pushId);
  }

  #tell(problem: Problem): void {
    this.problems += 1;
    count(this.problemReasons, problem.reason);
    this.#onProblem(problem);
  }
}

function count(counts: Map<string, number>, reason: string): void {
  const key = counts.has(reason) || counts.size < reasonsMax ? reason : "Something else.";
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
