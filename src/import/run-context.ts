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

export type Owner =
  | { readonly outcome: "here"; readonly userId: number }
  /** No owner, or one who is not in the source. */
  | { readonly outcome: "nobody" }
  /** A user of the source who was not imported. */
  | { readonly outcome: "left_out" }
  /** A user who was imported and whose account was deleted here. */
  | { readonly outcome: "deleted" };

/** Maps the source's users to accounts here. */
export class Owners {
  readonly #ids = new Map<number, number | "left_out" | "deleted">();

  set(sourceId: number, userId: number | "left_out" | "deleted"): void {
    this.#ids.set(sourceId, userId);
  }

  ownerOf(sourceId: number | null): Owner {
    const user = sourceId === null ? undefined : this.#ids.get(sourceId);
    if (user === undefined) return { outcome: "nobody" };
    return typeof user === "number" ? { outcome: "here", userId: user } : { outcome: user };
  }

  /** The account of an audit entry's user; null: unknown, or not signed in. */
  find(sourceId: number | null): number | null {
    const owner = this.ownerOf(sourceId);
    return owner.outcome === "here" ? owner.userId : null;
  }
}
