import type { AuditEntry, EndReason, KindName } from "./push.ts";

/** A push as it lies in the store: nothing in it is readable without a key. Times in ms since the epoch. */
export interface PushRow {
  readonly id: number;
  readonly kind: KindName;
  readonly ownerId: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  readonly endReason: EndReason | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly views: number;
  /** Retrievals refused after the end, counted while they still change what `views_remaining` says. */
  readonly refusals: number;
  readonly deletableByViewer: boolean;
  readonly retrievalStep: boolean;
  /** Its owner is told of each counted view. */
  readonly notifyOnView: boolean;
  readonly sealGeneration: number;
  readonly linkSalt: Buffer;
  readonly passphraseSalt: Buffer | null;
  readonly tokenSealed: Buffer | null;
  readonly nameSealed: Buffer | null;
  readonly noteSealed: Buffer | null;
}

/** With the boxes that a claim opens; both null once the push has ended. */
export interface SealedPush {
  readonly row: PushRow;
  readonly dataKeySealed: Buffer | null;
  readonly payloadSealed: Buffer | null;
  /** Most pushes have none, and need not be asked for them. */
  readonly hasFiles: boolean;
}

export interface FileRow {
  readonly id: number;
  readonly blobKey: string;
  readonly sizeBytes: number;
  readonly detailsSealed: Buffer;
  /** null: the file's key is derived from the push's data key; after an edit it lies here, sealed under that. */
  readonly keySealed: Buffer | null;
}

/** What a search looks at first: it holds nothing that has to be opened. */
export interface PushGlance {
  readonly id: number;
  readonly kind: KindName;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | null;
  /** Of the sealed name and note together; 0: it has neither. */
  readonly labelBytes: number;
}

export type SealedLabels = Pick<PushRow, "nameSealed" | "noteSealed">;

export interface TrailRow extends AuditEntry {
  readonly sequence: number;
  readonly userId: number | null;
}
