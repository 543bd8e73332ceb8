import type { KindName } from "../../base/push-kinds.ts";
import type { Config } from "../../config/config.ts";
import { pushLimits } from "../../pushes/pushes.ts";
import type { NewPushLimits } from "./model.ts";

export function limitsOf(kind: KindName, config: Config): NewPushLimits {
  const { maxFileUploads, pushBytesMax } = config.files;
  return {
    payloadCharactersMax: pushLimits.payloadCharactersMax[kind],
    passphraseCharactersMax: pushLimits.passphraseCharactersMax,
    nameCharactersMax: pushLimits.nameCharactersMax,
    noteCharactersMax: pushLimits.noteCharactersMax,
    maxFileUploads,
    pushBytesMax,
    recipientsMax: pushLimits.recipientsMax,
    recipientsDailyMax: config.linkDeliveries.dailyMax,
  };
}
