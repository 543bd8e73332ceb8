import type { KindName } from "../../base/push-kinds.ts";
import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import { storedPayload } from "../payload.ts";
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
  return {
    kind,
    ...optionsBy((option) => {
      const { offered, default: byDefault } = optionSettings(option, config.kinds[kind], user !== null);
      return offered && (request[option] ?? byDefault);
    }),
    ...encryptionOf(request),
    payloadFormat: storedPayload(request).payloadFormat,
    isAnswer: answersRequest === true ? 1 : 0,
    name: request.name ?? "",
    note: request.note ?? "",
  };
}
