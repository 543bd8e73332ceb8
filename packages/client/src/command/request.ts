import type { CreatedRequest, SealpushClient, Request as SecretRequest } from "../client.ts";
import { expiryOf } from "../expiry.ts";
import { filesAt } from "./files.ts";
import { givenPassphrase, makeAsk, pushArgument, readSecret } from "./input.ts";
import { type CommandIo, CommandRefused, exitCodes, type Given, isSet, numberOf, type RunVerb, textOf } from "./io.ts";
import { connect, connectForPush } from "./settings.ts";
import { storePrivateLink } from "./stored-links.ts";
import { jsonText, labelled, progressOn } from "./text.ts";

export const request: RunVerb = async (given, io) => {
  const wanted = fieldsOf(given);
  const { client, hasToken } = await connect(given, io);
  if (io.terminals.stdin && (await client.policy({ signal: io.interruption }))?.requests === false) {
    throw new CommandRefused("The rules of this server do not allow requests.");
  }
  const title = await titleOf(given, io);
  if (isSet(given, "passphrase") && io.terminals.stdin) {
    io.stderr(
      "At least 12 characters, and not a common one: the operator of the server can try passphrases on the stored key.\n",
    );
  }
  const passphrase = await givenPassphrase(given, io);
  if (passphrase !== undefined && !hasToken) {
    throw new CommandRefused(
      "The server stores the key under a passphrase only for an account: give an API token, or leave out the passphrase, also " +
        "SEALPUSH_PASSPHRASE.",
      exitCodes.token,
    );
  }
  const made = await client.requests.create(
    { ...wanted, title, ...(passphrase === undefined ? {} : { passphrase }) },
    { signal: io.interruption },
  );
  if (isSet(given, "json")) io.stdout(jsonText(made));
  else io.stdout(labelled({ "link to send": made.html_url, "private link": made.private_link }));
  if (io.terminals.stdout) io.stderr(`It can be answered until ${made.expires_at}.\n`);
  if (passphrase === undefined) await keepPrivateLink(made, io);
  else if (io.terminals.stdout) io.stderr("The passphrase opens the answers.\n");
  return exitCodes.ok;
};

/** Without a passphrase, the key is in the private link alone. */
async function keepPrivateLink(made: CreatedRequest, io: CommandIo): Promise<void> {
  const stored = await storePrivateLink(made.url_token, made.private_link, io);
  io.stderr(
    "path" in stored
      ? `Only the private link opens the answers. It is stored in ${stored.path}: sealpush open - < ${stored.path}\n`
      : `warning: only the private link opens the answers, and it is not stored: ${stored.problem} Keep it.\n`,
  );
}

async function titleOf({ positionals: [named] }: Given, io: CommandIo): Promise<string> {
  if (named !== undefined) return named;
  if (io.ask !== undefined && io.terminals.stdin) return await io.ask("What do you ask for? ", "shown");
  throw new CommandRefused("Name what you ask for: those who answer see it as the title.", exitCodes.usage);
}

const wants = {
  text: {},
  files: { wants_text: false, wants_files: true },
  both: { wants_files: true },
} as const;

function fieldsOf(given: Given) {
  const [note, expire, wanted = "text"] = [textOf(given, "note"), textOf(given, "expire"), textOf(given, "wants")];
  const answers = numberOf(given, "answers", 1, 100);
  const days = expire === undefined ? undefined : expiryOf(expire)?.expire_after_days;
  if (expire !== undefined && days === undefined) {
    throw new CommandRefused("--expire must be whole days or weeks such as 3d or 2w.", exitCodes.usage);
  }
  if (!Object.hasOwn(wants, wanted)) {
    throw new CommandRefused(`--wants must be one of ${Object.keys(wants).join(", ")}.`, exitCodes.usage);
  }
  return {
    ...wants[wanted as keyof typeof wants],
    ...(note === undefined ? {} : { note }),
    ...(answers === undefined ? {} : { answers_max: answers }),
    ...(days === undefined ? {} : { expire_after_days: days }),
  };
}

export const answer: RunVerb = async (given, io) => {
  const named = await pushArgument(given, io);
  const files = await filesAt(given.positionals.slice(1));
  const { client } = await connectForPush(named, given, io);
  const asked = await client.requests.find(named, { signal: io.interruption });
  refuseUnwanted(asked, files.list.length > 0);
  if (io.terminals.stderr) io.stderr(`${[asked.title, asked.note].join("\n").trim()}\n`);
  const content =
    files.list.length > 0 ? { files: files.list } : { payload: await readSecret(io, " Send it as a file.") };
  const progress = files.list.length === 0 ? undefined : progressOn(io, "Sending", files.sizeBytes);
  await client.requests
    .answer(asked, content, {
      signal: io.interruption,
      ...(progress === undefined ? {} : { onProgress: progress.show }),
    })
    .finally(() => progress?.clear());
  io.stdout(`The answer was sent.${asked.recipient_checked ? " Only the person who asked can open it." : ""}\n`);
  if (!asked.recipient_checked) {
    io.stderr(
      "warning: the link did not name the key of the person who asked (its part after # was missing), so that the server may have sent another one.\n",
    );
  }
  return exitCodes.ok;
};

/** Before the secret is asked for. */
function refuseUnwanted({ state, wants_text: text, wants_files: files }: SecretRequest, hasFiles: boolean): void {
  if (state !== "open") throw new CommandRefused("This request takes no more answers.", exitCodes.ended);
  if (hasFiles && !files) throw new CommandRefused("This request asks for a text, not for files.", exitCodes.usage);
  if (!hasFiles && !text) throw new CommandRefused("This request asks for files: name them.", exitCodes.usage);
}

/** @returns the link with the key of the oldest answer that was not opened yet. */
export async function answerToOpen(
  client: SealpushClient,
  named: string,
  passphrase: string | undefined,
  io: CommandIo,
): Promise<string> {
  const found = await client.requests.answers(named, {
    passphrase,
    askPassphrase: makeAsk(passphrase === undefined, io),
    signal: io.interruption,
  });
  const [next, ...others] = found.pushes.filter(({ expired }) => !expired);
  if (next === undefined) {
    const problem = found.answers === 0 ? "Nobody has answered yet." : "All answers were opened or have ended.";
    throw new CommandRefused(problem, exitCodes.ended);
  }
  if (!next.html_url.includes("#")) {
    throw new CommandRefused(
      "Name the whole private link with the part after #, which is the key of the answers. No view was spent.",
      exitCodes.usage,
    );
  }
  if (others.length > 0) io.stderr(`Answers that wait after this one: ${others.length}.\n`);
  return next.html_url;
}
