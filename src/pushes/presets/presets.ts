import type { Clock } from "../../base/clock.ts";
import type { InTransaction } from "../../database/database.ts";
import type { PresetOutcome, PresetStore } from "../store/presets.ts";
import type { Preset, PresetChange, PresetScope, StoredPreset } from "./preset.ts";

/** A preset that a caller can name, and whose it is. */
export interface CallerPreset extends Preset {
  readonly from: "own" | "group" | "instance";
  /** The group's name; null: it is no group's. */
  readonly group: string | null;
}

interface PresetsDeps {
  readonly store: PresetStore;
  readonly clock: Clock;
  /** The groups that the user is in, verified, in the order of their names. */
  readonly groupsOf: (userId: number) => Promise<readonly { readonly id: number; readonly name: string }[]>;
}

const byNearness = { own: 0, group: 1, instance: 2 } as const;

export type Presets = ReturnType<typeof createPresets>;

/** Named settings for new pushes, of the instance, of groups and of people. */
export function createPresets({ store, clock, groupsOf }: PresetsDeps) {
  return {
    list: (scope: PresetScope): Promise<readonly StoredPreset[]> => store.list(scope),
    remove: store.remove,

    /** The presets that this caller can name, the nearest first: of two with one name, only the nearer one. */
    async of(user: { readonly id: number } | null): Promise<readonly CallerPreset[]> {
      const rows = await store.listFor(user?.id ?? null);
      const isInGroups = rows.some(({ groupId }) => groupId !== null);
      const groups = user !== null && isInGroups ? await groupsOf(user.id) : [];
      const nameOf = new Map(groups.map(({ id, name }) => [id, name]));
      const found = rows.flatMap(({ groupId, userId, name, settings, isDefault }): CallerPreset[] => {
        const group = groupId === null ? null : nameOf.get(groupId);
        if (group === undefined) return [];
        const from = userId !== null ? "own" : group === null ? "instance" : "group";
        return [{ name, settings, isDefault, from, group }];
      });
      const sorted = found.toSorted(
        (a, b) => byNearness[a.from] - byNearness[b.from] || ((a.group ?? "") < (b.group ?? "") ? -1 : 1),
      );
      return sorted.filter(({ name }, at) => sorted.findIndex((other) => other.name === name) === at);
    },

    save: (scope: PresetScope, change: PresetChange, together?: InTransaction): Promise<PresetOutcome> =>
      store.save(scope, change, clock.now(), together),
  };
}
