import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Accounts, type Administrator, createAccounts, type User } from "../accounts/accounts.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/config.ts";
import { refuseUnfinishedRestore } from "../config/data-folder.ts";
import { readOrMakeMasterKeyFile } from "../config/master-key-file.ts";
import { ownDatabaseName } from "../config/topics/move-in.ts";
import { createArgon2Queue } from "../crypto/passphrase.ts";
import type { Database } from "../database/database.ts";
import { refuseMovedDatabase } from "../database/move-marks.ts";
import { embeddedFileOf, openDatabase, refuseForeignFile } from "../database/open-database.ts";
import { type Domain, openDomain, openKeyringOf } from "../domain.ts";
import { createHashAttempts } from "../limits/hash-attempts.ts";
import { createInMemoryLimits } from "../limits/in-memory-limits.ts";
import { createOutbox } from "../mail/outbox.ts";
import { createGroupStore } from "../policies/store/groups.ts";
import { destroyLinkSecret } from "../pushes/store/link-secrets.ts";
import { isNewDatabase, openVault } from "../pushes/vault.ts";
import { createEvents, type Events } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import type { CliIo } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { getConfig } from "./settings.ts";

/** The administrator in the administrators' audit trail for actions from a shell. */
export const shell: Administrator = { userId: null, email: "shell", address: "" };

/**
 * Opens the accounts for one command, whether a server runs or not, and closes them afterwards.
 * @param whenMissing "make": a missing database is created, as by the server's first start.
 * @throws CommandRefused if the database is missing and must not be created; Error for the operator if its data were moved or
 * are being restored.
 */
export async function withAccounts(
  config: Config,
  io: CliIo,
  whenMissing: "make" | "refuse",
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  refuseUnfinishedRestore(config.dataDir);
  if (whenMissing === "refuse") await refuseWithoutData(config, io);
  else if (await isMissing(config, io)) await withDomain(config, io, async () => undefined);
  await using db = await openDatabaseOf(config, io);
  await refuseMovedDatabase(db);
  await work(await openAccounts(config, db, io));
}

/** Opens the domain, with its master key, for one command. @throws the errors of `openDomain`. */
export async function withDomain<T>(
  config: Config,
  io: CliIo,
  work: (domain: Domain) => Promise<T>,
  events: Events = eventsFor(io),
): Promise<T> {
  const domain = await openDomain(config, io, events);
  try {
    return await work(domain);
  } finally {
    await domain.close();
  }
}

/** As `withDomain`, with the configured data. @throws CommandRefused if there are none. */
export async function withData(io: CliIo, work: (domain: Domain) => Promise<void>): Promise<void> {
  const config = getConfig(io);
  await refuseWithoutData(config, io);
  await withDomain(config, io, work);
}

/** Commands log no events: they print their own messages. */
export function eventsFor(io: CliIo): Events {
  return {
    ...createEvents({ logger: createLogger("silent", { write: io.stderr }), clock: io.clock }),
    masterKeyMade: (path) => io.stderr(`Created the master key ${path}: keep a copy of it, separate from the data.\n`),
  };
}

/** @throws CommandRefused if there is no data: a command must not create an empty database in a wrong folder. */
export async function refuseWithoutData(config: Config, io: CliIo, option?: string): Promise<void> {
  if (!(await isMissing(config, io))) return;
  const [what, setting] = describeMissing(config);
  throw new CommandRefused(`There is ${what} yet: start the server, create a user, or check ${option ?? setting}.`);
}

function describeMissing({ database, moveIn }: Config): readonly [what: string, setting: string] {
  switch (database.engine) {
    case "sqlite":
      return [`no database at ${database.path}`, "DATA_DIR"];
    case "postgres":
      return [`nothing in the database ${database.database} at ${database.host}`, ownDatabaseName(moveIn)];
    default:
      return database satisfies never;
  }
}

/** Whether the file does not exist, or nothing in the server's database has been encrypted yet. */
async function isMissing(config: Config, io: CliIo): Promise<boolean> {
  const path = embeddedFileOf(config.database);
  if (path !== undefined) return !existsSync(path);
  await using db = await openDatabaseOf(config, io);
  return await isNewDatabase(db.read);
}

/** Use it with `await using`, which closes it. */
export async function openDatabaseOf(
  config: Config,
  io: Pick<CliIo, "monotonicMs">,
): Promise<Database & AsyncDisposable> {
  const db = await openDatabase(config.database, {
    monotonicMs: io.monotonicMs,
    // A failed write is an error of the command itself. If the log could not be truncated, the server does it later.
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
  });
  return Object.assign(db, { [Symbol.asyncDispose]: () => db.close() });
}

async function openAccounts(config: Config, db: Database, io: CliIo): Promise<Accounts> {
  const opened = await openKeyringOf(db, config, io, eventsFor(io));
  const { access } = await openVault({
    db,
    keyring: opened,
    random: io.random,
    now: io.clock.now(),
    onForgedRow: (table) => io.stderr(`A row of ${table} was not written by this server and is ignored.\n`),
  });
  const keyring = () => opened;
  const limits = createInMemoryLimits();
  return createAccounts({
    db,
    clock: io.clock,
    random: io.random,
    argon2: createArgon2Queue({ runningMax: 1, waitingMax: 1, waitingPerClientMax: 1 }),
    settings: config.accounts,
    keyring,
    access,
    limits,
    hashAttempts: createHashAttempts(limits),
    outbox: createOutbox({ db, keyring, open: config.accounts.emails }),
    requestedOutbox: createOutbox({ db, keyring, open: config.mail !== undefined }),
    // Commands do not watch the mail server.
    mailAvailable: () => true,
    destroyStoredLinks: destroyLinkSecret,
    provider: undefined,
    claimedGroups: createGroupStore(db, access, io.random),
    // Nobody signs up by a command.
    isSignUpClosed: async () => true,
    onUseNotRecorded: (of) => io.stderr(`The last use of a ${of} could not be recorded.\n`),
  });
}

/** @throws CommandRefused if there is no such user. */
export async function getUser(accounts: Accounts, email: string): Promise<User> {
  const user = await accounts.findUserByEmail(email);
  if (user === undefined) throw new CommandRefused("There is no user with this email address.");
  return user;
}

export interface MasterKeys {
  /** 32 bytes each, the active one first. */
  readonly keys: readonly Buffer[];
  /** undefined: the settings provide the keys. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

/** The keys that the server would use; creates none. @returns undefined if there are none. */
export function findMasterKeys(config: Config, random: Random): MasterKeys | undefined {
  if (config.masterKeys.length > 0) return { keys: config.masterKeys, file: undefined, warnings: [] };
  const file = join(config.dataDir, "master.key");
  if (!existsSync(file)) return undefined;
  const { key, warnings } = readOrMakeMasterKeyFile(config.dataDir, random);
  return { keys: [key], file, warnings };
}

/** @throws CommandRefused if there are none; Error for the operator if the database belongs to another program. */
export function getMasterKeys(config: Config, random: Random): MasterKeys {
  const found = findMasterKeys(config, random);
  if (found !== undefined) return found;
  refuseForeignFile(config.database);
  const file = join(config.dataDir, "master.key");
  throw new CommandRefused(`There is no master key: set PWPUSH_MASTER_KEY, or restore the file ${file}.`);
}
