import type { PushPart, RelatedCounts, UserPart } from "@sealpush/import-password-pusher";
import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import type { ImportedPush } from "../pushes/create/adopt-push.ts";
import type { Activity } from "./store/activity.ts";
import type { ImportedRow, ImportedRows, RecordedCounts, RecordedSnapshot } from "./store/imported-rows.ts";

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
  | { readonly outcome: "imported_before"; readonly imported: ImportedRow }
  | { readonly outcome: "email_taken" };

export type PushOutcome =
  | { readonly outcome: "imported"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "imported_before"; readonly imported: ImportedRow }
  | { readonly outcome: "link_taken" };

export type StyleOutcome =
  | { readonly outcome: "imported" | "imported_before" | "other_style" }
  | { readonly outcome: "refused"; readonly reason: string };

/** The destination of rows: the domain, or nothing in a dry run. */
export interface Destination {
  /** undefined: no row of the source was imported. */
  recordedSnapshot(): Promise<RecordedSnapshot | undefined>;
  /** `identities` as they are recorded. */
  identitiesDigest(identities: string): string;
  /** The snapshot that is recorded with the first row that is imported. */
  setSnapshot(snapshot: RecordedSnapshot): void;
  /** What was done here since. */
  activitySince(time: number): Promise<Activity>;
  /** The rows that were imported before. */
  importedRows: ImportedRows["all"];
  /** @param merge whether an existing account with the same email is the same person. */
  importUser(incoming: IncomingUser, merge: boolean): Promise<UserOutcome>;
  /** @throws the error of reading a file. */
  importPush(incoming: IncomingPush): Promise<PushOutcome>;
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
