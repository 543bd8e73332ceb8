import { readUser } from "./read-user.ts";
import type { ImportRun } from "./run-import.ts";
import type { SourceUser } from "./source.ts";

const emailTaken =
  "An account with its e-mail address is here already, and it was not said that the two are one: neither it nor its " +
  "pushes come along (see --merge-users).";

/** One after the other: there are few, and each asks for the turn of the accounts. */
export async function importUsers(run: ImportRun): Promise<void> {
  const { source, destination, tally, owners } = run;
  const known = await destination.knownUsers();
  for await (const row of source.users(0)) {
    if (run.signal.aborted) return;
    run.onRow("users");
    const here = known.get(row.id);
    if (here !== undefined) {
      tally.users.known += 1;
      if (here === null) owners.leaveOut(row.id);
      else owners.set(row.id, here);
      continue;
    }
    owners.leaveOut(row.id);
    if (row.outcome === "unreadable") tally.leaveOut("users", row.id, row.reason);
    else if (row.outcome === "skipped") tally.skip("users", row.reason);
    else await bring(run, row.row, row.problems);
  }
}

async function bring(run: ImportRun, source: SourceUser, problems: readonly string[]): Promise<void> {
  const { destination, tally, owners, options } = run;
  const read = readUser(source, options.mailsConfirm);
  if (read.outcome === "refused") return tally.leaveOut("users", source.id, read.reason);
  const brought = await destination.bringUser(source.id, read.user, options.mergeUsers);
  if (brought.outcome === "email_taken") return tally.leaveOut("users", source.id, emailTaken);
  owners.set(source.id, brought.userId);
  if (brought.outcome === "known") {
    tally.users.known += 1;
    return;
  }
  tally.users.brought += 1;
  for (const problem of [...problems, ...read.problems]) tally.lacks("users", source.id, problem);
  if (brought.tokenTaken)
    tally.lacks("users", source.id, "Its API token is somebody else's here: it did not come along.");
}
