import { createHash } from "node:crypto";
import { beforeFirstId, exactTimeOf, textOf, wholeNumberOf } from "./cells.ts";
import { createLockbox, sourceKeysOf, tryKeys } from "./lockbox.ts";
import { readPushes } from "./read-pushes.ts";
import { readTrail } from "./read-trail.ts";
import { readUsers } from "./read-users.ts";
import { changesSince, findFirstConfirmationEmail, takeSnapshot } from "./snapshot.ts";
import { type ImportSource, type Installation, SourceError } from "./source.ts";
import { displayableService, openSourceFiles, type SourceFiles } from "./source-files.ts";
import { SourceQueries } from "./store/queries.ts";
import { openRows, unlessDamaged } from "./store/source-rows.ts";
import { openSourceTables } from "./store/source-tables.ts";
import { createRowWarnings } from "./warnings.ts";

export type * from "./source.ts";

/**
 * Opens an installation of Password Pusher 2.x for reading. Nothing is changed, and all reads see one snapshot.
 * @param now milliseconds since the epoch. It decides which pushes have ended.
 * @throws SourceError with one sentence for the operator.
 */
export async function openPasswordPusher(
  installation: Installation,
  { now }: { readonly now: number },
): Promise<ImportSource> {
  const masterKeys = sourceKeysOf(installation.secret);
  const files = openSourceFiles(installation);
  const rows = await openRows(installation.database);
  try {
    const tables = await openSourceTables(rows);
    const queries = new SourceQueries(tables);
    const rowWarnings = createRowWarnings();
    const links = await unlessDamaged(queries.sharedLinks(), () => []);
    const deps = {
      queries,
      warn: rowWarnings.add,
      lockbox: createLockbox(masterKeys),
      firstOfLink: new Map(links.map((record) => [textOf(record.url_token) ?? "", wholeNumberOf(record.id) ?? 0])),
      now,
    };
    const warnings = [...tables.warnings, ...(await unreachable(queries, files))];
    return {
      fingerprint: await fingerprintOf(queries),
      get warnings() {
        return [...warnings, ...rowWarnings.sentences()];
      },
      counts: () => queries.counts(),
      warn: rowWarnings.add,
      users: (afterId = beforeFirstId) => readUsers(deps, afterId),
      pushes: (afterId = beforeFirstId) => readPushes(deps, afterId),
      trail: (pushId) => readTrail(deps, pushId),
      snapshot: () => takeSnapshot(queries),
      changesSince: (tables) => changesSince(queries, tables),
      firstConfirmationEmailAt: () => findFirstConfirmationEmail(queries),
      tryKeys: () => tryKeys(queries, deps.lockbox),
      readFile: (file) => files.read(file),
      styleSheet: async () => textOf(await queries.customCss()) || undefined,
      close: () => rows.close(),
    };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/**
 * A digest of the time at which the database was created, to the microsecond. It is the same in every copy, also after a change of
 * engine or keys. If that time is not recorded, the first user is used.
 */
async function fingerprintOf(queries: SourceQueries): Promise<string> {
  const user = await queries.firstUser();
  const ofFirstUser = user && `${textOf(user.id)} ${exactTimeOf(user.created_at)} ${textOf(user.email)}`;
  const mark = exactTimeOf(await queries.createdAt()) ?? ofFirstUser;
  if (mark === undefined) {
    throw new SourceError("This database has no users and no time of creation, so it cannot be identified.");
  }
  return createHash("sha256").update(`password-pusher ${mark}`).digest("hex").slice(0, 32);
}

async function unreachable(queries: SourceQueries, files: SourceFiles): Promise<readonly string[]> {
  const sentences: string[] = [];
  for (const record of await queries.services()) {
    const [service, count] = [textOf(record.service_name) ?? "local", wholeNumberOf(record.files) ?? 0];
    if (files.canRead(service)) continue;
    sentences.push(
      `${count} ${count === 1 ? "file is" : "files are"} in the service ${displayableService(service)}, whose folder or bucket is not known. Give it, or download its objects into a folder.`,
    );
  }
  return sentences;
}
