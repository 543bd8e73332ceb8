import { dayMs, minuteMs } from "../../base/clock.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { Config, Range } from "../../config/config.ts";
import { leastUnder, type Policy, settingsUnder } from "../../policies/policies.ts";
import type { CreatePush, PushField } from "../push.ts";
import type { PushOptions } from "../store/tables.ts";

/** Whose preset it is: everybody's, of the members of a group, or one person's own. */
export type PresetScope = "instance" | { readonly groupId: number } | { readonly userId: number };

/** What a preset says of a push; absent: nothing. An option of a push is one of a preset without further code. */
export interface PresetSettings extends Partial<PushOptions> {
  readonly kind?: KindName;
  readonly expireAfterMinutes?: number;
  readonly expireAfterViews?: number;
  /** The fields that the form offers: never values. */
  readonly fields?: readonly Pick<PushField, "label" | "type">[];
}

export interface Preset {
  readonly name: string;
  readonly settings: PresetSettings;
  /** The form of a new push starts with it. */
  readonly isDefault: boolean;
}

export interface StoredPreset extends Preset {
  /** Grows with every change. */
  readonly revision: number;
}

export interface PresetChange extends Preset {
  /** The preset that is changed, as it was when the change began; undefined: it is a new one. */
  readonly was?: Pick<StoredPreset, "name" | "revision"> | undefined;
}

export const namesLifetime = ({ expireAfterMs, expireAfterDays, expiresAt }: CreatePush) =>
  [expireAfterMs, expireAfterDays, expiresAt].some((given) => given !== undefined);

/** The request, with what the preset says about what it leaves open. */
export function applyPreset(
  request: CreatePush,
  { kind, expireAfterMinutes, expireAfterViews, fields: _, ...options }: PresetSettings,
): CreatePush {
  const hasFiles = (request.upload?.fileCount ?? 0) > 0;
  return {
    ...options,
    ...(kind !== undefined && !hasFiles && { kind }),
    ...(expireAfterViews !== undefined && { expireAfterViews }),
    ...(expireAfterMinutes !== undefined &&
      !namesLifetime(request) && { expireAfterMs: Math.round(expireAfterMinutes * minuteMs) }),
    ...request,
  };
}

/** The settings, where server or rules allow less, with what they allow. A kind that is not allowed is refused later. */
export function fitPreset(
  settings: PresetSettings,
  kind: KindName,
  { kinds }: Pick<Config, "kinds">,
  policy: Policy,
): PresetSettings {
  const dayMinutes = dayMs / minuteMs;
  const { days } = leastUnder(policy, kinds[kind]);
  const longest = Math.min(days.max * dayMinutes, policy.maxMinutes ?? Number.POSITIVE_INFINITY);
  // Less than a day counts as one.
  const shortest = days.min > 1 ? days.min * dayMinutes : 1;
  const { expireAfterMinutes: minutes, expireAfterViews } = settings;
  const viewsRange = settingsUnder(policy, kind, kinds[kind]).views;
  return {
    ...settings,
    ...(minutes !== undefined && { expireAfterMinutes: within(minutes, { min: shortest, max: longest }) }),
    ...(expireAfterViews !== undefined && { expireAfterViews: within(expireAfterViews, viewsRange) }),
    ...(settings.notifyOnView !== undefined && {
      notifyOnView: settings.notifyOnView || policy.notifyOnViewRequired,
    }),
  };
}

function within(value: number, { min, max }: Pick<Range, "min" | "max">): number {
  return Math.min(Math.max(value, min), max);
}
