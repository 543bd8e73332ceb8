import { missingInUnreadableRow, missingWithReasons } from "./missing-parts.ts";
import { readUser } from "./read-user.ts";
import type { ImportRun } from "./run-context.ts";
import type { MissingPart, SourceRow, SourceUser, UserPart } from "./source.ts";
import type { ImportedUser } from "./store/imported-rows.ts";

const emailTaken =
  "An account with its email address exists here. Neither the user nor its pushes are imported unless --merge-users says " +
  "that both are the same person.";
const tokenTaken: MissingPart<UserPart> = {
  part: "api_token",
  reason: "Its API token belongs to another account here and is not imported.",
};

type UserRow = SourceRow<SourceUser, UserPart>;

/** One after the other: there are few, and writes to accounts are serialized anyway. */
export async function importUsers(run: ImportRun): Promise<void> {
  const { source, destination, results, owners } = run;
  const importedUsers = await destination.importedUsers();
  for await (const row of source.users()) {
    if (run.signal.aborted) return;
    run.onRow("users");
    const imported = importedUsers.get(row.id);
    if (imported !== undefined) {
      await handleImportedBefore(run, imported, row);
      continue;
    }
    owners.set(row.id, "left_out");
    if (row.outcome === "unreadable") results.leaveOut("users", row.id, row.reason);
    else if (row.outcome === "skipped") results.skip("users", row.reason);
    else await importUser(run, row);
  }
}

async function importUser(run: ImportRun, row: Extract<UserRow, { readonly outcome: "read" }>): Promise<void> {
  const { row: source } = row;
  const { destination, results, owners, options } = run;
  const read = readUser(source, options.requiresConfirmedEmail);
  if (read.outcome === "refused") return results.leaveOut("users", source.id, read.reason);
  const missing = [...row.missingParts, ...read.missingParts];
  const incoming = { sourceId: source.id, user: read.user, missingParts: missing.map(({ part }) => part) };
  const outcome = await destination.importUser(incoming, options.mergeUsers);
  if (outcome.outcome === "email_taken") return results.leaveOut("users", source.id, emailTaken);
  if (outcome.outcome === "imported_before") return await handleImportedBefore(run, outcome.imported, row);
  owners.set(source.id, outcome.userId);
  results.counts.users.imported += 1;
  results.reportMissing(
    "users",
    source.id,
    outcome.merged ? missing.filter(({ part }) => part === "api_token") : missing,
  );
  if (outcome.tokenTaken) results.reportMissing("users", source.id, [tokenTaken]);
}

async function handleImportedBefore(run: ImportRun, imported: ImportedUser, row: UserRow): Promise<void> {
  run.results.counts.users.importedBefore += 1;
  run.owners.set(row.id, imported.accountExists ? imported.id : "deleted");
  await addMissingParts(run, imported, row);
}

async function addMissingParts(run: ImportRun, imported: ImportedUser, row: UserRow): Promise<void> {
  if (imported.missingParts.length === 0) return;
  const { destination, results } = run;
  const unreadable = (reason: string) =>
    results.reportMissing("users", row.id, missingInUnreadableRow(imported.missingParts, reason));
  if (row.outcome !== "read") return unreadable(row.reason);
  const read = readUser(row.row, run.options.requiresConfirmedEmail);
  if (read.outcome === "refused") return unreadable(read.reason);
  const missing = [...row.missingParts, ...read.missingParts];
  const incoming = { sourceId: row.id, user: read.user, missingParts: missing.map(({ part }) => part) };
  const outcome = await destination.addMissingUserParts(imported, incoming);
  if (outcome.outcome === "changed_meanwhile") return await addMissingParts(run, outcome.now, row);
  if (outcome.added.length > 0) results.completed += 1;
  results.reportSuperseded("users", row.id, outcome.superseded);
  const reasons = outcome.tokenTaken ? [...missing, tokenTaken] : missing;
  results.reportMissing("users", row.id, missingWithReasons(reasons, outcome.stillMissing));
}
