import { dayMs, minuteMs } from "../../base/clock.ts";
import { invalidFields } from "../../base/errors.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { KindSettings } from "../../config/config.ts";
import type { Policy } from "../../policies/policies.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import { storedPayload } from "../payload.ts";
import { applyPreset, fitPreset, namesLifetime, type PresetSettings } from "../presets/preset.ts";
import type { CreatePush } from "../push.ts";
import { optionSettings } from "../push-options.ts";
import type { AskedKey } from "../store/idempotency-keys.ts";
import { optionsBy } from "../store/tables.ts";
import { encryptionOf, kindOf } from "./limits.ts";

export type RequestedPush = ReturnType<typeof requestedPush>;

/** The settings and labels of the push without its limits, with the server's defaults for absent fields. */
export function requestedPush(
  { config }: PushDeps,
  request: CreatePush,
  kind: KindName,
  { user, answersRequest }: Actor,
) {
  const options = optionsBy((option) => {
    const { offered, default: byDefault } = optionSettings(option, config.kinds[kind], user !== null);
    return offered && (request[option] ?? byDefault);
  });
  const { encryption, encryptionCheck } = encryptionOf(request);
  const { payloadFormat } = storedPayload(request);
  const isAnswer = answersRequest !== undefined ? 1 : 0;
  return {
    columns: { ...options, kind, encryption, encryptionCheck, payloadFormat, isAnswer },
    name: request.name ?? "",
    note: request.note ?? "",
  };
}

/**
 * The request, where the rules allow less than the server's defaults, with what they allow. What the request names stays as it
 * is.
 */
export function shrinkDefaults(
  request: CreatePush,
  { days, views }: Pick<KindSettings, "days" | "views">,
  { maxMinutes, maxViews, notifyOnViewRequired }: Policy,
): CreatePush {
  const maxMs = maxMinutes === null ? Infinity : maxMinutes * minuteMs;
  const isShorter = days.default * dayMs > maxMs && !namesLifetime(request);
  const hasFewerViews = maxViews !== null && views.default > maxViews;
  if (!isShorter && !hasFewerViews && !notifyOnViewRequired) return request;
  return {
    ...(isShorter && { expireAfterMs: maxMs }),
    ...(hasFewerViews && { expireAfterViews: maxViews }),
    ...(notifyOnViewRequired && { notifyOnView: true }),
    ...request,
  };
}

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
