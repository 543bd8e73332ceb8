import { normalizeEmail } from "../base/email.ts";
import { adoptPasswordHash } from "../crypto/passphrase.ts";
import type { Aspect } from "./aspects.ts";
import type { Destination } from "./destination.ts";
import { type ImportSource, type PushIdentity, SourceError, type UserIdentity } from "./source.ts";
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
 * Without this check one user's pushes would be given to another. Called before the first write.
 * @throws SourceError that names both sides.
 */
export async function refuseOtherInstallation(source: ImportSource, destination: Destination): Promise<void> {
  const { digests } = destination;
  for await (const { recorded, present } of joined(destination.records("user"), source.userIdentities())) {
    if (present !== undefined && !isSameUser(recorded, present, digests)) throw otherRow("user", recorded, present);
  }
  for await (const { recorded, present } of joined(destination.records("push"), source.pushIdentities())) {
    if (present !== undefined && !isSamePush(recorded, present, digests)) throw otherRow("push", recorded, present);
  }
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
): AsyncGenerator<{ readonly recorded: Recorded; readonly present: Identity | undefined }> {
  const rows = identities[Symbol.asyncIterator]();
  let row: IteratorResult<Identity> | undefined;
  for await (const recorded of records) {
    // No row of the source is read before there is a record to compare it with.
    row ??= await rows.next();
    while (row.done !== true && row.value.id < recorded.sourceId) row = await rows.next();
    yield { recorded, present: row.done !== true && row.value.id === recorded.sourceId ? row.value : undefined };
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
): SourceError {
  const timeOf = (time: number | null) => (time === null ? "at an unknown time" : `at ${new Date(time).toISOString()}`);
  return new SourceError(
    `--database is another installation than the one that was imported here before, although both began as one: the ${kind} ` +
      `${sourceId} in --database was created ${timeOf(present.createdAt)}, and the ${kind} ${sourceId} that was imported was ` +
      `created ${timeOf(createdAt)}, or has another ${kind === "user" ? "address, API token and password" : "link"}. ` +
      "Nothing was written: name the installation that was imported before, or import this one into a Sealpush of its own.",
  );
}
