import { type CompletedCommand, completionScript, shells } from "./completion.ts";
import { CommandRefused, exitCodes, type RunVerb } from "./io.ts";
import { optionsOf, type Verb } from "./verb.ts";

export function completedVerbs(verbs: readonly Verb[]): CompletedCommand[] {
  return verbs.map((verb) => ({
    name: verb.name,
    summary: verb.summary,
    options: optionsOf(verb).flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
    completes: verb.completes,
  }));
}

export const completion =
  (verbs: readonly Verb[]): RunVerb =>
  async ({ positionals: [named] }, io) => {
    const shell = shells.find((name) => name === named);
    if (shell === undefined) throw new CommandRefused(`Name a shell: ${shells.join(", ")}.`, exitCodes.usage);
    io.stdout(completionScript(shell, completedVerbs(verbs)));
    return exitCodes.ok;
  };
