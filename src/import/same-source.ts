import type { ImportSource, PushIdentity, UserIdentity } from "@sealpush/import-password-pusher";
import { normalizeEmail } from "../base/email.ts";
import { adoptPasswordHash } from "../crypto/passphrase.ts";
import type { Aspect } from "./aspects.ts";
import type { Destination } from "./destination.ts";
import type { ImportedRow } from "./store/imported-rows.ts";

/** What never changes in a user. */
export const userIdentity = ({ createdAt }: { readonly createdAt: number }) => String(createdAt);
/** What never changes in a push. */
export const pushIdentity = ({ urlToken, createdAt }: { readonly urlToken: string; readonly createdAt: number }) =>
  JSON.stringify([urlToken, createdAt]);

type Recorded = ImportedRow & { readonly createdAt: number | null };
type Digests = Destination["digests"];

/**
 * Two copies of one installation that were used separately have the same fingerprint, and other rows under the same ids.
 * Without this check one user's pushes would be given to another. A copy from before the last import lacks the newest rows, which
 * would be withdrawn as if they had been deleted. Called before the first write.
 * @throws Error that names both sides.
 */
export async function refuseOtherInstallation(
  source: ImportSource,
  destination: Destination,
  { newestDeleted }: { readonly newestDeleted: boolean },
): Promise<void> {
  const { digests } = destination;
  const older: Error[] = [];
  for await (const { recorded, present, highest } of joined(destination.records("user"), source.userIdentities())) {
    if (present !== undefined && !isSameUser(recorded, present, digests)) throw otherRow("user", recorded, present);
    if (highest !== undefined) older[0] = olderCopy("user", recorded, highest);
  }
  for await (const { recorded, present, highest } of joined(destination.records("push"), source.pushIdentities())) {
    if (present !== undefined && !isSamePush(recorded, present, digests)) throw otherRow("push", recorded, present);
    if (highest !== undefined) older[1] = olderCopy("push", recorded, highest);
  }
  const [first] = Object.values(older);
  if (first !== undefined && !newestDeleted) throw first;
}

/** The records of rows that the source does not have any more. */
export async function* absentPushes(source: ImportSource, destination: Destination): AsyncGenerator<ImportedRow> {
  for await (const { recorded, present } of joined(destination.records("push"), source.pushIdentities())) {
    if (present === undefined) yield recorded;
  }
}

export async function* absentUsers(source: ImportSource, destination: Destination): AsyncGenerator<ImportedRow> {
  for await (const { recorded, present } of joined(destination.records("user"), source.userIdentities())) {
    if (present === undefined) yield recorded;
  }
}

/** Each record with the row of the source. Both are in the order of the source's ids. */
async function* joined<Identity extends { readonly id: number }>(
  records: AsyncIterable<Recorded>,
  identities: AsyncIterable<Identity>,
): AsyncGenerator<{
  readonly recorded: Recorded;
  readonly present: Identity | undefined;
  /** The highest id of the source, if that of the record is higher. */
  readonly highest: number | undefined;
}> {
  const rows = identities[Symbol.asyncIterator]();
  let row: IteratorResult<Identity> | undefined;
  let highest = 0;
  for await (const recorded of records) {
    // No row of the source is read before there is a record to compare it with.
    row ??= await rows.next();
    while (row.done !== true && row.value.id < recorded.sourceId) {
      highest = row.value.id;
      row = await rows.next();
    }
    if (row.done === true) yield { recorded, present: undefined, highest };
    else {
      highest = row.value.id;
      yield { recorded, present: highest === recorded.sourceId ? row.value : undefined, highest: undefined };
    }
  }
  await rows.return?.();
}

function isSamePush({ identity }: Recorded, { urlToken, createdAt }: PushIdentity, digests: Digests): boolean {
  if (identity === "" || urlToken === null || createdAt === null) return true;
  return digests.of("identity", pushIdentity({ urlToken, createdAt })) === identity;
}

/** Each of the three may be changed there, but hardly all of them. */
const changeable = ["email", "api_token", "password"] as const satisfies Aspect[];

function isSameUser({ identity, aspects }: Recorded, present: UserIdentity, digests: Digests): boolean {
  const { createdAt, email, apiToken, passwordHash } = present;
  if (identity !== "" && createdAt !== null && digests.of("identity", userIdentity({ createdAt })) !== identity) {
    return false;
  }
  const values = {
    email: email === null ? undefined : normalizeEmail(email),
    api_token: apiToken || undefined,
    password: passwordHash === null ? undefined : adoptPasswordHash(passwordHash),
  };
  return changeable.some((aspect) => {
    const value = values[aspect];
    return value === undefined || aspects[aspect] === undefined || aspects[aspect] === digests.of(aspect, value);
  });
}

function otherRow(
  kind: "user" | "push",
  { sourceId, createdAt }: Recorded,
  present: { readonly createdAt: number | null },
): Error {
  const timeOf = (time: number | null) => (time === null ? "at an unknown time" : `at ${new Date(time).toISOString()}`);
  return new Error(
    `--database is another installation than the one that was imported here before, although both began as one: the ${kind} ` +
      `${sourceId} in --database was created ${timeOf(present.createdAt)}, and the ${kind} ${sourceId} that was imported was ` +
      `created ${timeOf(createdAt)}, or has another ${kind === "user" ? "address, API token and password" : "link"}. ` +
      "Nothing was written: name the installation that was imported before, or import this one into a Sealpush of its own.",
  );
}

function olderCopy(kind: "user" | "push", { sourceId }: Recorded, highest: number): Error {
  return new Error(
    `--database may be a copy from before the last import: the newest ${kind} that was imported here has the number ` +
      `${sourceId}, and the highest number of a ${kind} in --database is ${highest}. The import deletes here what is not in ` +
      "--database. Nothing was written: name the current database, or confirm with --newest-deleted that they were " +
      "deleted there.",
  );
}
