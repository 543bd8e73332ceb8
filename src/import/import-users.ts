import type { ImportRun } from "./deps.ts";
import type { KnownUser } from "./destination.ts";
import { stillLacking, stillToCome } from "./lacks.ts";
import { readUser } from "./read-user.ts";
import type { Lack, SourceRow, SourceUser, UserPart } from "./source.ts";

const emailTaken =
  "An account with its e-mail address is here already, and it was not said that the two are one: neither it nor its " +
  "pushes come along (see --merge-users).";
const tokenTaken: Lack<UserPart> = {
  part: "api_token",
  reason: "Its API token is somebody else's here: it did not come along.",
};

type UserRow = SourceRow<SourceUser, UserPart>;

/** One after the other: there are few, and each asks for the turn of the accounts. */
export async function importUsers(run: ImportRun): Promise<void> {
  const { source, destination, tally, owners } = run;
  const known = await destination.knownUsers();
  for await (const row of source.users()) {
    if (run.signal.aborted) return;
    run.onRow("users");
    const here = known.get(row.id);
    if (here !== undefined) {
      await settleKnown(run, here, row);
      continue;
    }
    owners.set(row.id, "left_out");
    if (row.outcome === "unreadable") tally.leaveOut("users", row.id, row.reason);
    else if (row.outcome === "skipped") tally.skip("users", row.reason);
    else await bring(run, row);
  }
}

async function bring(run: ImportRun, row: Extract<UserRow, { readonly outcome: "read" }>): Promise<void> {
  const { row: source, lacks: sourceLacks } = row;
  const { destination, tally, owners, options } = run;
  const read = readUser(source, options.mailsConfirm);
  if (read.outcome === "refused") return tally.leaveOut("users", source.id, read.reason);
  const lacks = [...sourceLacks, ...read.lacks];
  const incoming = { sourceId: source.id, user: read.user, lacks: lacks.map(({ part }) => part) };
  const brought = await destination.bringUser(incoming, options.mergeUsers);
  if (brought.outcome === "email_taken") return tally.leaveOut("users", source.id, emailTaken);
  if (brought.outcome === "known") return await settleKnown(run, brought.known, row);
  owners.set(source.id, brought.userId);
  tally.counts.users.brought += 1;
  tally.lacks("users", source.id, brought.merged ? lacks.filter(({ part }) => part === "api_token") : lacks);
  if (brought.tokenTaken) tally.lacks("users", source.id, [tokenTaken]);
}

async function settleKnown(run: ImportRun, known: KnownUser, row: UserRow): Promise<void> {
  run.tally.counts.users.known += 1;
  run.owners.set(row.id, known.stands ? known.id : "gone");
  await complete(run, known, row);
}

/** Somebody who may have come in part in an earlier run. */
async function complete(run: ImportRun, known: KnownUser, row: UserRow): Promise<void> {
  if (known.lacks.length === 0) return;
  const { destination, tally } = run;
  if (row.outcome !== "read") return tally.lacks("users", row.id, stillLacking(known.lacks, row.reason));
  const read = readUser(row.row, run.options.mailsConfirm);
  if (read.outcome === "refused") return tally.lacks("users", row.id, stillLacking(known.lacks, read.reason));
  const lacks = [...row.lacks, ...read.lacks];
  const incoming = { sourceId: row.id, user: read.user, lacks: lacks.map(({ part }) => part) };
  const completion = await destination.completeUser(known, incoming);
  if (completion.outcome === "overtaken") return await complete(run, completion.now, row);
  if (completion.filled.length > 0) tally.completed += 1;
  tally.supersede("users", row.id, completion.superseded);
  const told = completion.tokenTaken ? [...lacks, tokenTaken] : lacks;
  tally.lacks("users", row.id, stillToCome(told, completion.lacks));
}
