import { passwordLengths, randomPassword } from "../password.ts";
import { exitCodes, isSet, numberOf, type RunVerb } from "./io.ts";

export const generate: RunVerb = async (given, io) => {
  const length = numberOf(given, "length", passwordLengths.min, passwordLengths.max);
  const symbols = !isSet(given, "no-symbols");
  io.stdout(`${randomPassword(length === undefined ? { symbols } : { length, symbols })}\n`);
  return exitCodes.ok;
};
