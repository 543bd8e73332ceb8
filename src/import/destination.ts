import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import type { ImportedPush } from "../pushes/create/import-push.ts";
import type { Part } from "./missing-parts.ts";
import type { PushPart, RelatedCounts, UserPart } from "./source.ts";
import type { ImportedRow, ImportedRows, ImportedUser, RecordedCounts } from "./store/imported-rows.ts";

/** A user to import. */
export interface IncomingUser {
  readonly sourceId: number;
  readonly user: AdoptedUser;
  readonly missingParts: readonly UserPart[];
}

/** A push to import. */
export interface IncomingPush {
  readonly sourceId: number;
  readonly push: ImportedPush;
  readonly missingParts: readonly PushPart[];
  readonly related: RelatedCounts;
}

export type UserOutcome =
  /** `merged`: into an existing account, which got the API token only. */
  | { readonly outcome: "imported"; readonly userId: number; readonly merged: boolean; readonly tokenTaken: boolean }
  /** By another run of the same source. */
  | { readonly outcome: "imported_before"; readonly imported: ImportedUser }
  | { readonly outcome: "email_taken" };

export type PushOutcome =
  | { readonly outcome: "imported"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "imported_before"; readonly imported: ImportedRow }
  | { readonly outcome: "link_taken" };

/** Missing parts were added to a row of an earlier run. */
export interface PartsOutcome {
  readonly outcome: "updated";
  readonly added: readonly Part[];
  /** The part was set or deleted here since the row was imported, so the source's value is not needed. */
  readonly superseded: readonly Part[];
  readonly stillMissing: readonly Part[];
  readonly tokenTaken: boolean;
  readonly related: RelatedCounts;
}

/** Nothing was written, because another run has changed the record of the row to `now`. */
export interface ChangedMeanwhile<Row> {
  readonly outcome: "changed_meanwhile";
  readonly now: Row;
}

export type StyleOutcome =
  | { readonly outcome: "imported" | "imported_before" | "other_style" }
  | { readonly outcome: "refused"; readonly reason: string };

/** The destination of rows: the domain, or nothing in a dry run. */
export interface Destination {
  /** Users that were imported before, by the source's ids. */
  importedUsers(): Promise<ReadonlyMap<number, ImportedUser>>;
  pushFinder: ImportedRows["pushFinder"];
  /** @param merge whether an existing account with the same email is the same person. */
  importUser(incoming: IncomingUser, merge: boolean): Promise<UserOutcome>;
  /** @throws the error of reading a file. */
  importPush(incoming: IncomingPush): Promise<PushOutcome>;
  /** Adds missing parts that the source has now, unless they were set here since. */
  addMissingUserParts(
    imported: ImportedUser,
    incoming: IncomingUser,
  ): Promise<PartsOutcome | ChangedMeanwhile<ImportedUser>>;
  addMissingPushParts(
    imported: ImportedRow,
    incoming: IncomingPush,
  ): Promise<PartsOutcome | ChangedMeanwhile<ImportedRow>>;
  importStyleSheet(css: string): Promise<StyleOutcome>;
  /** When the server deletes the row of a push that has ended; undefined: never. */
  deletedAt(push: { readonly ownerId: number | null; readonly endedAt: number }): number | undefined;
  /** Counts for the comparison at the end; undefined in a dry run. */
  countStored(): Promise<StoredCounts | undefined>;
}

export interface StoredCounts {
  /** Imported by all runs. */
  readonly recorded: RecordedCounts;
  readonly recordedByThisRun: RecordedCounts;
  /** Imported by this run. */
  readonly present: Awaited<ReturnType<ImportedRows["countPresent"]>>;
}
