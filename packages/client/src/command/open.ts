import { access, constants, stat } from "node:fs/promises";
import type { Retrieved } from "../client.ts";
import { ClientError } from "../errors.ts";
import { readRequestLink } from "../link.ts";
import { keyIsMissing, lacksKey } from "../missing-key.ts";
import { clientProblem } from "./client-problem.ts";
import { type Found, selectField, type WantedField } from "./field-to-print.ts";
import {
  askForPassphrase,
  findPassphrase,
  makeAsk,
  passphraseAttemptsMax,
  passphraseOption,
  pushArgument,
} from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, type RunVerb, textOf } from "./io.ts";
import { printOnce } from "./print-once.ts";
import { answerToOpen } from "./request.ts";
import { saveFile } from "./saved-files.ts";
import { type Connection, connectForPush } from "./settings.ts";
import { systemProblem } from "./system-error.ts";
import { harmless, jsonText, progressOn } from "./text.ts";

export const open: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const folder = textOf(given, "output") ?? ".";
  const wanted = wantedField(given, folder);
  // A view must not be spent on files that cannot be saved.
  if (folder !== "-") await assertWritable(folder);
  const { client } = await connectForPush(named, given, io);
  const passphrase = await passphraseOption(given, io);
  const isRequest = readRequestLink(named) !== undefined;
  if (!isRequest) await refuseWithoutKey(client, named, io);
  const opened = isRequest
    ? await retrieve(client, await answerToOpen(client, named, passphrase, io), undefined, io)
    : await retrieve(client, named, passphrase, io);
  if (opened.expired && opened.payload === null && opened.files.length === 0) {
    throw new CommandRefused("This push has ended. Ask its sender for a new one.", exitCodes.ended);
  }
  if (typeof opened.sender === "string") io.stderr(`From ${harmless(opened.sender)}.\n`);
  if (opened.files_listed === false) {
    io.stderr(
      "No list of these files was sealed, so their names and number are not protected: compare them with the sender.\n",
    );
  }
  if (folder === "-") {
    const [file, ...others] = opened.files;
    if (file !== undefined && others.length === 0) {
      if (opened.payload !== null) io.stderr(`${opened.payload}\n`);
      for await (const chunk of client.download(file, { signal: io.interruption })) await io.pipe(chunk);
      return exitCodes.ok;
    }
  }
  let isFound =
    wanted === undefined
      ? isSet(given, "json") || (await printSecret(opened.payload, io))
      : await printField(selectField(opened.fields ?? [], wanted, Date.now()), opened, folder, io);
  const saved = await saveFiles(client, opened.files, folder === "-" ? "." : folder, io);
  if (isSet(given, "json")) {
    const { files: _addresses, ...push } = opened;
    isFound = await printOnce(jsonText({ ...push, files: saved }), isLost, io);
  }
  return isFound && saved.every((file) => file.saved_as !== null) ? exitCodes.ok : exitCodes.failed;
};

interface SavedFile {
  readonly filename: string;
  readonly saved_as: string | null;
}

async function saveFiles(
  client: Connection["client"],
  files: Retrieved["files"],
  folder: string,
  io: CommandIo,
): Promise<readonly SavedFile[]> {
  const saved: SavedFile[] = [];
  for (const file of files) {
    const name = harmless(file.filename);
    const progress = progressOn(io, name, undefined);
    try {
      const path = await saveFile(
        file.filename,
        folder,
        client.download(file, { signal: io.interruption }),
        progress?.show,
      );
      progress?.clear();
      saved.push({ filename: file.filename, saved_as: path });
      io.stderr(`Saved ${harmless(path)}.\n`);
    } catch (error) {
      progress?.clear();
      if (error === io.interruption.reason) throw error;
      // The other files and the text would be lost: the view is spent.
      saved.push({ filename: file.filename, saved_as: null });
      const said = error instanceof ClientError ? clientProblem(error) : systemProblem(error);
      const problem = said ?? (error instanceof Error ? error.message : "unknown error");
      io.stderr(`${name} was not saved: ${problem}\n`);
    }
  }
  return saved;
}

/** The view is spent, so a wrong label must not lose the secret. @returns whether the value was printed. */
async function printField(found: Found, opened: Retrieved, folder: string, io: CommandIo): Promise<boolean> {
  if ("value" in found) return await printSecret(found.value, io);
  io.stderr(`${found.problem} The view is spent, so the whole secret is kept.\n`);
  const { payload } = opened;
  // A program that reads standard input wants one value, and no other text.
  if (payload !== null && !io.terminals.stdout) {
    const path = await saveFile("secret.txt", folder, [Buffer.from(payload)], undefined).catch((error: unknown) => {
      if (systemProblem(error) === undefined) throw error;
      return undefined;
    });
    if (path !== undefined) {
      io.stderr(`Saved ${harmless(path)}.\n`);
      return false;
    }
  }
  await printSecret(payload, io);
  return false;
}

/** @returns undefined: the whole secret is wanted. @throws CommandRefused usage before a view is spent. */
function wantedField(given: Given, folder: string): WantedField | undefined {
  const wanted = { label: textOf(given, "field"), code: isSet(given, "otp") };
  if (wanted.label === undefined && !wanted.code) return undefined;
  if (isSet(given, "json") || folder === "-") {
    throw new CommandRefused("--field and --otp print one value: leave out --json and --output -.", exitCodes.usage);
  }
  return wanted;
}

async function assertWritable(folder: string): Promise<void> {
  if (!(await stat(folder)).isDirectory()) throw new CommandRefused(`${folder} is not a folder.`, exitCodes.usage);
  await access(folder, constants.W_OK);
}

async function refuseWithoutKey(client: Connection["client"], push: string, io: CommandIo): Promise<void> {
  if (await lacksKey(client, push, io.interruption)) throw new CommandRefused(keyIsMissing, exitCodes.usage);
}

/** @throws ClientError wrong_passphrase if nobody can be asked for another one. */
async function retrieve(client: Connection["client"], push: string, given: string | undefined, io: CommandIo) {
  let passphrase = given;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.retrieve(push, {
        signal: io.interruption,
        askPassphrase: makeAsk(passphrase === undefined, io),
        ...(passphrase === undefined ? {} : { passphrase }),
      });
    } catch (error) {
      const isWrong = error instanceof ClientError && error.code === "wrong_passphrase";
      if (isWrong && error.sealedText !== undefined) {
        await io.pipe(Buffer.from(error.sealedText));
        io.stderr(
          "The view is spent. Standard output has the sealed text: the age tool opens it with the passphrase and the key.\n",
        );
        throw error;
      }
      if (!isWrong || attempt > passphraseAttemptsMax) throw error;
      if (passphrase !== undefined && io.ask !== undefined) io.stderr("That passphrase is wrong.\n");
      passphrase = passphrase === undefined ? await findPassphrase(io) : await askForPassphrase(io);
      if (passphrase === undefined) throw error;
    }
  }
}

const isLost = "The view is spent, so what was not written is lost.";

/** Programs get the very text. A terminal gets no control characters, and a line end after the last line. */
async function printSecret(payload: string | null, io: CommandIo): Promise<boolean> {
  if (payload === null) return true;
  if (!io.terminals.stdout) return await printOnce(payload, isLost, io);
  const shown = harmless(payload, "\n\t");
  if (shown !== payload.replaceAll("\r\n", "\n")) {
    io.stderr("The text has control characters, which are replaced here. A pipe or a file gets them as they are.\n");
  }
  io.stdout(shown.endsWith("\n") ? shown : `${shown}\n`);
  return true;
}
