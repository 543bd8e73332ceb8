import type { AdoptedUser } from "../accounts/adopt-user.ts";
import type { AdoptedPush } from "../pushes/adopt.ts";
import type { ImportedSums } from "./store/imported-rows.ts";

export type UserOutcome =
  | { readonly outcome: "brought"; readonly userId: number; readonly tokenTaken: boolean }
  | { readonly outcome: "known"; readonly userId: number }
  | { readonly outcome: "email_taken" };

export type PushOutcome =
  | { readonly outcome: "brought"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "known" | "link_taken" };

export type StyleOutcome =
  | { readonly outcome: "brought" | "known" | "other_style" }
  | { readonly outcome: "refused"; readonly reason: string };

/** Pushes that came in before. */
export interface KnownPushes {
  /** @param sourceId greater than in the call before. */
  has(sourceId: number): Promise<boolean>;
}

/** Where an import goes: into the house, or nowhere but into a count. */
export interface Destination {
  /** By the source's ids, those who came in before; null: their account here was deleted since. */
  knownUsers(): Promise<ReadonlyMap<number, number | null>>;
  knownPushes(): KnownPushes;
  bringUser(sourceId: number, user: AdoptedUser, merge: boolean): Promise<UserOutcome>;
  /** @throws what reading a file threw. */
  bringPush(sourceId: number, push: AdoptedPush): Promise<PushOutcome>;
  bringStyle(css: string): Promise<StyleOutcome>;
  /** What is here at the end; undefined: nothing was to come. @param firstPushId as `Tally.firstPushId`. */
  countHere(firstPushId: number | undefined): Promise<(ImportedSums & HereCounts) | undefined>;
}

export interface HereCounts {
  /** Rows that any run has brought. */
  readonly usersNoted: number;
  readonly pushesNoted: number;
}
