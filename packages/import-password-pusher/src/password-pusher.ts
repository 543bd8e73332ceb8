import { createHash } from "node:crypto";
import { beforeFirstId, exactTimeOf, textOf, wholeNumberOf } from "./cells.ts";
import type { DatabaseAddress, Installation } from "./installation.ts";
import { createLockbox } from "./lockbox.ts";
import { findFirstConfirmationEmail } from "./read-identities.ts";
import { readPushes } from "./read-pushes.ts";
import { readTrail } from "./read-trail.ts";
import { readUsers } from "./read-users.ts";
import { changesSince, takeSnapshot } from "./snapshot.ts";
import { type ImportSource, type SourceCounts, SourceError } from "./source.ts";
import { displayableService, openSourceFiles, type SourceFiles } from "./source-files.ts";
import { sourceKeysOf } from "./source-keys.ts";
import { SourceQueries } from "./store/queries.ts";
import { type SourceRows, unlessDamaged } from "./store/source-rows.ts";
import { openSourceTables } from "./store/source-tables.ts";
import { openSqliteRows } from "./store/sqlite-rows.ts";
import { tryKeys } from "./try-keys.ts";
import { RowWarnings } from "./warnings.ts";

export type * from "./installation.ts";
export type * from "./source.ts";

export interface ReadingOptions {
  /** Milliseconds since the epoch. It decides which pushes have ended. */
  readonly now: number;
}

/**
 * Opens an installation of Password Pusher 2.x for reading. Nothing is changed, and all reads see one snapshot.
 * @throws SourceError with one sentence for the operator.
 */
export async function openPasswordPusher(installation: Installation, reading: ReadingOptions): Promise<ImportSource> {
  const masterKeys = sourceKeysOf(installation.secret);
  const files = openSourceFiles(installation);
  const rows = await openRows(installation.database);
  try {
    const tables = await openSourceTables(rows);
    const queries = new SourceQueries(tables);
    const rowWarnings = new RowWarnings();
    const deps = {
      queries,
      warn: rowWarnings.add,
      lockbox: createLockbox(masterKeys),
      firstOfLink: await firstOfLinks(queries),
      now: reading.now,
    };
    const warnings = [...tables.warnings, ...(await unreachable(queries, files))];
    return {
      fingerprint: await fingerprintOf(queries),
      get warnings() {
        return [...warnings, ...rowWarnings.sentences()];
      },
      counts: () => countAll(queries),
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

async function firstOfLinks(queries: SourceQueries): Promise<ReadonlyMap<string, number>> {
  const links = await unlessDamaged(queries.sharedLinks(), () => []);
  return new Map(links.map((record) => [textOf(record.url_token) ?? "", wholeNumberOf(record.id) ?? 0]));
}

async function countAll(queries: SourceQueries): Promise<SourceCounts> {
  const [users, pushes] = [await queries.count("users"), await queries.count("pushes")];
  const auditEntries = await queries.countRelated("auditEntries");
  const notifications = await queries.countRelated("notifications");
  const files = await queries.countRelated("files");
  return {
    ...{ users, pushes, auditEntries: auditEntries.all, notifications: notifications.all, files: files.all },
    withoutPush: {
      auditEntries: auditEntries.withoutPush,
      notifications: notifications.withoutPush,
      files: files.withoutPush,
    },
  };
}

/** Loads the driver on demand. */
async function openRows(address: DatabaseAddress): Promise<SourceRows> {
  switch (address.engine) {
    case "sqlite":
      return openSqliteRows(await address.connect());
    case "postgres":
      return await (await import("./store/postgres-rows.ts")).openPostgresRows(address);
    case "mysql":
      return await (await import("./store/mysql-rows.ts")).openMysqlRows(address);
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
  const services = await queries.services();
  return services
    .map((record) => ({
      service: textOf(record.service_name) ?? "local",
      count: wholeNumberOf(record.files) ?? 0,
    }))
    .filter(({ service }) => !files.canRead(service))
    .map(
      ({ service, count }) =>
        `${count} ${count === 1 ? "file is" : "files are"} in the service ${displayableService(service)}, which --storage does not name. Name it too, or download its objects into a folder.`,
    );
}
