import type { EndReason, KindName } from "./push.ts";

/** A push as administrators see it: what it is, never what is in it nor where it is. */
export interface SurveyedPush {
  readonly id: number;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly endReason: EndReason | null;
  readonly views: number;
  readonly expireAfterViews: number;
  /** Of payload and files, before they were sealed. */
  readonly storedBytes: number;
  readonly passphraseRequired: boolean;
}

export interface PushSurvey {
  /** null: of any kind. */
  readonly kind: KindName | null;
  readonly state: "active" | "expired" | "all";
  /** null: whoever owns it, or nobody. */
  readonly ownerId: number | null;
  /** Older ones than this; null: from the newest on. */
  readonly beforeId: number | null;
}

export interface SurveyPage {
  readonly pushes: readonly SurveyedPush[];
  /** null: there are no more. */
  readonly nextBeforeId: number | null;
}

export interface PushTotals {
  readonly live: number;
  readonly ended: number;
  readonly files: number;
  readonly fileBytes: number;
  /** Files that wait to be taken off the storage. */
  readonly filesToDelete: number;
  /** Files on their way in. */
  readonly uploads: number;
}

export type AdministratorsEnd = "ended" | "had_ended" | "unknown";
