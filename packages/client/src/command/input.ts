import { createReadStream } from "node:fs";
import { isLinkOrToken } from "../link.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, textOf } from "./io.ts";
import { systemErrorCode } from "./system-error.ts";

/** What a server takes as a text: 1,048,576 characters of up to four bytes. */
const textBytesMax = 4 * 1_024 * 1_024;
const lineBytesMax = 16 * 1_024;

/** Asked for without showing it, or all of standard input. @param hint follows the problem. @throws CommandRefused. */
export async function readSecret(io: CommandIo, hint: string): Promise<string> {
  const isAsked = io.terminals.stdin && io.ask !== undefined;
  const secret = isAsked ? await io.ask("Secret: ", "hidden") : await readInput(io, hint);
  if (secret === "") throw new CommandRefused("The secret is empty.", exitCodes.usage);
  return secret;
}

/** All of standard input. A line end after a single line is not part of it: `echo` adds one. @throws CommandRefused. */
async function readInput(io: CommandIo, hint: string): Promise<string> {
  const text = await readText(io.stdin, standardInput, textBytesMax, hint);
  return /^[^\n]*\n$/.test(text) ? text.replace(/\r?\n$/, "") : text;
}

/** The only line of standard input. @throws CommandRefused. */
export async function readLine(io: CommandIo, what: string): Promise<string> {
  return onlyLine(await readText(io.stdin, standardInput, lineBytesMax), standardInput, what);
}

/** A file, or a pipe with a name, that is not expected to be long. @throws CommandRefused. */
export async function readShortFile(path: string, bytesMax: number): Promise<string> {
  try {
    return await readText(createReadStream(path), path, bytesMax);
  } catch (error) {
    // The error of a read, unlike that of opening, does not have the path.
    throw systemErrorCode(error) === "EISDIR" ? new CommandRefused(`${path} is a folder.`, exitCodes.usage) : error;
  }
}

const standardInput = "Standard input";

/** @param source for messages. @param hint follows the problem. @throws CommandRefused if it is too long or not UTF-8. */
async function readText(
  input: AsyncIterable<Uint8Array>,
  source: string,
  bytesMax: number,
  hint = "",
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of input) {
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) throw new CommandRefused(`${source} is too long: ${bytesMax} bytes at most.`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof TypeError) throw new CommandRefused(`${source} is not UTF-8.${hint}`);
    throw error;
  }
}

function onlyLine(text: string, source: string, what: string): string {
  const line = text.replace(/\r?\n$/, "");
  const problem = line === "" ? " is empty: it" : /[\r\n]/.test(line) ? "" : undefined;
  if (problem === undefined) return line;
  throw new CommandRefused(`${source}${problem} must be the ${what} on a single line.`, exitCodes.usage);
}

/** The argument that names a push or a request; - reads it from standard input. @throws CommandRefused usage. */
export async function pushArgument({ positionals: [named] }: Given, io: CommandIo): Promise<string> {
  const text = named === "-" ? (await readLine(io, "link")).trim() : (named ?? (await askForLink(io)));
  if (isLinkOrToken(text)) return text;
  throw new CommandRefused("This is neither a link of a push or a request nor a token of one.", exitCodes.usage);
}

async function askForLink(io: CommandIo): Promise<string> {
  if (io.ask !== undefined && io.terminals.stdin) return (await io.ask("Link: ", "shown")).trim();
  throw new CommandRefused("Name the push or the request by its link or its token.", exitCodes.usage);
}

/** Where a passphrase comes from. The option with `-file` behind its name reads it from a file. */
interface PassphraseSource {
  readonly option: string;
  readonly variable: string;
  readonly question: string;
}

const currentPassphrase: PassphraseSource = {
  option: "passphrase",
  variable: "SEALPUSH_PASSPHRASE",
  question: "Passphrase: ",
};
export const newPassphrase: PassphraseSource = {
  option: "new-passphrase",
  variable: "SEALPUSH_NEW_PASSPHRASE",
  question: "New passphrase: ",
};

/**
 * The passphrase that an option asks for; undefined: no option does.
 * @throws CommandRefused passphrase if nobody can be asked.
 */
export async function passphraseOption(
  given: Given,
  io: CommandIo,
  source = currentPassphrase,
): Promise<string | undefined> {
  const { option, variable } = source;
  const path = textOf(given, `${option}-file`);
  if (path !== undefined) return onlyLine(await readShortFile(path, lineBytesMax), path, "passphrase");
  if (!isSet(given, option)) return undefined;
  const found = await findPassphrase(io, source);
  if (found === undefined) {
    throw new CommandRefused(
      `There is no terminal to ask for the passphrase: set ${variable} or --${option}-file.`,
      exitCodes.passphrase,
    );
  }
  return found;
}

/**
 * Also from the environment without an option: nothing new is made unprotected although a passphrase is set.
 * @throws as `passphraseOption`.
 */
export async function givenPassphrase(given: Given, io: CommandIo): Promise<string | undefined> {
  return (await passphraseOption(given, io)) ?? (io.environment.SEALPUSH_PASSPHRASE || undefined);
}

/** Whether `givenPassphrase` returns one or asks for one. */
export function givesPassphrase(given: Given, io: CommandIo): boolean {
  const isOption = textOf(given, "passphrase-file") !== undefined || isSet(given, "passphrase");
  return isOption || (io.environment.SEALPUSH_PASSPHRASE ?? "") !== "";
}

export const passphraseAttemptsMax = 3;

/** Asks until a passphrase opens what was received, a bounded number of times. */
export function makeAsk(isFirstMissing: boolean, io: CommandIo): () => Promise<string | undefined> {
  let isFirst = isFirstMissing;
  let attempts = 0;
  return async () => {
    attempts += 1;
    if (attempts > passphraseAttemptsMax) return undefined;
    if (isFirst) {
      isFirst = false;
      return await findPassphrase(io);
    }
    if (io.ask === undefined) return undefined;
    io.stderr("That passphrase is wrong.\n");
    return await askForPassphrase(io);
  };
}

/** From the environment, else from the person at the terminal. */
export async function findPassphrase(io: CommandIo, source = currentPassphrase): Promise<string | undefined> {
  const fromEnvironment = io.environment[source.variable] ?? "";
  if (fromEnvironment !== "") return fromEnvironment;
  return await askForPassphrase(io, source);
}

export async function askForPassphrase(io: CommandIo, { question } = currentPassphrase): Promise<string | undefined> {
  if (io.ask === undefined) return undefined;
  const answer = await io.ask(question, "hidden");
  if (answer === "") throw new CommandRefused("No passphrase was entered.", exitCodes.passphrase);
  return answer;
}
