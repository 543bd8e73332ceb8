import { auditKinds } from "../audit-trail.ts";
import type { EndReason, KindName } from "../push.ts";
import type { PushRow, TrailRow } from "../push-row.ts";

/** Kept as numbers; the order is that of the field's servers. */
export const kindNames: readonly KindName[] = ["text", "file", "url", "qr"];
export const endReasons: readonly EndReason[] = ["views", "time", "viewer", "owner", "administrator"];

const columns = [
  "id",
  "kind",
  "owner_id AS ownerId",
  "created_at AS createdAt",
  "updated_at AS updatedAt",
  "expires_at AS expiresAt",
  "ended_at AS endedAt",
  "end_reason AS endReason",
  "expire_after_days AS expireAfterDays",
  "expire_after_views AS expireAfterViews",
  "views",
  "refusals",
  "audit_count AS auditCount",
  "deletable_by_viewer AS deletableByViewer",
  "retrieval_step AS retrievalStep",
  "notify_on_view AS notifyOnView",
  "seal_generation AS sealGeneration",
  "data_key_id AS dataKeyId",
  "stored_bytes AS storedBytes",
  "link_salt AS linkSalt",
  "passphrase_salt AS passphraseSalt",
  "token_sealed AS tokenSealed",
  "name_sealed AS nameSealed",
  "note_sealed AS noteSealed",
];

export const pushColumns = columns.join(", ");

/** As the driver returns it. */
export interface RawPush
  extends Omit<PushRow, "kind" | "endReason" | "deletableByViewer" | "retrievalStep" | "notifyOnView"> {
  readonly kind: number;
  readonly endReason: number | null;
  readonly deletableByViewer: number;
  readonly retrievalStep: number;
  readonly notifyOnView: number;
  readonly auditCount: number;
  readonly dataKeyId: number;
  readonly storedBytes: number;
}

const auditColumns =
  "kind, address, user_agent AS userAgent, referrer, times, created_at AS createdAt, updated_at AS updatedAt";

function nameOf<Name>(names: readonly Name[], index: number): Name {
  const name = names[index];
  if (name === undefined) throw new Error(`The store holds an unknown number: ${index}.`);
  return name;
}

export function toPushRow(raw: RawPush): PushRow {
  return {
    id: raw.id,
    kind: kindOf(raw.kind),
    ownerId: raw.ownerId,
    createdAt: raw.createdAt,
    updatedAt: raw.updatedAt,
    expiresAt: raw.expiresAt,
    endedAt: raw.endedAt,
    endReason: raw.endReason === null ? null : endReasonOf(raw.endReason),
    expireAfterDays: raw.expireAfterDays,
    expireAfterViews: raw.expireAfterViews,
    views: raw.views,
    refusals: raw.refusals,
    deletableByViewer: raw.deletableByViewer === 1,
    retrievalStep: raw.retrievalStep === 1,
    notifyOnView: raw.notifyOnView === 1,
    sealGeneration: raw.sealGeneration,
    linkSalt: raw.linkSalt,
    passphraseSalt: raw.passphraseSalt,
    tokenSealed: raw.tokenSealed,
    nameSealed: raw.nameSealed,
    noteSealed: raw.noteSealed,
  };
}

export interface RawTrailRow extends Omit<TrailRow, "kind"> {
  readonly kind: number;
}

export const trailColumns = `${auditColumns}, sequence, user_id AS userId`;

export function toTrailRow(raw: RawTrailRow): TrailRow {
  return { ...raw, kind: nameOf(auditKinds, raw.kind) };
}

export function endReasonOf(index: number): EndReason {
  return nameOf(endReasons, index);
}

export function kindOf(index: number): KindName {
  return nameOf(kindNames, index);
}
