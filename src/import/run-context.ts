import type { ImportSource } from "@sealpush/import-password-pusher";
import type { Destination } from "./destination.ts";
import type { ImportResults, Problem, UnconfirmedUsers } from "./import-results.ts";

export interface ImportDeps {
  readonly source: ImportSource;
  readonly destination: Destination;
  readonly options: {
    /** A user of the source and the account here with the same email are the same person. The account gets the user's pushes and API token. */
    readonly mergeUsers: boolean;
    /** Import pushes without the files that cannot be read. */
    readonly withoutLostFiles: boolean;
    /** undefined: nobody has decided. Then those who may have been asked to confirm their address stay unconfirmed. */
    readonly unconfirmedUsers: UnconfirmedUsers | undefined;
  };
  readonly now: number;
  /** When it is aborted, rows in progress are finished and no others are started. */
  readonly signal: AbortSignal;
  readonly onProgress: (table: "users" | "pushes", read: number, total: number) => void;
  readonly onProblem: (problem: Problem) => void;
}

/** Dependencies and state of one run. */
export interface ImportRun extends Omit<ImportDeps, "onProgress" | "onProblem"> {
  readonly results: ImportResults;
  readonly owners: Owners;
  /** As `ImportSource.firstConfirmationEmailAt`. */
  readonly firstConfirmationEmailAt: number | undefined;
  /** Called for every row that was read. */
  readonly onRow: (table: "users" | "pushes") => void;
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
