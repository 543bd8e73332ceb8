import { minuteMs } from "../../base/clock.ts";
import { invalidFields } from "../../base/errors.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import { applyPreset, fitPreset, type PresetSettings } from "../presets/preset.ts";
import type { CreatePush } from "../push.ts";
import { optionsBy } from "../store/tables.ts";
import { kindOf } from "./limits.ts";
import type { AskedKey } from "./repeat-creation.ts";

/** @returns the request with what its preset says. @throws AppError invalid_fields: the caller has no preset of this name. */
export async function resolvePreset(
  deps: PushDeps,
  request: CreatePush,
  { preset: name, askedKey }: { readonly preset: string; readonly askedKey: AskedKey | undefined },
  actor: Actor,
): Promise<CreatePush> {
  const repeated = await settingsOfRepeated(deps, askedKey);
  if (repeated !== undefined) return applyPreset(request, repeated);
  const all = await deps.presets.of(actor.user);
  const found = all.find((preset) => preset.name === name);
  if (found === undefined) {
    const names = all.map((preset) => JSON.stringify(preset.name)).join(", ");
    throw invalidFields({ preset: [`is unknown. ${names === "" ? "There is none for you" : `There are ${names}`}.`] });
  }
  const kind = kindOf(applyPreset(request, found.settings));
  return applyPreset(request, fitPreset(found.settings, kind, deps.config, await deps.policies.of(actor.user)));
}

/** A repeat means the preset as it was, which may have been changed since: what the first request made of it. */
async function settingsOfRepeated(deps: PushDeps, key: AskedKey | undefined): Promise<PresetSettings | undefined> {
  const { pushId = null } = key === undefined ? {} : await deps.store.creationKeys.find(key.userId, key.digest);
  const row = pushId === null ? undefined : await deps.store.findById(pushId);
  if (row === undefined) return undefined;
  return {
    ...optionsBy((option) => row[option]),
    kind: row.kind,
    expireAfterMinutes: (row.expiresAt - row.createdAt) / minuteMs,
    expireAfterViews: row.expireAfterViews,
  };
}
