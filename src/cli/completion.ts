import { Argument, type Command } from "commander";
import type { CommandDeps } from "./cli-io.ts";

export function addCompletionCommand(program: Command, { io }: CommandDeps): void {
  program
    .command("completion")
    .description("Print a script that completes commands and options in bash, zsh or fish.")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { completedVerbs, completionScript, verbs } = await import("@sealpush/client/command");
      io.stdout(
        completionScript(shell, [
          ...completedVerbs(verbs).filter(({ name }) => name !== "completion"),
          ...described(program),
        ]),
      );
    });
}

function described(command: Command): Described[] {
  return command.commands.map((inner) => ({
    name: inner.name(),
    summary: inner.description(),
    options: [...inner.options.flatMap(({ long, short }) => [long ?? [], short ?? []].flat()), "--help", "-h"],
    completes: inner.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    subcommands: described(inner),
  }));
}

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly string[];
  readonly completes: readonly string[];
  readonly subcommands: readonly Described[];
}
