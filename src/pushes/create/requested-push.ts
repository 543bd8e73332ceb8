import { dayMs, minuteMs } from "../../base/clock.ts";
import type { KindName } from "../../base/push-kinds.ts";
import type { KindSettings } from "../../config/config.ts";
import type { Policy } from "../../policies/policies.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import { storedPayload } from "../payload.ts";
import { namesLifetime } from "../presets/preset.ts";
import type { CreatePush } from "../push.ts";
import { optionSettings } from "../push-options.ts";
import { optionsBy } from "../store/tables.ts";
import { encryptionOf } from "./limits.ts";

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
