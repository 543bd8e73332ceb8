import { type CompletedCommand, completionScript, shells } from "./completion.ts";
import { optionsOf } from "./help.ts";
import { CommandRefused, exitCodes, type RunVerb } from "./io.ts";
import { verbs } from "./verbs.ts";

/** The commands of this package. */
export function completedVerbs(): CompletedCommand[] {
  return verbs.map((verb) => ({
    name: verb.name,
    summary: verb.summary,
    options: optionsOf(verb).flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
    completes: verb.completes,
  }));
}

export const completion: RunVerb = async ({ positionals: [named] }, io) => {
  const shell = shells.find((name) => name === named);
  if (shell === undefined) throw new CommandRefused(`Name a shell: ${shells.join(", ")}.`, exitCodes.usage);
  io.stdout(completionScript(shell, completedVerbs()));
  return exitCodes.ok;
};
