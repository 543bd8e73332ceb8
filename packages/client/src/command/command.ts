import { parseArgs } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { ClientError } from "../errors.ts";
import { clientProblem, isAnswerLost } from "./client-problem.ts";
import { programHelp, verbHelp } from "./help.ts";
import { type CommandIo, CommandRefused, exitCodeOf, exitCodes, type Given } from "./io.ts";
import { didYouMean } from "./suggest.ts";
import { isWrongPath, systemProblem } from "./system-error.ts";
import type { Verb } from "./verb.ts";
import { optionsOf } from "./verb.ts";
import { findVerb, verbs } from "./verbs.ts";

export { completedVerbs } from "./complete.ts";
export { type CompletedCommand, completionScript, shells } from "./completion.ts";
export type { CommandIo } from "./io.ts";
export { didYouMean } from "./suggest.ts";
export { verbs } from "./verbs.ts";

/** Runs a command of this process and sets the exit code. @param argv the arguments after the program's name. */
export async function main(argv: readonly string[]): Promise<void> {
  const { processIo } = await import("./process-io.ts");
  // It is set already if standard output failed.
  process.exitCode ||= await runCommand(argv, processIo());
}

/** @returns the exit code. */
export async function runCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h") return print(programHelp(), io);
  if (name === "--version" || name === "-V") return print(`${packageJson.version}\n`, io);
  if (name === "help") {
    const wanted = findVerb(rest[0]);
    return print(wanted === undefined ? programHelp() : verbHelp(wanted), io);
  }
  const verb = findVerb(name);
  if (verb === undefined) {
    const names = verbs.map((known) => known.name);
    io.stderr(`error: unknown command '${name}'.${didYouMean(name, names)} "sealpush --help" lists the commands.\n`);
    return exitCodes.usage;
  }
  try {
    const given = parse(rest, verb);
    if (given.values.help === true) return print(verbHelp(verb), io);
    const run = await verb.load();
    return await run(given, io);
  } catch (error) {
    return reportError(error, verb, io);
  }
}

function print(text: string, io: CommandIo): number {
  io.stdout(text);
  return exitCodes.ok;
}

/** @throws CommandRefused usage. */
function parse(args: readonly string[], verb: Verb): Given {
  const options = Object.fromEntries(
    optionsOf(verb).map(({ name, short, value, multiple = false }) => [
      name,
      {
        type: value === undefined ? "boolean" : "string",
        multiple,
        ...(short === undefined ? {} : { short }),
      } as const,
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    const { takes, argumentsMax = takes === undefined ? 0 : 1 } = verb;
    if (positionals.length > argumentsMax) throw usage(`${verb.name} takes fewer arguments.`, verb);
    return { values: values as Given["values"], positionals };
  } catch (error) {
    // Its code begins with ERR_PARSE_ARGS. The message may end with advice on more lines.
    if (error instanceof TypeError) throw usage(error.message.split(/[\n.]/)[0] ?? "", verb);
    throw error;
  }
}

function usage(problem: string, { name }: Verb): CommandRefused {
  return new CommandRefused(`error: ${problem.replace(/\.$/, "")}. See "sealpush ${name} --help".`, exitCodes.usage);
}

/** Prints one line for people. What is neither a refusal nor an error of the operating system is thrown. */
function reportError(error: unknown, { afterLostAnswer }: Verb, io: CommandIo): number {
  if (error instanceof CommandRefused) {
    io.stderr(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof ClientError) {
    const advice = afterLostAnswer !== undefined && isAnswerLost(error) ? ` ${afterLostAnswer}` : "";
    io.stderr(`${clientProblem(error)}${advice}\n`);
    return exitCodeOf[error.code];
  }
  if (error === io.interruption.reason && error instanceof Error) {
    io.stderr(`${error.message}\n`);
    return exitCodes.failed;
  }
  const problem = systemProblem(error);
  if (problem === undefined) throw error;
  io.stderr(`${problem}\n`);
  return isWrongPath(error) ? exitCodes.usage : exitCodes.failed;
}
