import { pushArgument } from "./input.ts";
import { type CommandIo, exitCodes, type Given, isSet, numberOf, type RunVerb } from "./io.ts";
import { connect, connectForPush } from "./settings.ts";
import { table } from "./text.ts";

export const list: RunVerb = async (given, io) => {
  const { client } = await connect(given, io);
  const pushes = await client.list(isSet(given, "expired") ? "expired" : "active", pageOf(given, io));
  if (isSet(given, "json")) return printJson(pushes, io);
  const rows = pushes.map((push) => [
    push.html_url,
    push.kind,
    push.created_at,
    push.expires_at ?? `${push.days_remaining} days`,
    push.views_remaining,
    push.name,
  ]);
  io.stdout(table(["link", "kind", "created", "expires", "views left", "name"], rows));
  return exitCodes.ok;
};

export const audit: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const entries = await client.audit(named, pageOf(given, io));
  if (isSet(given, "json")) return printJson(entries, io);
  const rows = entries.map(({ created_at, kind, ip, user_agent, referrer }) => [
    created_at,
    kind,
    ip,
    user_agent,
    referrer,
  ]);
  io.stdout(table(["time", "event", "address", "user agent", "referrer"], rows));
  return exitCodes.ok;
};

export const end: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const { client } = await connectForPush(named, given, io);
  const ended = await client.end(named, { signal: io.interruption });
  if (isSet(given, "json")) return printJson(ended, io);
  io.stdout("The push has ended.\n");
  return exitCodes.ok;
};

function pageOf(given: Given, io: CommandIo) {
  return { page: numberOf(given, "page", 1, 200) ?? 1, signal: io.interruption };
}

function printJson(value: unknown, io: CommandIo): number {
  io.stdout(`${JSON.stringify(value, null, 2)}\n`);
  return exitCodes.ok;
}
