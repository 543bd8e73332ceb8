import type { KindName } from "../../config/config.ts";
import type { Database } from "../../db/sqlite.ts";
import { auditKinds } from "../audit-trail.ts";
import type { PushGlance, PushLists, SealedLabels } from "../store.ts";
import {
  kindNames,
  kindOf,
  pushColumns,
  type RawPush,
  type RawTrailRow,
  toPushRow,
  toTrailRow,
  trailColumns,
} from "./rows.ts";

interface RawGlance extends Omit<PushGlance, "kind"> {
  readonly kind: number;
}

/** `$any` 1: of every kind. */
interface Filter {
  readonly owner: number;
  readonly now: number;
  readonly any: number;
  readonly kind: number;
  readonly limit: number;
  readonly offset: number;
}

const newestFirst = "ORDER BY created_at DESC, id DESC";

export function prepareLists({ reader }: Pick<Database, "reader">): PushLists {
  const filtered = (state: string) =>
    reader.prepare<[Filter], RawPush>(
      `SELECT ${pushColumns} FROM pushes WHERE owner_id = $owner AND (${state}) AND ($any = 1 OR kind = $kind)
       ${newestFirst} LIMIT $limit OFFSET $offset`,
    );
  const lists = {
    active: filtered("ended_at IS NULL AND expires_at > $now"),
    expired: filtered("ended_at IS NOT NULL OR expires_at <= $now"),
    all: filtered("$now = $now"),
  };
  // The lengths stand in the row's header: reading them does not fetch the labels.
  const glanced = (state: string) =>
    reader.prepare<[number, number, number, number], RawGlance>(
      `SELECT id, kind, created_at AS createdAt, expires_at AS expiresAt, ended_at AS endedAt,
         coalesce(length(name_sealed), 0) + coalesce(length(note_sealed), 0) AS labelBytes
       FROM pushes WHERE owner_id = ? AND ${state} AND (created_at, id) < (?, ?) ${newestFirst} LIMIT ?`,
    );
  const glances = { active: glanced("ended_at IS NULL"), all: glanced("owner_id IS NOT NULL") };
  const labels = reader.prepare<[number], SealedLabels>(
    "SELECT name_sealed AS nameSealed, note_sealed AS noteSealed FROM pushes WHERE id = ?",
  );
  const trail = reader.prepare<[number, number, number], RawTrailRow>(
    `SELECT ${trailColumns} FROM audit_entries WHERE push_id = ?
     ORDER BY updated_at DESC, sequence DESC LIMIT ? OFFSET ?`,
  );
  const trailAfter = reader.prepare<[number, number, number], { entries: number }>(
    `SELECT count(*) AS entries FROM audit_entries
     WHERE push_id = ? AND (updated_at > ? OR (updated_at = ? AND kind = ${auditKinds.indexOf("failed_view")}))`,
  );
  const trailFrom = reader.prepare<[number, number, number], RawTrailRow>(
    `SELECT ${trailColumns} FROM audit_entries WHERE push_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  );
  const foldedTrail = reader.prepare<[number], RawTrailRow>(
    `SELECT ${trailColumns} FROM audit_entries WHERE push_id = ? AND sequence < 0 ORDER BY updated_at, sequence`,
  );

  return {
    async filtered(owner, { state, kind }, now, limit, offset) {
      const filter = { owner, now, any: kind === null ? 1 : 0, kind: numberOf(kind), limit, offset };
      return lists[state].all(filter).map(toPushRow);
    },
    async glances(ownerId, state, last, limit) {
      const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: 0 };
      return glances[state].all(ownerId, createdAt, id, limit).map((raw) => ({ ...raw, kind: kindOf(raw.kind) }));
    },
    labels: (pushId) => labels.get(pushId),
    trail: async (pushId, limit, offset) => trail.all(pushId, limit, offset).map(toTrailRow),
    countAfterEnd: async (pushId, endedAt) => trailAfter.get(pushId, endedAt, endedAt)?.entries ?? 0,
    trailFrom: async (pushId, sequence, limit) => trailFrom.all(pushId, sequence, limit).map(toTrailRow),
    foldedTrail: async (pushId) => foldedTrail.all(pushId).map(toTrailRow),
  };
}

function numberOf(kind: KindName | null): number {
  return kind === null ? -1 : kindNames.indexOf(kind);
}
