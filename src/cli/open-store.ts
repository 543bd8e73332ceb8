import { existsSync } from "node:fs";
import { type Accounts, createAccounts } from "../accounts/accounts.ts";
import { createBootCodeFile } from "../config/boot-code-file.ts";
import type { Config } from "../config/config.ts";
import { createArgon2Queue } from "../crypto/passphrase.ts";
import type { Database } from "../database/database.ts";
import { openDatabase } from "../database/open-database.ts";
import { type Domain, openDomain, openKeyring } from "../domain.ts";
import { createOwnLimits } from "../limits/in-memory-limits.ts";
import { createOutbox } from "../mail/outbox.ts";
import { findSealedIndexKey } from "../pushes/vault.ts";
import { createEvents, type Events } from "../telemetry/events.ts";
import { createLogger } from "../telemetry/logger.ts";
import type { CliIo } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";

/**
 * Opens the accounts for one command, beside a running server or without one, and closes them afterwards. They are not
 * sealed, so a database that stands is opened without its master key.
 * @param whenMissing "make": a data folder without a database is made ready just as the server's first start does.
 * @throws CommandRefused when the database is missing and not to be made.
 */
export async function withAccounts(
  config: Config,
  io: CliIo,
  whenMissing: "make" | "refuse",
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  if (whenMissing === "refuse") await refuseWithoutData(config, io);
  else if (await isMissing(config, io)) await withDomain(config, io, async () => undefined);
  const db = await openDatabaseOf(config, io);
  try {
    await work(openAccounts(config, db, io));
  } finally {
    await db.close();
  }
}

/** Opens everything, master key included, for one command. @throws what `openDomain` throws. */
export async function withDomain(config: Config, io: CliIo, work: (domain: Domain) => Promise<void>): Promise<void> {
  const domain = await openDomain(config, io, eventsFor(io));
  try {
    await work(domain);
  } finally {
    await domain.close();
  }
}

/** A command prints its own sentences. */
export function eventsFor(io: CliIo): Events {
  return {
    ...createEvents({ logger: createLogger("silent", { write: io.stderr }), clock: io.clock }),
    masterKeyMade: (path) => io.stderr(`Made the master key ${path}: keep a copy of it, apart from the data.\n`),
  };
}

/** @throws CommandRefused: a command for what is in the database must not make an empty one in the wrong place. */
export async function refuseWithoutData(config: Config, io: CliIo): Promise<void> {
  if (!(await isMissing(config, io))) return;
  const { database } = config;
  const [what, setting] =
    database.engine === "sqlite"
      ? [`no database at ${database.path}`, "DATA_DIR"]
      : [`nothing in the database ${database.database} at ${database.host}`, "DATABASE_URL"];
  throw new CommandRefused(`There is ${what} yet: start the server, create a user, or check ${setting}.`);
}

/** A file that is not there, or a server's database in which nothing has been sealed yet. */
async function isMissing(config: Config, io: CliIo): Promise<boolean> {
  if (config.database.engine === "sqlite") return !existsSync(config.database.path);
  const db = await openDatabaseOf(config, io);
  try {
    return (await findSealedIndexKey(db.read)) === undefined;
  } finally {
    await db.close();
  }
}

export async function openDatabaseOf(config: Config, io: Pick<CliIo, "monotonicMs">): Promise<Database> {
  return await openDatabase(config.database, {
    monotonicMs: io.monotonicMs,
    // The write that failed tells the command itself; what a command could not cut, the server does.
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
  });
}

function openAccounts(config: Config, db: Database, io: CliIo): Accounts {
  const keyring = () => openKeyring(config, io, eventsFor(io));
  return createAccounts({
    db,
    clock: io.clock,
    random: io.random,
    argon2: createArgon2Queue({ runningMax: 1, waitingMax: 1, waitingPerClientMax: 1 }),
    settings: config.accounts,
    bootCodeFile: createBootCodeFile(config.dataDir, io.random),
    keyring,
    limits: createOwnLimits(),
    outbox: createOutbox({ db, keyring, open: config.accounts.emails }),
    requestedOutbox: createOutbox({ db, keyring, open: config.mail !== undefined }),
    provider: undefined,
    onUseNotRecorded: (of) => io.stderr(`The use of a ${of} could not be recorded.\n`),
  });
}
