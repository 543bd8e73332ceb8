import type { Policy } from "../api-types.ts";
import { ruleBrokenByPassphrase, rulesBrokenBy } from "../broken-rules.ts";
import { type Expiry, expiryOf } from "../expiry.ts";
import type { NewPush, PushChanges } from "../push-types.ts";
import { fieldsToSend } from "./fields-to-send.ts";
import { type FilesToSend, filesAt } from "./files.ts";
import { givenPassphrase, givesPassphrase, readSecret } from "./input.ts";
import {
  type CommandIo,
  CommandRefused,
  exitCodes,
  type Given,
  isSet,
  numberOf,
  type RunVerb,
  textOf,
  textsOf,
  yesOrNo,
} from "./io.ts";
import { printOnce } from "./print-once.ts";
import { type Connection, connect } from "./settings.ts";
import { harmless, jsonText, progressOn } from "./text.ts";

const kinds = ["text", "url", "qr"] as const;

export const push: RunVerb = async (given, io) => {
  const fields = fieldsOf(given);
  const sealing = { endToEnd: isSet(given, "e2e"), sealLabels: isSet(given, "seal-labels") };
  if (sealing.sealLabels && !sealing.endToEnd) {
    throw new CommandRefused("--seal-labels needs --e2e: name and note are sealed for the same key.", exitCodes.usage);
  }
  const { client } = await connect(given, io, textOf(given, "language"));
  const files = await filesOf(given, io);
  const policy = await policyFor(given, client, io);
  const planned = {
    ...fields,
    hasFiles: files.list.length > 0,
    isEndToEnd: sealing.endToEnd,
    hasPassphrase: givesPassphrase(given, io),
  };
  if (policy !== undefined) refuseBroken(rulesBrokenBy(planned, policy, Date.now()));
  const content = await contentOf(given, files, client, io);
  const passphrase = await givenPassphrase(given, io);
  if (policy !== undefined && passphrase !== undefined) {
    refuseBroken([ruleBrokenByPassphrase(passphrase, policy) ?? []].flat());
  }
  const progress = files.list.length === 0 ? undefined : progressOn(io, "Sending", files.sizeBytes);
  const wanted: NewPush = {
    ...fields,
    ...content,
    ...(passphrase === undefined ? {} : { passphrase }),
  };
  const made = await client
    .create(wanted, {
      signal: io.interruption,
      ...sealing,
      ...(progress === undefined ? {} : { onProgress: progress.show }),
    })
    .finally(() => progress?.clear());
  warnOfLongerLife(fields, made.expire_after_days, io);
  if (fields.sender_shown === true && made.sender_shown !== true) {
    io.stderr("warning: this server does not show the sender.\n");
  }
  const { passphrase: _sent, ...shown } = made;
  const isJson = isSet(given, "json");
  const result = isJson ? jsonText(shown) : `${harmless(made.html_url)}\n`;
  if (!(await printOnce(result, "The push was created, and its link is lost.", io))) return exitCodes.failed;
  if (isJson) return exitCodes.ok;
  if (io.terminals.stdout) {
    const until = made.expires_at ?? `${made.expire_after_days} days from now`;
    io.stderr(`It can be opened ${made.views_remaining} times until ${until}.\n`);
  }
  return exitCodes.ok;
};

/**
 * Read before somebody is asked for a secret, and for what the server cannot check. Other pushes are sent at once: the server
 * judges them, and nobody has typed anything in vain.
 */
async function policyFor(given: Given, client: Connection["client"], io: CommandIo): Promise<Policy | undefined> {
  const isNeeded = io.terminals.stdin || isSet(given, "e2e");
  return isNeeded ? await client.policy({ signal: io.interruption }) : undefined;
}

function refuseBroken(broken: readonly string[]): void {
  if (broken.length > 0) throw new CommandRefused(`${broken.join(" ")} Nothing was sent.`);
}

function fieldsOf(given: Given): Omit<NewPush, "payload" | "files"> {
  const kind = kinds.find((name) => name === (textOf(given, "kind") ?? "text"));
  if (kind === undefined) throw new CommandRefused(`--kind must be one of ${kinds.join(", ")}.`, exitCodes.usage);
  const preset = textOf(given, "preset");
  return {
    ...expiryOption(given),
    ...(preset === undefined ? {} : { preset }),
    // A server that does not know kinds makes texts. A preset may name another kind.
    ...(kind === "text" && (preset === undefined || textOf(given, "kind") === undefined) ? {} : { kind }),
    ...changeableFields(given),
    ...(isSet(given, "show-sender") && { sender_shown: true }),
  };
}

/** What can also be changed later. */
export function changeableFields(given: Given): PushChanges {
  const views = numberOf(given, "views", 1, 1_000_000);
  const [name, note] = [textOf(given, "name"), textOf(given, "note")];
  const [deletable, step] = [yesOrNo(given, "deletable"), yesOrNo(given, "step")];
  return {
    ...(views === undefined ? {} : { expire_after_views: views }),
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    ...(deletable === undefined ? {} : { deletable_by_viewer: deletable }),
    ...(step === undefined ? {} : { retrieval_step: step }),
  };
}

function expiryOption(given: Given): Expiry {
  const text = textOf(given, "expire");
  if (text === undefined) return {};
  const expiry = expiryOf(text);
  if (expiry !== undefined) return expiry;
  throw new CommandRefused(
    "--expire must be 15m, 30m, 45m, 1h, 6h, 12h, whole days or weeks such as 3d or 2w, or a time such as 2026-12-01T17:00:00Z.",
    exitCodes.usage,
  );
}

/** Fields can be beside files, in place of a text. */
async function contentOf(
  given: Given,
  { list }: FilesToSend,
  client: Connection["client"],
  io: CommandIo,
): Promise<Pick<NewPush, "payload" | "fields" | "files">> {
  const fields = await fieldsToSend(given, io);
  if (fields.length === 0) return list.length > 0 ? { files: list } : { payload: await secretOf(given, io) };
  if (!["text", undefined].includes(textOf(given, "kind"))) {
    throw new CommandRefused("--field is only for texts and files.", exitCodes.usage);
  }
  // End to end, they are sealed in a payload that every server takes.
  const isKnown = isSet(given, "e2e") || (await client.features({ signal: io.interruption })).includes("fields");
  if (!isKnown) throw new CommandRefused("This server does not know fields. Nothing was sent.");
  return { fields, ...(list.length > 0 && { files: list }) };
}

async function secretOf(given: Given, io: CommandIo): Promise<string> {
  const secret = await readSecret(io, ' Send it as a file: "sealpush push --as <filename>".');
  return textOf(given, "kind") === "url" ? secret.trim() : secret;
}

async function filesOf(given: Given, io: CommandIo): Promise<FilesToSend> {
  const name = textOf(given, "as");
  if (name === undefined) return await filesAt(given.positionals);
  if (isSet(given, "e2e")) {
    throw new CommandRefused("--e2e needs files whose size is known: name a file instead of --as.", exitCodes.usage);
  }
  if (textsOf(given, "field").some((field) => field.endsWith("=-"))) {
    throw new CommandRefused("Standard input is either a file or the value of a field.", exitCodes.usage);
  }
  if (given.positionals.length > 0)
    throw new CommandRefused("--as sends standard input: name no files.", exitCodes.usage);
  return { list: [{ filename: name, content: onlyOnce(io.stdin) }], sizeBytes: undefined };
}

/** Standard input cannot be read again for another attempt. */
function onlyOnce(stdin: AsyncIterable<Uint8Array>): () => AsyncIterable<Uint8Array> {
  let isRead = false;
  return () => {
    if (isRead)
      throw new CommandRefused("The answer was lost, and standard input cannot be sent again: check your list.");
    isRead = true;
    return stdin;
  };
}

/** Old servers ignore limits below a day. */
function warnOfLongerLife(fields: Expiry, days: number, io: CommandIo): void {
  // Limits below a day are answered as one day.
  const wanted = fields.expire_after_days ?? (fields.expire_after_duration === undefined ? undefined : 1);
  if (wanted !== undefined && days > wanted) {
    io.stderr(`warning: this server does not know such a limit: the push ends after ${days} days.\n`);
  }
}
