import type { RowOf } from "../database/table.ts";
import type { files, readAuditEntries, readPushes } from "./store/tables.ts";

/** A push as it is stored: nothing in it is readable without a key. Times in ms since the epoch. */
export type PushRow = Omit<RowOf<typeof readPushes>, "auditCount" | "dataKeyId" | "storedBytes">;

/** With the boxes that a claim opens; both null once the push has ended. */
export interface SealedPush {
  readonly row: PushRow;
  readonly dataKeySealed: Buffer | null;
  readonly payloadSealed: Buffer | null;
  /** Most pushes have none, and need not be asked for them. */
  readonly hasFiles: boolean;
}

export type FileRow = Omit<RowOf<typeof files>, "pushId">;

/** What a search reads first: nothing in it has to be opened. */
export type PushGlance = Pick<PushRow, "id" | "kind" | "createdAt" | "expiresAt" | "endedAt"> & {
  /** Of the sealed name and note together; 0: it has neither. */
  readonly labelBytes: number;
};

export type SealedLabels = Pick<PushRow, "nameSealed" | "noteSealed">;

export type TrailRow = RowOf<typeof readAuditEntries>;
