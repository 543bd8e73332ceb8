import { Command, CommanderError } from "commander";
import { addBackup } from "./backup.ts";
import { type CliIo, type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { addConfigCheck } from "./config-check.ts";
import { addDoctor } from "./doctor.ts";
import { reportError } from "./errors.ts";
import { addImport } from "./import.ts";
import { addKeysGenerate } from "./keys-generate.ts";
import { addKeysRotate } from "./keys-rotate.ts";
import { addMailTest } from "./mail-test.ts";
import { addMove } from "./move.ts";
import { addRestore } from "./restore.ts";
import { addServe } from "./serve.ts";
import { addTokenCreate } from "./token-create.ts";
import { addTokenList } from "./token-list.ts";
import { addTokenRevoke } from "./token-revoke.ts";
import { addUserChanges } from "./user-change.ts";
import { addUserCreate } from "./user-create.ts";
import { addUserDelete } from "./user-delete.ts";
import { addUserList } from "./user-list.ts";
import { addUserSetPassword } from "./user-set-password.ts";

export type { CliIo } from "./cli-io.ts";

/**
 * @param argv what stands behind the program's name; empty: "serve".
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
    // Commander has said it already; its own code for every mistake is 1, for help that was asked for 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return reportError(error, io);
  }
}

function makeProgram(deps: CommandDeps): Command {
  const program = new Command("sealpush")
    .description("Hand over a secret once: the server, and commands for its operator.")
    .version(deps.io.version)
    .exitOverride()
    .configureOutput({ writeOut: deps.io.stdout, writeErr: deps.io.stderr })
    .addHelpText("after", exitCodesHelp);
  addServe(program, deps);
  const user = program.command("user").description("People who can sign in.");
  addUserCreate(user, deps);
  addUserList(user, deps);
  addUserChanges(user, deps);
  addUserDelete(user, deps);
  addUserSetPassword(user, deps);
  const token = program.command("token").description("API tokens of a user.");
  addTokenCreate(token, deps);
  addTokenList(token, deps);
  addTokenRevoke(token, deps);
  const keys = program.command("keys").description("Master keys.");
  addKeysGenerate(keys, deps);
  addKeysRotate(keys, deps);
  addMailTest(program.command("mail").description("Mails of accounts."), deps);
  addConfigCheck(program.command("config").description("Settings."), deps);
  addBackup(program, deps);
  addRestore(program, deps);
  addMove(program, deps);
  addImport(program.command("import").description("Move in from another server."), deps);
  addDoctor(program, deps);
  return program;
}
