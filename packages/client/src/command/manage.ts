import type { SealpushClient } from "../client.ts";
import { openLabels } from "../labels.ts";
import { readLink, readRequestLink } from "../link.ts";
import { isSealedLabel } from "../sealed-label.ts";
import { passphraseOption, pushArgument, readShortFile } from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, numberOf, type RunVerb, textOf } from "./io.ts";
import { connect, connectForPush } from "./settings.ts";
import { printAnswer, table } from "./text.ts";

export const list: RunVerb = async (given, io) => {
  if (given.positionals.length > 0) return await listAnswers(given, io);
  if (isSet(given, "requests")) return await listRequests(given, io);
  const links = await linksOf(given);
  const { client } = await connect(given, io);
  const found = await client.list(isSet(given, "expired") ? "expired" : "active", pageOf(given, io));
  const pushes = await Promise.all(
    found.map((push) => {
      const link = links.get(push.url_token);
      return link === undefined ? push : openLabels(push, link);
    }),
  );
  return printAnswer(given, io, pushes, pushesText(pushes));
};

/** Some 7,000 links. */
const linksBytesMax = 1_024 * 1_024;

/** The links with a key in the file that was named, by url_token. */
async function linksOf(given: Given): Promise<ReadonlyMap<string, string>> {
  const path = textOf(given, "links");
  const lines = path === undefined ? [] : (await readShortFile(path, linksBytesMax)).split("\n");
  return new Map(
    lines.flatMap((line) => {
      const { urlToken = "", fragment = "" } = readLink(line.trim()) ?? {};
      return fragment === "" ? [] : [[urlToken, line.trim()] as const];
    }),
  );
}

function pushesText(pushes: Awaited<ReturnType<SealpushClient["list"]>>): string {
  const rows = pushes.map((push) => [
    push.html_url,
    push.kind,
    push.created_at,
    push.expires_at ?? `${push.days_remaining} days`,
    push.views_remaining,
    isSealedLabel(push.name) ? "Sealed name" : push.name,
  ]);
  return table(["link", "kind", "created", "expires", "views left", "name"], rows);
}

async function listRequests(given: Given, io: CommandIo): Promise<number> {
  const { client } = await connect(given, io);
  const requests = await client.requests.list(pageOf(given, io));
  const rows = requests.map(({ html_url, state, created_at, expires_at, answers, answers_max, title }) => [
    html_url,
    state,
    created_at,
    expires_at,
    `${answers} of ${answers_max}`,
    title,
  ]);
  return printAnswer(given, io, requests, table(["link", "state", "created", "expires", "answers", "title"], rows));
}

/** With the private link or the passphrase, the links of the answers contain the key. */
async function listAnswers(given: Given, io: CommandIo): Promise<number> {
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const passphrase = await passphraseOption(given, io);
  const found = await client.requests.answers(named, { passphrase, signal: io.interruption });
  return printAnswer(given, io, found, pushesText(found.pushes));
}

export const audit: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const entries = await client.audit(named, pageOf(given, io));
  const rows = entries.map(({ created_at, kind, ip, user_agent, referrer }) => [
    created_at,
    kind,
    ip,
    user_agent,
    referrer,
  ]);
  return printAnswer(given, io, entries, table(["time", "event", "address", "user agent", "referrer"], rows));
};

export const end: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  if (readRequestLink(named) !== undefined) {
    const closed = await client.requests.close(named, { signal: io.interruption });
    return printAnswer(given, io, closed, "The request is closed. Answers that have come can still be opened.\n");
  }
  const ended = await client.end(named, { signal: io.interruption });
  return printAnswer(given, io, ended, "The push has ended.\n");
};

export const deleteRequest: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  if (readLink(named) !== undefined) {
    throw new CommandRefused("This is the link of a push: sealpush end ends it.", exitCodes.usage);
  }
  if (!isSet(given, "yes") && !(await isConfirmed(io))) {
    throw new CommandRefused("Nothing was deleted. This cannot be undone: confirm with --yes.", exitCodes.usage);
  }
  const { client } = await connectForPush(named, given, io);
  await client.requests.delete(named, { signal: io.interruption });
  io.stdout("The request and its answers were deleted.\n");
  return exitCodes.ok;
};

async function isConfirmed({ ask }: CommandIo): Promise<boolean> {
  const question =
    "Delete the request with its answers, also those that nobody has opened? This cannot be undone. [y/N] ";
  return ask !== undefined && /^y(?:es)?$/i.test((await ask(question, "shown")).trim());
}

function pageOf(given: Given, io: CommandIo) {
  return { page: numberOf(given, "page", 1, 200) ?? 1, signal: io.interruption };
}
