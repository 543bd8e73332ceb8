import type { PushChanges } from "../push-types.ts";
import { fieldsToSend } from "./fields-to-send.ts";
import { filesAt } from "./files.ts";
import { givenPassphrase, newPassphrase, passphraseOption, pushArgument, readSecret } from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, numberOf, type RunVerb, textsOf } from "./io.ts";
import { changeableFields } from "./push.ts";
import { connectForPush } from "./settings.ts";
import { printAnswer, progressOn } from "./text.ts";

/** The options that change nothing by themselves. */
const unchanging = ["passphrase", "passphrase-file", "server", "json"];

export const edit: RunVerb = async (given, io) => {
  refuseContradictions(given);
  const settings = settingsOf(given);
  const { list: files, sizeBytes } = await filesAt(textsOf(given, "add-file"));
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const changes = { ...settings, ...(files.length > 0 && { files }), ...(await secretsOf(given, io)) };
  const progress = files.length === 0 ? undefined : progressOn(io, "Sending", sizeBytes);
  const edited = await client
    .edit(named, changes, { signal: io.interruption, ...(progress && { onProgress: progress.show }) })
    .finally(() => progress?.clear());
  return printAnswer(given, io, edited, "The push was changed. Its link is the same.\n");
};

/** @throws CommandRefused usage, before anybody is asked for a secret. */
function refuseContradictions(given: Given): void {
  if (Object.keys(given.values).every((option) => unchanging.includes(option))) {
    throw new CommandRefused("Name what to change, for example --views 5. Nothing was changed.", exitCodes.usage);
  }
  const hasNewText = isSet(given, "secret");
  const fields = textsOf(given, "field");
  if (hasNewText && fields.length > 0) {
    throw new CommandRefused("--secret and --field are two ways to send the secret: use one.", exitCodes.usage);
  }
  if (given.positionals[0] === "-" && (hasNewText || fields.some((field) => field.endsWith("=-")))) {
    throw new CommandRefused("Standard input is either the link or the secret.", exitCodes.usage);
  }
}

function settingsOf(given: Given): PushChanges {
  const days = numberOf(given, "days", 1, 100_000);
  const removed = textsOf(given, "remove-file");
  return {
    ...changeableFields(given),
    ...(days === undefined ? {} : { expire_after_days: days }),
    ...(removed.length > 0 && { remove_files: removed.map((filename) => ({ filename })) }),
    ...(isSet(given, "remove-passphrase") && { remove_passphrase: true }),
  };
}

async function secretsOf(given: Given, io: CommandIo): Promise<PushChanges> {
  const current = await givenPassphrase(given, io);
  const passphrase = await passphraseOption(given, io, newPassphrase);
  return {
    ...(current === undefined ? {} : { current_passphrase: current }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(isSet(given, "secret") && { payload: await readSecret(io, "") }),
    ...(textsOf(given, "field").length > 0 && { fields: await fieldsToSend(given, io) }),
  };
}
