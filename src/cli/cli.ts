import { Command, CommanderError } from "commander";
import { clientVerbSummaries } from "../client-verbs.ts";
import { addBackupCommands } from "./backup.ts";
import { type CliIo, type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { addCompletionCommand } from "./completion.ts";
import { addConfigCommands } from "./config.ts";
import { addDoctorCommand } from "./doctor.ts";
import { CommandRefused, reportError } from "./errors.ts";
import { addImportVerification } from "./import/verify.ts";
import { addImport } from "./import.ts";
import { addJobsCommands } from "./jobs.ts";
import { addKeyCommands } from "./keys.ts";
import { addMailCommands } from "./mail.ts";
import { addMoveCommand } from "./move.ts";
import { addOidcCommands } from "./oidc.ts";
import { addPushesCommands } from "./pushes.ts";
import { serveCommand } from "./serve.ts";
import { addTokenCommands } from "./token.ts";
import { addUserCommands } from "./user.ts";

export type { CliIo } from "./cli-io.ts";

/**
 * @param argv the arguments after the program's name; empty: "serve".
 * @returns the exit code: 0 done, 1 refused or failed, 2 the command line or a setting is wrong.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = makeProgram({
    io,
    setExitCode: (code) => {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(argv.length === 0 ? ["serve"] : argv, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has already printed the message. Its exit code is 1 for every mistake, and 0 for help.
    if (error instanceof CommanderError) {
      const [typed = "", topic = ""] = argv;
      // Commander then prints the help of the whole program, and no error.
      const isUnknownTopic = typed === "help" && error.exitCode !== 0;
      if (isUnknownTopic) reportError(new CommandRefused(`error: unknown command '${topic}'`), io);
      if (error.code === "commander.unknownCommand") await suggestCommand(typed, program, io);
      else if (isUnknownTopic) await suggestCommand(topic, program, io);
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    }
    return reportError(error, io);
  }
}

/** Names a command for people or for operators that is similar to the unknown one. */
async function suggestCommand(typed: string, { commands }: Command, { stderr }: CliIo): Promise<void> {
  const names = commands.map((command) => command.name());
  // The name of a group is known, and Commander has named a similar command in it.
  if (names.includes(typed)) return;
  const { didYouMean } = await import("@sealpush/client/command");
  const suggestion = didYouMean(typed, [...names, ...Object.keys(clientVerbSummaries)]).trim();
  if (suggestion !== "") stderr(`${suggestion}\n`);
}

/** `main.ts` gives these commands to @sealpush/client. */
const clientHelp = `
Commands that use a server over its API ("help push" has its options and exit codes):
${Object.entries(clientVerbSummaries)
  .map(([name, summary]) => `  ${name.padEnd(10)}${summary}`)
  .join("\n")}`;

function makeProgram(deps: CommandDeps): Command {
  const program = new Command("sealpush")
    .description(
      "Share a secret once: the server, commands for its operator, and commands for people who share secrets.",
    )
    .version(deps.io.version)
    .exitOverride()
    // It repeats what was typed, which must not change a terminal.
    .configureOutput({
      writeOut: deps.io.stdout,
      writeErr: (text) => deps.io.stderr(text.replace(/(?!\n)\p{Cc}/gu, "\ufffd")),
    })
    .addHelpText("after", clientHelp)
    // The help of the two imports has their own exit codes.
    .addHelpText("afterAll", ({ command }) => (command.parent?.name() === "import" ? "" : exitCodesHelp));
  addServe(program, deps);
  addUserCommands(program, deps);
  addOidcCommands(program, deps);
  addTokenCommands(program, deps);
  addPushesCommands(program, deps);
  addJobsCommands(program, deps);
  addKeyCommands(program, deps);
  addMailCommands(program, deps);
  addConfigCommands(program, deps);
  addBackupCommands(program, deps);
  addMoveCommand(program, deps);
  const imports = program.command("import").description("Import the data of another server.");
  addImport(imports, deps);
  addImportVerification(imports, deps);
  addDoctorCommand(program, deps);
  addCompletionCommand(program, deps);
  // Commander knows only these commands; `suggestCommand` knows all.
  return program.showSuggestionAfterError(false);
}

function addServe(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("serve")
    .description("Start the server. This is the default command.")
    .action(async () => {
      setExitCode(await serveCommand(io));
    });
}
