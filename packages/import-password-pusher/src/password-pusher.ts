import { createHash } from "node:crypto";
import { type Holdings, type ImportSource, SourceError } from "../../../src/import/source.ts";
import { exactTimeOf, textOf, wholeNumberOf } from "./cells.ts";
import { Findings } from "./findings.ts";
import type { DatabaseAddress, Installation } from "./installation.ts";
import { createLockbox } from "./lockbox.ts";
import { readPushes } from "./read-pushes.ts";
import { readTrail } from "./read-trail.ts";
import { readUsers } from "./read-users.ts";
import { named, openSourceFiles, type SourceFiles } from "./source-files.ts";
import { sourceKeysOf } from "./source-keys.ts";
import { createSourceQueries, type SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRows } from "./store/source-rows.ts";
import { openSourceTables } from "./store/source-tables.ts";
import { openSqliteRows } from "./store/sqlite-rows.ts";
import { tryKeys } from "./try-keys.ts";

export type * from "./installation.ts";

export interface ReadingOptions {
  /** Milliseconds since the epoch. It decides which pushes have ended. */
  readonly now: number;
  /** A SQLite database is copied to here while it is opened: a folder of our own, on a disk with room for the copy. */
  readonly scratchFolder: string;
}

/** Less than any id: they begin with 1, but a damaged one may be negative. */
const beforeFirstId = -(2 ** 31);

/**
 * Opens an installation of Password Pusher 2.x for reading. Nothing of it is changed; what is read is one snapshot.
 * @throws SourceError with one sentence for the operator.
 */
export async function openPasswordPusher(installation: Installation, reading: ReadingOptions): Promise<ImportSource> {
  const keys = sourceKeysOf(installation.secret);
  const files = openSourceFiles(installation);
  const rows = await openRows(installation.database, reading);
  try {
    const tables = await openSourceTables(rows);
    const queries = createSourceQueries(tables);
    const findings = new Findings();
    const deps = {
      queries,
      findings,
      secretKeyBase: keys.secretKeyBase,
      lockbox: createLockbox(keys.masterKeys),
      firstOfLink: await firstOfLinks(queries),
      now: reading.now,
    };
    const warnings = [...keys.warnings, ...tables.warnings, ...(await unreachable(queries, files))];
    return {
      fingerprint: await fingerprintOf(queries),
      get warnings() {
        return [...warnings, ...findings.sentences()];
      },
      async counts() {
        return {
          users: await queries.count("users"),
          pushes: await queries.count("pushes"),
          ...(await holdingsBy((table) => queries.count(table))),
          ofNoPush: await holdingsBy((table) => queries.countOfNoPush(table)),
        };
      },
      users: (afterId = beforeFirstId) => readUsers(deps, afterId),
      pushes: (afterId = beforeFirstId) => readPushes(deps, afterId),
      trail: (pushId) => readTrail(deps, pushId),
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

async function firstOfLinks({ sharedLinks }: SourceQueries): Promise<ReadonlyMap<string, number>> {
  try {
    return new Map(
      (await sharedLinks()).map((record) => [textOf(record.url_token) ?? "", wholeNumberOf(record.id) ?? 0]),
    );
  } catch (error) {
    // Damage is told row by row, later.
    if (error instanceof SourceReadError) return new Map();
    throw error;
  }
}

async function holdingsBy(count: (table: "audit_logs" | "notify_by_emails" | "files") => Promise<number>) {
  const holdings: Holdings = {
    auditEntries: await count("audit_logs"),
    notifications: await count("notify_by_emails"),
    files: await count("files"),
  };
  return holdings;
}

/** Drivers are loaded where they are needed. */
async function openRows(address: DatabaseAddress, { scratchFolder, now }: ReadingOptions): Promise<SourceRows> {
  switch (address.engine) {
    case "sqlite":
      return openSqliteRows({ path: address.path, scratchFolder, now });
    case "postgres":
      return await (await import("./store/postgres-rows.ts")).openPostgresRows(address);
    case "mysql":
      return await (await import("./store/mysql-rows.ts")).openMysqlRows(address);
  }
}

/**
 * When the database was made, to the microsecond: it is the same in every copy, also after a change of engine or keys.
 * Where that is not on record, the first user.
 */
async function fingerprintOf(queries: SourceQueries): Promise<string> {
  const user = await queries.firstUser();
  const ofFirstUser = user && `${textOf(user.id)} ${exactTimeOf(user.created_at)} ${textOf(user.email)}`;
  const mark = exactTimeOf(await queries.madeAt()) ?? ofFirstUser;
  if (mark === undefined) {
    throw new SourceError(
      "This database has no users and does not say when it was made: there is nothing to tell it by.",
    );
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
    .filter(({ service }) => !files.reaches(service))
    .map(
      ({ service, count }) =>
        `${count} ${count === 1 ? "file lies" : "files lie"} in the service ${named(service)}, which --storage does not name: name it too, or fetch its objects into a folder.`,
    );
}
