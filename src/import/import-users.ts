import type { MissingPart, RowWarning, SourceRow, SourceUser } from "@sealpush/import-password-pusher";
import type { IncomingUser } from "./destination.ts";
import type { UnconfirmedUsers } from "./import-results.ts";
import { missingBefore } from "./missing-parts.ts";
import { readUser } from "./read-user.ts";
import type { ImportRun } from "./run-context.ts";
import { type ImportedRow, withRecords } from "./store/imported-rows.ts";

const emailTaken =
  "An account with its email address exists here. Neither the user nor its pushes are imported unless --merge-users says " +
  "that both are the same person.";
const tokenTaken: MissingPart = {
  part: "api_token",
  reason: "Its API token belongs to another account here and is not imported.",
};

type UserRow = SourceRow<SourceUser>;
type ReadRow = Extract<UserRow, { readonly outcome: "read" }>;

/** One after the other: there are few, and writes to accounts are serialized anyway. */
export async function importUsers(run: ImportRun): Promise<void> {
  const { source, destination, results, owners } = run;
  for await (const { row, imported } of withRecords(source.users(), destination.rows.all("user"))) {
    if (run.signal.aborted) return;
    run.onRow("users");
    if (row.outcome === "read" && row.row.confirmedAt === null) {
      source.warn(warningOf(unconfirmedUser(run, row.row), run.options), row.id);
    }
    if (imported !== undefined) {
      handleImportedBefore(run, imported);
      continue;
    }
    owners.set(row.id, "left_out");
    if (row.outcome === "unreadable") results.leaveOut("users", row.id, row.reason);
    else if (row.outcome === "skipped") results.skip("users", row.reason);
    else await importUser(run, row);
  }
}

const confirmedHere: RowWarning = [
  "user has not confirmed the email address, which counts as confirmed here",
  "users have not confirmed their email addresses, which count as confirmed here",
];
const keptUnconfirmed = "not confirmed here either, as long as nobody confirms a link from an email";
const unconfirmedHere = [
  `user's email address is ${keptUnconfirmed}`,
  `users' email addresses are ${keptUnconfirmed}`,
] as const;
const unconfirmedByGuess: RowWarning = [
  ...unconfirmedHere,
  "If the source signed in users without a confirmation, import into an empty data folder with --unconfirmed-users confirmed.",
];

function warningOf(here: UnconfirmedUsers, { unconfirmedUsers }: ImportRun["options"]): RowWarning {
  if (here === "confirmed") return confirmedHere;
  return unconfirmedUsers === undefined ? unconfirmedByGuess : unconfirmedHere;
}

function unconfirmedUser(
  { options, firstConfirmationEmailAt }: ImportRun,
  { createdAt }: SourceUser,
): UnconfirmedUsers {
  const wasAsked = firstConfirmationEmailAt !== undefined && createdAt >= firstConfirmationEmailAt;
  return options.unconfirmedUsers ?? (wasAsked ? "unconfirmed" : "confirmed");
}

async function importUser(run: ImportRun, row: ReadRow): Promise<void> {
  const { id } = row;
  const { destination, results, owners, options } = run;
  const read = readUser(row.row, unconfirmedUser(run, row.row));
  if (read.outcome === "refused") return results.leaveOut("users", id, read.reason);
  const missing = [...row.missingParts, ...read.missingParts];
  const incoming: IncomingUser = { sourceId: id, user: read.user, missingParts: missing.map(({ part }) => part) };
  const outcome = await destination.importUser(incoming, options.mergeUsers);
  if (outcome.outcome === "email_taken") return results.leaveOut("users", id, emailTaken);
  if (outcome.outcome === "imported_before") return handleImportedBefore(run, outcome.imported);
  const { id: userId, missingParts } = outcome.imported;
  owners.set(id, userId);
  results.counts.users.imported += 1;
  const recorded = missing.filter(({ part }) => missingParts.includes(part));
  const isTokenTaken = missingParts.includes("api_token") && !incoming.missingParts.includes("api_token");
  results.reportMissing("users", id, isTokenTaken ? [...recorded, tokenTaken] : recorded);
}

function handleImportedBefore({ results, owners }: ImportRun, imported: ImportedRow): void {
  results.counts.users.importedBefore += 1;
  owners.set(imported.sourceId, imported.accountExists ? imported.id : "deleted");
  if (imported.accountExists) results.reportMissing("users", imported.sourceId, missingBefore(imported));
}
