import { dayMs } from "../../src/base/clock.ts";
import { toPush } from "../../src/pushes/present-push.ts";
import type { OwnedPush } from "../../src/pushes/pushes.ts";
import { optionsBy, type PushRow } from "../../src/pushes/store/tables.ts";

const createdAt = 1_000_000;

/** An active anonymous text push, created at 1,000,000 ms, for seven days and five views. */
export function pushRow(overrides: Partial<PushRow> = {}): PushRow {
  return {
    id: 1,
    kind: "text",
    ownerId: null,
    linkCheck: Buffer.alloc(16),
    ownerCheck: null,
    createdAt,
    updatedAt: createdAt,
    expiresAt: createdAt + 7 * dayMs,
    endedAt: null,
    endReason: null,
    expireAfterDays: 7,
    expireAfterViews: 5,
    views: 0,
    refusals: 0,
    ...optionsBy(() => false),
    encryption: "none",
    encryptionCheck: null,
    payloadFormat: "text",
    isAnswer: 0,
    sealGeneration: 1,
    keyCheck: Buffer.alloc(32),
    passphraseSalt: null,
    tokenSealed: null,
    nameSealed: null,
    noteSealed: null,
    ...overrides,
  };
}

/** The same push for its owner, the user 7. */
export function ownedPush(overrides: Partial<OwnedPush> = {}): OwnedPush {
  const row = pushRow({ ownerId: 7 });
  return { ...row, ...toPush(row, "thesecrettokenofthelink", row.createdAt), ...overrides };
}
