import { existsSync } from "node:fs";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { SealpushClient } from "../client.ts";
import { ClientError } from "../errors.ts";
import { readLink, readRequestLink, serverOf } from "../link.ts";
import { randomHex } from "../random-hex.ts";
import { parsedJson } from "../transport.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, textOf } from "./io.ts";
import { systemErrorCode, systemProblem } from "./system-error.ts";

/** A little more than any address and token have. */
const settingsBytesMax = 8_192;

/**
 * Both are in one file: while another command logs in or out, the token of one server must not be taken for that of the
 * other.
 */
interface StoredSettings {
  /** The server that the token belongs to. */
  readonly server: string;
  readonly token: string | undefined;
}

export interface Connection {
  readonly client: SealpushClient;
  /** Whether a token is sent. */
  readonly hasToken: boolean;
}

/** @returns the client for the server that was chosen. @throws CommandRefused if there is none. */
export async function connect(given: Given, io: CommandIo, language?: string): Promise<Connection> {
  const server = await findServer(given, io);
  if (server === undefined) {
    throw new CommandRefused('No server is configured: run "sealpush login", or set SEALPUSH_SERVER.', exitCodes.usage);
  }
  return await connectTo(server, io, language);
}

/**
 * @param push the link of a push or a request, or its url_token. A link decides which server is used, and gets the token only if the token is
 * that server's.
 */
export async function connectForPush(push: string, given: Given, io: CommandIo): Promise<Connection> {
  const link = readLink(push) ?? readRequestLink(push);
  if (link === undefined) return await connect(given, io);
  const chosen = await findServer(given, io);
  if (chosen !== undefined && new URL(chosen).origin === new URL(link.server).origin)
    return await connectTo(chosen, io);
  warnOfPlainHttp(link.server, io);
  return { client: new SealpushClient({ server: link.server }), hasToken: false };
}

/** @param server the one that SEALPUSH_TOKEN is meant for. */
async function connectTo(server: string, io: CommandIo, language?: string): Promise<Connection> {
  warnOfPlainHttp(server, io);
  const fromEnvironment = io.environment.SEALPUSH_TOKEN?.trim() ?? "";
  if (/[^!-~]/.test(fromEnvironment)) {
    throw new CommandRefused("SEALPUSH_TOKEN has characters that no API token has.", exitCodes.usage);
  }
  const token = fromEnvironment === "" ? await findStoredToken(server, io) : fromEnvironment;
  return { client: new SealpushClient({ server, token, language }), hasToken: token !== undefined };
}

/** The option, else the environment, else what `login` has stored. */
async function findServer(given: Given, io: CommandIo): Promise<string | undefined> {
  const named = textOf(given, "server") ?? io.environment.SEALPUSH_SERVER ?? "";
  return named === "" ? (await readSettings(io))?.server : serverNamed(named);
}

/** @throws CommandRefused usage if it is not the address of a server. */
export function serverNamed(address: string): string {
  try {
    return serverOf(address);
  } catch (error) {
    if (error instanceof ClientError) throw new CommandRefused(error.message, exitCodes.usage);
    throw error;
  }
}

const local = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/;

export function warnOfPlainHttp(server: string, io: CommandIo): void {
  if (server.startsWith("http:") && !local.test(server)) {
    io.stderr(`warning: ${server} is used without TLS: everybody on the way can read secrets and tokens.\n`);
  }
}

/** $XDG_CONFIG_HOME/sealpush. */
export function settingsFolder({ environment, homeFolder }: CommandIo): string {
  const configured = environment.XDG_CONFIG_HOME ?? "";
  return join(isAbsolute(configured) ? configured : join(homeFolder, ".config"), "sealpush");
}

export function settingsFileOf(io: CommandIo): string {
  return join(settingsFolder(io), "config.json");
}

/** @throws CommandRefused if the file is damaged, or holds a token and others can read it. */
async function readSettings(io: CommandIo): Promise<StoredSettings | undefined> {
  const path = settingsFileOf(io);
  const file = await orUndefined(open(path, "r"));
  if (file === undefined) return undefined;
  try {
    const { mode, size } = await file.stat();
    if (size > settingsBytesMax) throw new CommandRefused(`${path} is too large.`, exitCodes.usage);
    const { server, token } = settingsIn(await file.readFile("utf8"), path);
    // Windows has no such modes.
    if (token !== undefined && process.platform !== "win32" && (mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8);
      throw new CommandRefused(
        `${path} is open to other users (mode ${octal}): run "chmod 600 ${path}".`,
        exitCodes.usage,
      );
    }
    return { server, token };
  } finally {
    await file.close();
  }
}

function settingsIn(text: string, path: string): StoredSettings {
  const settings = Object(parsedJson(text));
  const server: unknown = Reflect.get(settings, "server");
  const token: unknown = Reflect.get(settings, "token");
  if (typeof server === "string" && URL.canParse(server) && (token === undefined || typeof token === "string")) {
    return { server: serverNamed(server), token };
  }
  throw new CommandRefused(
    `${path} is not {"server": "https://push.example.com", "token": "..."}: log in again.`,
    exitCodes.usage,
  );
}

async function findStoredToken(server: string, io: CommandIo): Promise<string | undefined> {
  const stored = await readSettings(io);
  return stored?.server === server ? stored.token : undefined;
}

/** @throws CommandRefused if the folder cannot be written. */
export async function storeSettings(settings: StoredSettings, io: CommandIo): Promise<void> {
  try {
    await makeFolder(settingsFolder(io));
    await replaceSettings(settings, io);
  } catch (error) {
    const problem = systemProblem(error);
    if (problem === undefined) throw error;
    throw new CommandRefused(
      `The token was not stored: ${problem} Set XDG_CONFIG_HOME to another folder, or use SEALPUSH_SERVER and SEALPUSH_TOKEN.`,
    );
  }
}

/** Level by level: Node's recursive form never returns if a folder rejects new ones with ENOENT, as /proc does. */
export async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Another process may have made it first.
    if (systemErrorCode(error) !== "EEXIST") throw error;
  });
}

/** @returns whether there was one. */
export async function removeToken(io: CommandIo): Promise<boolean> {
  try {
    const stored = await readSettings(io);
    if (stored?.token === undefined) return false;
    await replaceSettings({ server: stored.server, token: undefined }, io);
  } catch (error) {
    if (!(error instanceof CommandRefused)) throw error;
    // Damaged, or readable by others: it may hold a token, so nothing of it stays.
    await rm(settingsFileOf(io));
  }
  return true;
}

/** Complete or not at all, and readable by this user only. */
async function replaceSettings(settings: StoredSettings, io: CommandIo): Promise<void> {
  const path = settingsFileOf(io);
  const unfinished = `${path}.${randomHex()}`;
  await writeFile(unfinished, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  await rename(unfinished, path);
}

async function orUndefined<Value>(found: Promise<Value>): Promise<Value | undefined> {
  try {
    return await found;
  } catch (error) {
    // ENOTDIR: the home folder of some users is no folder, such as /dev/null.
    if (["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}
