import type { MissingPart, RowWarning, SourceRow, SourceUser } from "@sealpush/import-password-pusher";
import type { ImportRun, UnconfirmedUsers } from "./import-results.ts";
import { readUser } from "./read-user.ts";
import { missingBefore } from "./source-values.ts";
import { type ImportedRow, withRecords } from "./store/imported-rows.ts";

const emailTaken =
  "An account with its email address exists here. Neither the user nor its pushes are imported unless --merge-users says " +
  "that both are the same person.";
const tokenTaken: MissingPart = {
  part: "api_token",
  reason: "Its API token belongs to another account here and is not imported.",
};

type ReadRow = Extract<SourceRow<SourceUser>, { readonly outcome: "read" }>;

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
    if (row.outcome === "read") await importUser(run, row);
    else results.leaveOut("users", row, row.reason);
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

async function importUser(run: ImportRun, { id, row, missingParts: unread }: ReadRow): Promise<void> {
  const { destination, results, owners, options } = run;
  const read = readUser(row, unconfirmedUser(run, row));
  if (read === undefined) return results.leaveOut("users", { id }, "Its email address is not valid here.");
  const missing = [...unread, ...read.missingParts];
  const incoming = { sourceId: id, user: read.user, missingParts: missing.map(({ part }) => part) };
  const outcome = await destination.importUser(incoming, options.mergeUsers === true);
  if (outcome.outcome === "email_taken") return results.leaveOut("users", { id }, emailTaken);
  if (outcome.outcome === "imported_before") return handleImportedBefore(run, outcome.imported);
  const { id: userId, missingParts } = outcome.imported;
  owners.set(id, userId);
  results.counts.users.imported += 1;
  const isTokenTaken = missingParts.includes("api_token") && !incoming.missingParts.includes("api_token");
  const recorded = missing.filter(({ part }) => missingParts.includes(part));
  results.reportMissing("users", id, isTokenTaken ? [...recorded, tokenTaken] : recorded);
}

function handleImportedBefore({ results, owners }: ImportRun, imported: ImportedRow): void {
  const { sourceId, id, accountExists } = imported;
  results.counts.users.importedBefore += 1;
  owners.set(sourceId, accountExists ? id : "deleted");
  if (accountExists) results.reportMissing("users", sourceId, missingBefore(imported));
}
