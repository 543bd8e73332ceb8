import type { Destination } from "./destination.ts";
import type { Owners } from "./owners.ts";
import type { ImportSource } from "./source.ts";
import type { Problem, Tally } from "./tally.ts";

interface ImportOptions {
  /** An account here with the e-mail of a user is that user's: his pushes and his API token come to it. */
  readonly mergeUsers: boolean;
  /** Pushes come along without those of their files that cannot be had. */
  readonly withoutLostFiles: boolean;
  /** The source let nobody in who had not confirmed the e-mail. */
  readonly mailsConfirm: boolean;
}

export interface ImportDeps {
  readonly source: ImportSource;
  readonly destination: Destination;
  readonly options: ImportOptions;
  readonly now: number;
  /** Aborted: what is under way is finished, and nothing more is begun. */
  readonly signal: AbortSignal;
  readonly onProgress: (table: "users" | "pushes", read: number, total: number) => void;
  readonly onProblem: (problem: Problem) => void;
}

/** What the parts of one run share. */
export interface ImportRun extends Omit<ImportDeps, "onProgress" | "onProblem"> {
  readonly tally: Tally;
  readonly owners: Owners;
  /** Told of every row that was read. */
  readonly onRow: (table: "users" | "pushes") => void;
}
