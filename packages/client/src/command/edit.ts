import type { PushChanges } from "../push-types.ts";
import { fieldsToSend } from "./fields-to-send.ts";
import { givenPassphrase, pushArgument, readSecret } from "./input.ts";
import { CommandRefused, exitCodes, isSet, numberOf, type RunVerb, textsOf } from "./io.ts";
import { changeableFields } from "./push.ts";
import { connectForPush } from "./settings.ts";
import { jsonText } from "./text.ts";

export const edit: RunVerb = async (given, io) => {
  const days = numberOf(given, "days", 1, 100_000);
  const options: PushChanges = {
    ...changeableFields(given),
    ...(days === undefined ? {} : { expire_after_days: days }),
    ...(isSet(given, "remove-passphrase") && { remove_passphrase: true }),
  };
  const hasNewText = isSet(given, "secret");
  const hasFields = textsOf(given, "field").length > 0;
  if (Object.keys(options).length === 0 && !hasNewText && !hasFields) {
    throw new CommandRefused("Name what to change, for example --views 5. Nothing was changed.", exitCodes.usage);
  }
  if (hasNewText && hasFields) {
    throw new CommandRefused("--secret and --field are two ways to send the secret: use one.", exitCodes.usage);
  }
  if (given.positionals[0] === "-" && (hasNewText || textsOf(given, "field").some((field) => field.endsWith("=-")))) {
    throw new CommandRefused("Standard input is either the link or the secret.", exitCodes.usage);
  }
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const current = await givenPassphrase(given, io);
  const changes: PushChanges = {
    ...options,
    ...(hasNewText && { payload: await readSecret(io, "") }),
    ...(hasFields && { fields: await fieldsToSend(given, io) }),
    ...(current === undefined ? {} : { current_passphrase: current }),
  };
  const edited = await client.edit(named, changes, { signal: io.interruption });
  io.stdout(isSet(given, "json") ? jsonText(edited) : "The push was changed. Its link is the same.\n");
  return exitCodes.ok;
};
