import type { AdoptedUser } from "../accounts/admin/adopt-user.ts";
import type { ImportedPush } from "../pushes/create/import-push.ts";
import type { Part } from "./lacks.ts";
import type { Holdings, PushPart, UserPart } from "./source.ts";
import type { ImportedRow, NotedCounts, Standing } from "./store/imported-rows.ts";

/** A user as it comes, and what of it stays behind. */
export interface IncomingUser {
  readonly sourceId: number;
  readonly user: AdoptedUser;
  readonly lacks: readonly UserPart[];
}

/** The same of a push. */
export interface IncomingPush {
  readonly sourceId: number;
  readonly push: ImportedPush;
  readonly lacks: readonly PushPart[];
  readonly holdings: Holdings;
}

export type UserOutcome =
  /** `merged`: into an account that was here, which got the API token alone. */
  | { readonly outcome: "brought"; readonly userId: number; readonly merged: boolean; readonly tokenTaken: boolean }
  /** Another run of the same source was faster. */
  | { readonly outcome: "known"; readonly known: KnownUser }
  | { readonly outcome: "email_taken" };

export type PushOutcome =
  | { readonly outcome: "brought"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "known"; readonly known: ImportedRow }
  | { readonly outcome: "link_taken" };

/** What has become of a row that had come in part. */
export interface Completion {
  readonly outcome: "completed";
  /** Came now. */
  readonly filled: readonly Part[];
  /** Was set here meanwhile, or is gone: what the source has of it is not wanted any more. */
  readonly superseded: readonly Part[];
  /** Is still to come. */
  readonly lacks: readonly Part[];
  readonly tokenTaken: boolean;
  readonly holdings: Holdings;
}

/** Nothing was done: another run has changed what is noted of the row. `now`: what it is. */
export interface Overtaken<Row> {
  readonly outcome: "overtaken";
  readonly now: Row;
}

export type StyleOutcome =
  | { readonly outcome: "brought" | "known" | "other_style" }
  | { readonly outcome: "refused"; readonly reason: string };

/** A user who came in before. `stands`: the account is still here. */
export type KnownUser = ImportedRow & { readonly stands: boolean };

/** Pushes that came in before. */
export interface KnownPushes {
  /** @param sourceId greater than in the call before. */
  find(sourceId: number): Promise<ImportedRow | undefined>;
}

/** Where an import goes: into the domain, or nowhere but into a count. */
export interface Destination {
  /** By the source's ids. */
  knownUsers(): Promise<ReadonlyMap<number, KnownUser>>;
  knownPushes(): KnownPushes;
  bringUser(incoming: IncomingUser, merge: boolean): Promise<UserOutcome>;
  /** @throws what reading a file threw. */
  bringPush(incoming: IncomingPush): Promise<PushOutcome>;
  /** Gives a row what it lacks and the source now has, wherever nothing took its place here. */
  completeUser(known: KnownUser, incoming: IncomingUser): Promise<Completion | Overtaken<KnownUser>>;
  completePush(known: ImportedRow, incoming: IncomingPush): Promise<Completion | Overtaken<ImportedRow>>;
  bringStyle(css: string): Promise<StyleOutcome>;
  /** When the server forgets a push that has ended; undefined: never. */
  forgetsAt(push: { readonly ownerId: number | null; readonly endedAt: number }): number | undefined;
  /** What is here at the end; undefined: nothing was to come. */
  countHere(): Promise<HereCounts | undefined>;
}

export interface HereCounts {
  /** Of all runs. */
  readonly noted: NotedCounts;
  readonly notedByThisRun: NotedCounts;
  /** Of what this run has brought. */
  readonly standing: Standing;
}
