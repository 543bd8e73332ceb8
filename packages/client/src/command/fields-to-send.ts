import { fieldTypes, type PushField } from "@sealpush/age/fields";
import { readLine } from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, textsOf } from "./io.ts";
import { harmless } from "./text.ts";

const option = "--field must be LABEL=VALUE, LABEL:secret=VALUE or LABEL:otp=VALUE.";

/** What `--field` names; empty: there are none. @throws CommandRefused usage. */
export async function fieldsToSend(given: Given, io: CommandIo): Promise<readonly PushField[]> {
  const fields = textsOf(given, "field").map(readField);
  const asked = fields.filter(({ value }) => value === "-");
  if (fields.some(({ type, value }) => type !== "text" && value !== "-")) {
    io.stderr("warning: other users of this machine can read arguments: give - as the value of a secret or a code.\n");
  }
  const isAsked = io.terminals.stdin && io.ask !== undefined;
  if (asked.length > 1 && !isAsked) {
    throw new CommandRefused("Standard input is the value of one field only.", exitCodes.usage);
  }
  const complete: PushField[] = [];
  // One after another, in the order of the command line.
  for (const field of fields) {
    complete.push(field.value === "-" ? { ...field, value: await askedValue(field, io) } : field);
  }
  return complete;
}

function readField(text: string): PushField {
  const at = text.indexOf("=");
  if (at <= 0) throw new CommandRefused(option, exitCodes.usage);
  const [named, value] = [text.slice(0, at), text.slice(at + 1)];
  const type = fieldTypes.find((known) => named.endsWith(`:${known}`));
  const label = type === undefined ? named : named.slice(0, -type.length - 1);
  return { label, value, type: type ?? "text" };
}

async function askedValue({ label, type }: PushField, io: CommandIo): Promise<string> {
  if (!io.terminals.stdin || io.ask === undefined) return await readLine(io, `value of ${harmless(label)}`);
  const value = await io.ask(`${harmless(label)}: `, type === "text" ? "shown" : "hidden");
  if (value === "") throw new CommandRefused(`No ${harmless(label)} was entered.`, exitCodes.usage);
  return value;
}
