import type { AccessKeys } from "../../crypto/access-keys.ts";
import { AuthenticatedTable, type UnopenedRow } from "../../database/authenticated-table.ts";
import { type Database, type InTransaction, nothingElse, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { authenticated, boolean, harmless, integer, nullable, reasons, text } from "../../database/table.ts";
import type { PresetChange, PresetScope, StoredPreset } from "../presets/preset.ts";

/**
 * Authenticated: a preset that somebody writes into the database could lead a whole organization to links that live longer, or
 * to a secret that opens without a step.
 */
export const presets = new AuthenticatedTable("presets", "preset", {
  /** See `PresetScope`. */
  scope: authenticated(text),
  /** null: the scope is no group. */
  groupId: authenticated(nullable(integer)),
  /** null: the scope is no person. */
  userId: authenticated(nullable(integer)),
  name: authenticated(text),
  /** JSON. */
  settings: authenticated(text),
  isDefault: authenticated(boolean),
  /** Grows with every change. */
  revision: authenticated(integer),
  updatedAt: harmless(integer, reasons.shown),
});

const reading = presets.reading();
type UnopenedPreset = UnopenedRow<typeof reading>;

const ofScope = sql<[scope: string], UnopenedPreset>(
  `SELECT ${reading.selectList} FROM presets WHERE scope = ? ORDER BY name`,
);
/** One statement, because it is part of creations. Memberships are verified by the caller. */
const ofCaller = sql<[userId: number, userId: number], UnopenedPreset>(
  `SELECT ${reading.selectList} FROM presets WHERE scope = 'instance' OR user_id = ?
   OR group_id IN (SELECT group_id FROM group_members WHERE user_id = ?) ORDER BY name`,
);
const owner = {
  group: sql<[id: number], { found: number }>("SELECT 1 AS found FROM user_groups WHERE id = ?"),
  user: sql<[id: number], { found: number }>("SELECT 1 AS found FROM users WHERE id = ?"),
};
const put = presets.insertion(
  `ON CONFLICT (scope, name) DO UPDATE SET settings = excluded.settings, is_default = excluded.is_default,
     revision = excluded.revision, updated_at = excluded.updated_at, mac = excluded.mac`,
);
const remove = sql<[scope: string, name: string]>("DELETE FROM presets WHERE scope = ? AND name = ?");
const removeUnchanged = sql<[scope: string, name: string, revision: number]>(
  "DELETE FROM presets WHERE scope = ? AND name = ? AND revision = ?",
);

const presetsMax = 50;
/** No user has this id. */
const nobody = 0;

function columnsOf(scope: PresetScope) {
  if (scope === "instance") return { scope, groupId: null, userId: null };
  return "groupId" in scope
    ? { scope: `group ${scope.groupId}`, groupId: scope.groupId, userId: null }
    : { scope: `user ${scope.userId}`, groupId: null, userId: scope.userId };
}

async function exists(tx: Transaction, { groupId, userId }: ReturnType<typeof columnsOf>): Promise<boolean> {
  if (groupId !== null) return (await tx.one(owner.group, groupId)) !== undefined;
  return userId === null || (await tx.one(owner.user, userId)) !== undefined;
}

export type PresetOutcome = "saved" | "taken" | "too_many" | "changed_meanwhile" | "gone";
/** @param all of the scope. */
function refusalOf(
  all: readonly Pick<StoredPreset, "name" | "revision">[],
  name: string,
  was: PresetChange["was"],
): Exclude<PresetOutcome, "saved"> | undefined {
  const before = was && all.find((other) => other.name === was.name);
  if (was !== undefined && before === undefined) return "gone";
  if (before?.revision !== was?.revision) return "changed_meanwhile";
  if (name !== was?.name && all.some((other) => other.name === name)) return "taken";
  return was === undefined && all.length >= presetsMax ? "too_many" : undefined;
}

export type PresetStore = ReturnType<typeof createPresetStore>;

export function createPresetStore(db: Database, access: AccessKeys) {
  const opened = (rows: readonly UnopenedPreset[]) =>
    reading.openAll(access, rows).map(({ settings, ...row }) => ({ ...row, settings: JSON.parse(settings) }));

  return {
    list: async (scope: PresetScope) => opened(await db.read.all(ofScope, columnsOf(scope).scope)),
    /** All that this user may have, those of groups that the user may only seem to be in among them. */
    listFor: async (userId: number | null) => opened(await db.read.all(ofCaller, userId ?? nobody, userId ?? nobody)),

    /** `gone`: the preset that is changed, or its owner, is. */
    save: (
      scope: PresetScope,
      { was, name, settings, isDefault }: PresetChange,
      now: number,
      together: InTransaction = nothingElse,
    ): Promise<PresetOutcome> =>
      db.writeSerialized("accounts", async (tx) => {
        const columns = columnsOf(scope);
        if (!(await exists(tx, columns))) return "gone";
        const all = opened(await tx.all(ofScope, columns.scope));
        const refusal = refusalOf(all, name, was);
        if (refusal !== undefined) return refusal;
        const others = all.filter((other) => other.name !== was?.name);
        if (was !== undefined) await tx.run(remove, columns.scope, was.name);
        const write = ({ revision, ...row }: StoredPreset) =>
          put(tx, access, {
            ...{ ...columns, ...row, settings: JSON.stringify(row.settings) },
            ...{ revision: revision + 1, updatedAt: now },
          });
        for (const other of others) {
          if (isDefault && other.isDefault) await write({ ...other, isDefault: false });
        }
        await write({ name, settings, isDefault, revision: was?.revision ?? 0 });
        await together(tx);
        return "saved";
      }),

    /** @returns false: there is no such preset, or somebody has changed it since. */
    remove: (
      scope: PresetScope,
      { name, revision }: Pick<StoredPreset, "name" | "revision">,
      together: InTransaction = nothingElse,
    ): Promise<boolean> =>
      db.writeSerialized("accounts", async (tx) => {
        if ((await tx.run(removeUnchanged, columnsOf(scope).scope, name, revision)) === 0) return false;
        await together(tx);
        return true;
      }),
  };
}

/** For the transaction that replaces the access secret. */
export async function renewPresets(tx: Transaction, from: AccessKeys, to: AccessKeys): Promise<void> {
  await presets.renew(tx, from, to, "scope", "name");
}
