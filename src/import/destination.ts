import type { PushPart, RelatedCounts, UserPart } from "@sealpush/import-password-pusher";
import type { AdoptedUser, UserUpdate } from "../accounts/admin/adopt-user.ts";
import type { ImportedPush } from "../pushes/create/import-push.ts";
import type { PushToWithdraw, ReimportPlan, Withdrawal } from "../pushes/create/reimport-push.ts";
import type { Aspect, AspectDigests, RowDigests } from "./aspects.ts";
import type { ImportedRow, ImportedRows, ImportedUser, RecordedCounts } from "./store/imported-rows.ts";

/** A user to import. */
export interface IncomingUser {
  readonly sourceId: number;
  readonly user: AdoptedUser;
  readonly missingParts: readonly UserPart[];
  readonly identity: string;
  readonly aspects: AspectDigests;
}

/** A push to import. */
export interface IncomingPush {
  readonly sourceId: number;
  readonly push: ImportedPush;
  readonly missingParts: readonly PushPart[];
  readonly identity: string;
  readonly aspects: AspectDigests;
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

/** A user of an earlier run has what the source changed since, except what was changed here. */
export type UserUpdateOutcome = { readonly outcome: "updated" } & UserUpdate;

/** The same for a push. */
export interface PushUpdateOutcome {
  readonly outcome: "updated";
  readonly plan: ReimportPlan;
  /** The source asks for a passphrase, and the push here does not. */
  readonly lacksPassphrase: boolean;
}

/** Nothing was written, because another run has changed the record of the row to `now`. */
export interface ChangedMeanwhile<Row> {
  readonly outcome: "changed_meanwhile";
  readonly now: Row;
}

export type StyleOutcome =
  | { readonly outcome: "imported" | "imported_before" | "updated" | "other_style" }
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
  /** For the digests of records. */
  readonly digests: Pick<RowDigests, "of" | "all">;
  /** The changes of the source since the row was imported. @param changed some of the aspects. */
  updateUser(
    imported: ImportedUser,
    incoming: IncomingUser,
    changed: readonly Aspect[],
  ): Promise<UserUpdateOutcome | ChangedMeanwhile<ImportedUser>>;
  /** @throws the error of reading a file. */
  updatePush(
    imported: ImportedRow,
    incoming: IncomingPush,
    isComplete: boolean,
  ): Promise<PushUpdateOutcome | ChangedMeanwhile<ImportedRow>>;
  /** For rows that the source does not have any more. `gone`: there is nothing here either. */
  withdrawUser(imported: ImportedUser): Promise<"removed" | "used" | "last_admin" | "gone">;
  /** @param isPurged as `PushToWithdraw.isPurged`. */
  withdrawPush(imported: ImportedRow, isPurged: PushToWithdraw["isPurged"]): Promise<Withdrawal>;
  /** All records, in the order of the source's ids. */
  records(kind: "user" | "push"): AsyncIterable<ImportedRow & { readonly createdAt: number | null }>;
  /** @param css undefined: the source has none. */
  importStyleSheet(css: string | undefined): Promise<StyleOutcome>;
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
