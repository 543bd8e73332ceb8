import { SealpushClient } from "../client.ts";
import { readLine } from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, type RunVerb } from "./io.ts";
import { connect, removeToken, serverNamed, settingsFileOf, storeSettings, warnOfPlainHttp } from "./settings.ts";
import { jsonText, labelled } from "./text.ts";

export const login: RunVerb = async (given, io) => {
  const server = serverNamed(await addressOf(given, io));
  warnOfPlainHttp(server, io);
  const token = await tokenOf(server, io);
  const client = new SealpushClient({ server, token });
  const state = await client.tokenState({ signal: io.interruption });
  if (state === "refused") {
    throw new CommandRefused(`${server} does not accept this token. Nothing was stored.`, exitCodes.token);
  }
  // Others than this API may answer 403 as well.
  if (state === "limited") await client.version({ signal: io.interruption });
  await storeSettings({ server, token }, io);
  const limit = state === "limited" ? " It may not list your pushes." : "";
  io.stdout(`The token for ${server} is stored in ${settingsFileOf(io)}.${limit}\n`);
  return exitCodes.ok;
};

async function addressOf({ positionals: [named] }: Given, io: CommandIo): Promise<string> {
  const known = named ?? io.environment.SEALPUSH_SERVER ?? "";
  if (known !== "") return known;
  if (io.ask === undefined) throw new CommandRefused("Name the server's address.", exitCodes.usage);
  return (await io.ask("Address of the server, such as https://push.example.com: ", "shown")).trim();
}

async function tokenOf(server: string, io: CommandIo): Promise<string> {
  const isAsked = io.terminals.stdin && io.ask !== undefined;
  const answer = isAsked
    ? await io.ask(`API token, from ${server}/users/token: `, "hidden")
    : await readLine(io, "API token");
  const token = answer.trim();
  if (token === "") throw new CommandRefused("No API token was entered.", exitCodes.usage);
  return token;
}

export const logout: RunVerb = async (_given, io) => {
  const wasStored = await removeToken(io);
  io.stdout(wasStored ? "The token is removed from this machine.\n" : "No token was stored.\n");
  return exitCodes.ok;
};

const tokenSentences = {
  none: "none",
  valid: "accepted",
  limited: "accepted, but it may not list pushes",
  refused: "refused",
} as const;

export const whoami: RunVerb = async (given, io) => {
  const { client } = await connect(given, io);
  const { application_version, api_version } = await client.version({ signal: io.interruption });
  const token = await client.tokenState({ signal: io.interruption });
  if (isSet(given, "json")) {
    io.stdout(jsonText({ server: client.server, application_version, api_version, token }));
  } else {
    const version = `${application_version}, API ${api_version}`;
    io.stdout(labelled({ server: client.server, version, token: tokenSentences[token] }));
  }
  return token === "refused" ? exitCodes.token : exitCodes.ok;
};
