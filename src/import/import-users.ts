import type { MissingPart, SourceRow, SourceUser, UserPart } from "@sealpush/import-password-pusher";
import { aspectsOf } from "../accounts/admin/adopt-user.ts";
import { type Aspect, type AspectDigests, aspectList, changedAspects } from "./aspects.ts";
import type { IncomingUser } from "./destination.ts";
import type { UnconfirmedUsers } from "./import-results.ts";
import { missingOfImported, unreadableNow } from "./missing-parts.ts";
import { readUser } from "./read-user.ts";
import type { ImportRun } from "./run-context.ts";
import { absentUsers, userIdentity } from "./same-source.ts";
import type { ImportedUser } from "./store/imported-rows.ts";

const emailTaken =
  "An account with its email address exists here. Neither the user nor its pushes are imported unless --merge-users says " +
  "that both are the same person.";
const tokenTaken: MissingPart<UserPart> = {
  part: "api_token",
  reason: "Its API token belongs to another account here and is not imported.",
};
const newEmailTaken = "Its new email address belongs to another account here, so the account keeps the old one.";

type UserRow = SourceRow<SourceUser, UserPart>;
type ReadRow = Extract<UserRow, { readonly outcome: "read" }>;

/** One after the other: there are few, and writes to accounts are serialized anyway. */
export async function importUsers(run: ImportRun): Promise<void> {
  const { source, destination, results, owners } = run;
  const importedUsers = await destination.importedUsers();
  for await (const row of source.users()) {
    if (run.signal.aborted) return;
    run.onRow("users");
    if (row.outcome === "read" && row.row.confirmedAt === null) {
      results.addUnconfirmed(row.id, unconfirmedUser(run, row.row));
    }
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

interface ReadIncoming {
  readonly incoming: IncomingUser;
  readonly missing: readonly MissingPart<UserPart>[];
}

/** @returns why the user cannot be imported. */
function incomingOf(run: ImportRun, { row, missingParts }: ReadRow) {
  const { digests } = run.destination;
  const unconfirmed = unconfirmedUser(run, row);
  const read = readUser(row, unconfirmed);
  if (read.outcome === "refused") return read;
  const missing = [...missingParts, ...read.missingParts];
  const incoming: IncomingUser = {
    sourceId: row.id,
    user: read.user,
    missingParts: missing.map(({ part }) => part),
    identity: missing.some(({ part }) => part === "created_at") ? "" : digests.of("identity", userIdentity(row)),
    aspects: readableAspects(digests.all(aspectsOf(read.user)), missing),
  };
  return { outcome: "read" as const, incoming, missing } satisfies ReadIncoming & { outcome: string };
}

function unconfirmedUser(
  { options, firstConfirmationEmailAt }: ImportRun,
  { createdAt }: SourceUser,
): UnconfirmedUsers {
  const wasAsked = firstConfirmationEmailAt !== undefined && createdAt >= firstConfirmationEmailAt;
  return options.unconfirmedUsers ?? (wasAsked ? "unconfirmed" : "confirmed");
}

const aspectsOfParts: Readonly<Record<UserPart, readonly Aspect[]>> = {
  factor: ["factor", "password", "last_code"],
  password: ["password"],
  api_token: ["api_token"],
  created_at: ["created_at"],
};

function readableAspects(aspects: AspectDigests, missing: readonly MissingPart<UserPart>[]): AspectDigests {
  const hidden = missing.flatMap(({ part }) => aspectsOfParts[part]);
  return Object.fromEntries(Object.entries(aspects).filter(([aspect]) => !hidden.includes(aspect as Aspect)));
}

async function importUser(run: ImportRun, row: ReadRow): Promise<void> {
  const { id } = row;
  const { destination, results, owners, options } = run;
  const read = incomingOf(run, row);
  if (read.outcome === "refused") return results.leaveOut("users", id, read.reason);
  const { incoming, missing } = read;
  const outcome = await destination.importUser(incoming, options.mergeUsers);
  if (outcome.outcome === "email_taken") return results.leaveOut("users", id, emailTaken);
  if (outcome.outcome === "imported_before") return await handleImportedBefore(run, outcome.imported, row);
  owners.set(id, outcome.userId);
  results.counts.users.imported += 1;
  results.reportMissing("users", id, outcome.merged ? missing.filter(({ part }) => part === "api_token") : missing);
  if (outcome.tokenTaken) results.reportMissing("users", id, [tokenTaken]);
}

async function handleImportedBefore(run: ImportRun, imported: ImportedUser, row: UserRow): Promise<void> {
  run.results.counts.users.importedBefore += 1;
  run.owners.set(row.id, imported.accountExists ? imported.id : "deleted");
  if (imported.accountExists) await updateUser(run, imported, row);
}

/** Only its API token was added to the account that existed here. */
const isMerged = ({ aspects }: ImportedUser) => aspects.email === undefined;

async function updateUser(run: ImportRun, imported: ImportedUser, row: UserRow): Promise<void> {
  const { destination, results } = run;
  const read = row.outcome === "read" ? incomingOf(run, row) : row;
  if (read.outcome !== "read" || !("incoming" in read))
    return results.reportNotDone("users", row.id, unreadableNow(read));
  const { incoming } = read;
  const missing = isMerged(imported) ? read.missing.filter(({ part }) => part === "api_token") : read.missing;
  results.reportMissing("users", row.id, missingOfImported(imported.missingParts, missing));
  const changed = changedAspects(imported.aspects, incoming.aspects).filter(
    (aspect) => aspect === "api_token" || !isMerged(imported),
  );
  if (changed.length === 0) return;
  const outcome = await destination.updateUser(imported, incoming, changed);
  if (outcome.outcome === "changed_meanwhile") return await updateUser(run, outcome.now, row);
  const { updated, kept, refused } = outcome;
  if (updated.length > 0) results.reportUpdated("users", row.id, aspectList(updated));
  if (kept.length > 0) results.reportKept("users", row.id, keptReason(aspectList(kept)));
  if (refused.includes("api_token")) results.reportMissing("users", row.id, [tokenTaken]);
  if (refused.includes("email")) results.reportNotDone("users", row.id, newEmailTaken);
}

const keptReason = (what: string) =>
  `Changed in the source and here since the last run: ${what}. It is kept as it is here.`;

/** For users that the source does not have any more. */
export async function withdrawUsers({ source, destination, results, signal }: ImportRun): Promise<void> {
  // A withdrawn user has no record any more, so the records are read to their end first.
  const absent: ImportedUser[] = [];
  for await (const user of absentUsers(source, destination)) absent.push({ ...user, accountExists: true });
  for (const imported of absent) {
    if (signal.aborted) return;
    const { sourceId } = imported;
    switch (await destination.withdrawUser(imported)) {
      case "removed":
        results.reportWithdrawn("users", sourceId);
        break;
      case "used":
        results.reportNotDone("users", sourceId, deletedThere("It was used or changed here"));
        break;
      case "last_admin":
        results.reportNotDone("users", sourceId, deletedThere("It is the last administrator"));
        break;
      case "gone":
        break;
    }
  }
}

const deletedThere = (why: string) =>
  `The source does not have this user any more. ${why}, so the account stays: delete it with \`sealpush user delete\` if it is ` +
  "not needed.";
