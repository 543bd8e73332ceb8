import type { RunVerb } from "./io.ts";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** What the value is, such as "<time>"; undefined: the option takes none. */
  readonly value?: string;
  /** It may be given several times. */
  readonly multiple?: true;
  readonly description: string;
}

export interface Verb {
  readonly name: string;
  readonly summary: string;
  /** The arguments in the usage line. */
  readonly takes?: string;
  /** Default: one, if it takes any. */
  readonly argumentsMax?: number;
  /** What arguments are, for completion. */
  readonly completes?: "files" | readonly string[];
  readonly options?: readonly Option[];
  readonly details?: string;
  /** What to do after the server's answer was lost, if a repetition would do something twice. */
  readonly afterLostAnswer?: string;
  readonly load: () => Promise<RunVerb>;
}

const help: Option = { name: "help", short: "h", description: "display help for command" };

/** Every command has these options. */
export function optionsOf(verb: Verb): readonly Option[] {
  return [...(verb.options ?? []), help];
}
