import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Accounts, type Administrator, type Change, createAccounts } from "./accounts/accounts.ts";
import type { Provider } from "./accounts/sso/provider.ts";
import { signOnStepColumn } from "./accounts/sso/sign-on-steps.ts";
import { sealedImportedCodeKeys, sealedTotpSecrets } from "./accounts/store/factors.ts";
import type { Clock } from "./base/clock.ts";
import { unavailable } from "./base/errors.ts";
import type { Random } from "./base/random.ts";
import type { BlobStore } from "./blobs/blob-store.ts";
import { diskSpaceOf } from "./blobs/disk.ts";
import { openBlobStore } from "./blobs/open-blob-store.ts";
import { type Branding, openBranding } from "./branding/branding.ts";
import { createBootCodeFile } from "./config/boot-code-file.ts";
import type { Config, SingleSignOnSettings } from "./config/config.ts";
import { makeDataFolder, refuseUnfinishedRestore } from "./config/data-folder.ts";
import { readOrMakeMasterKeyFile } from "./config/master-key-file.ts";
import { createKeyring, type Keyring } from "./crypto/keyring.ts";
import { type Argon2Queue, createArgon2Queue } from "./crypto/passphrase.ts";
import { sealedLength } from "./crypto/stream-seal.ts";
import type { Database } from "./database/database.ts";
import { refuseForeignFile } from "./database/foreign-database.ts";
import { createIds } from "./database/ids.ts";
import { refuseMovedDatabase } from "./database/move-marks.ts";
import { openDatabase } from "./database/open-database.ts";
import type { SealedColumn } from "./database/sealed-column.ts";
import { createHealth, type Health } from "./health.ts";
import { createLimits, type Limits } from "./limits/limits.ts";
import { sealedEmails } from "./mail/email.ts";
import { createMail, type Mail } from "./mail/mail.ts";
import { createAttempts } from "./pushes/attempts.ts";
import { createCapacity } from "./pushes/capacity.ts";
import type { PushEmails } from "./pushes/emails.ts";
import { sealedLinkDeliveries } from "./pushes/link-deliveries.ts";
import { createLinkDeliveryCounter } from "./pushes/link-delivery.ts";
import { watchLinkEmails } from "./pushes/link-emails.ts";
import { createPushes, type Pushes } from "./pushes/pushes.ts";
import { createPushStore } from "./pushes/store/push-store.ts";
import type { PushStore } from "./pushes/store.ts";
import { findSealedIndexKey, openVault, type Vault, WrongMasterKeyError } from "./pushes/vault.ts";
import { tellOfViews } from "./pushes/view-notifications.ts";
import type { Events } from "./telemetry/events.ts";

/** Everything that a master key seals outside of pushes: a rotation of keys must leave none of it behind. */
export const sealedElsewhere: readonly SealedColumn[] = [
  sealedTotpSecrets,
  sealedImportedCodeKeys,
  signOnStepColumn,
  sealedEmails,
  sealedLinkDeliveries,
];

/** What reaches in from outside the program, and what tests put in its place. */
export interface Effects {
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds that never jump; only differences mean something. */
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** The domain, opened on its data: what the server, the timetable and the operator's commands stand on. */
export interface Domain {
  readonly config: Config;
  readonly db: Database;
  readonly keyring: Keyring;
  readonly vault: Vault;
  readonly store: PushStore;
  readonly blobs: BlobStore;
  readonly pushes: Pushes;
  readonly accounts: Accounts;
  readonly mail: Mail;
  readonly branding: Branding;
  readonly limits: Limits;
  /** How many passwords and passphrases are in work, and how many wait. */
  readonly argon2: Pick<Argon2Queue, "waiting" | "running">;
  /**
   * The one way to delete somebody: the account with all that is in it, then its pushes. Resolves when they have ended;
   * the sweeper finishes what a crash left. @param by null: the user himself, which is no act of administration.
   */
  deleteAccount(userId: number, by: Administrator | null): Promise<Change>;
  /** Puts the mails of counted views that owners wait for. */
  tellOfViews(stop: AbortSignal): Promise<void>;
  health(): Promise<Health>;
  /** Whether the database answers. */
  canServe(): Promise<boolean>;
  close(): Promise<void>;
}

/** One takes some 10 ms, so whoever waits waits two seconds at most; many people can stand behind one address. */
const argon2Limits = { runningMax: 2, waitingMax: 256, waitingPerClientMax: 64 };

/**
 * Opens the data folder, making what a first start needs (folder, database, master key).
 * @throws WrongMasterKeyError, NewerSchemaError, or an Error with a sentence for the operator.
 */
export async function openDomain(config: Config, effects: Effects, events: Events): Promise<Domain> {
  // First of all: what belongs to another program has no key of ours, and gets none.
  refuseForeignFile(config.database);
  makeDataFolder(config.dataDir);
  refuseUnfinishedRestore(config.dataDir);
  // SQLite's key is there before its file: a file without its key has lost it.
  const early = config.database.engine === "sqlite" ? openKeyring(config, effects, events) : undefined;
  const db = await openDatabase(config.database, {
    monotonicMs: effects.monotonicMs,
    onStorageFailure: events.storageFailed,
    onTruncationFailed: (error) => events.jobFailed("log truncation", error),
  });
  const close = () => db.close();
  try {
    await refuseMovedDatabase(db);
    const keyring = early ?? (await openKeyringOf(db, config, effects, events));
    const vault = await openVault({ db, keyring, random: effects.random, now: effects.clock.now() });
    const store = createPushStore(db);
    const blobs = await openBlobs(config, effects);
    const argon2 = createArgon2Queue(argon2Limits);
    const { clock, random } = effects;
    const limits = createLimits(db, events.limitsUnanswered);
    const capacity = createCapacity({
      config,
      monotonicMs: effects.monotonicMs,
      diskSpace: diskSpaceOf(config.dataDir),
      anonymousBytes: () => store.upkeep.anonymousBytes(),
    });
    const linkEmails = watchLinkEmails({ store, clock });
    const mail = createMail({ config, db, keyring, clock, random, events, linkEmails });
    const accounts = createAccounts({
      ...{ db, clock, random, argon2, limits, outbox: mail.outbox, requestedOutbox: mail.requestedOutbox },
      settings: config.accounts,
      bootCodeFile: createBootCodeFile(config.dataDir, random),
      keyring: () => keyring,
      provider: config.singleSignOn && (await openProvider(config.singleSignOn, clock)),
      onUseNotRecorded: events.usageNotRecorded,
    });
    const letters = pushEmails(config, mail, accounts);
    const pushes = createPushes({
      ...{ config, clock, random, vault, store, blobs, argon2, capacity },
      ids: createIds(db, "pushes"),
      attempts: createAttempts(limits),
      letters,
      linkDeliveryIds: createIds(db, "link_deliveries"),
      linkDeliveryCounter: createLinkDeliveryCounter(limits),
    });
    const deleteAccount: Domain["deleteAccount"] = async (userId, by) => {
      // In this order: the guard of the last administrator stands in the account, and nobody makes pushes after it.
      const change = await accounts.deleteUser(userId, by);
      if (change.outcome === "done") await pushes.removeOwner(userId);
      return change;
    };
    const branding = await openBranding({ db, clock, random, configuredName: config.brandTitle });
    const canServe = () => db.answers();
    const health = createHealth({ db, config, clock, canServe });
    return {
      config,
      db,
      keyring,
      vault,
      store,
      blobs,
      pushes,
      accounts,
      mail,
      branding,
      limits,
      argon2,
      deleteAccount,
      tellOfViews: (stop) => tellOfViews({ store, letters, vault, clock }, stop),
      health,
      canServe,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The store of sealed files that the settings name. It is not asked anything yet. */
export function openBlobs(config: Config, effects: Pick<Effects, "clock" | "random" | "pause">): Promise<BlobStore> {
  const { s3, pushBytesMax } = config.files;
  const place = { directory: join(config.dataDir, "blobs"), s3, blobBytesMax: sealedLength(pushBytesMax) };
  return openBlobStore(place, effects);
}

/** The master keys given, or the one of the data folder, which is made there at a first start. */
export function openKeyring(
  config: Config,
  effects: Pick<Effects, "random">,
  events: Pick<Events, "settingWarning" | "masterKeyMade">,
): Keyring {
  return createKeyring(masterKeys(config, effects, events), effects.random);
}

function masterKeys(
  config: Config,
  effects: Pick<Effects, "random">,
  events: Pick<Events, "settingWarning" | "masterKeyMade">,
): readonly Buffer[] {
  if (config.masterKeys.length > 0) return config.masterKeys;
  const { database } = config;
  if (database.engine === "sqlite" && existsSync(database.path)) refuseToMakeMasterKey(config, database.path);
  const file = readOrMakeMasterKeyFile(config.dataDir, effects.random);
  for (const warning of file.warnings) events.settingWarning(warning);
  if (file.made) events.masterKeyMade(join(config.dataDir, "master.key"));
  return [file.key];
}

/** On a server's database a key is looked for once it is known whether there is anything that it has to open. */
async function openKeyringOf(db: Database, config: Config, effects: Effects, events: Events): Promise<Keyring> {
  if (config.masterKeys.length === 0 && (await findSealedIndexKey(db.read)) !== undefined)
    refuseToMakeMasterKey(config, "The database");
  return openKeyring(config, effects, events);
}

/** @throws WrongMasterKeyError when the key of data that are there is not. */
function refuseToMakeMasterKey(config: Config, what: string): void {
  if (existsSync(join(config.dataDir, "master.key"))) return;
  throw new WrongMasterKeyError(
    `${what} is there, but the master.key that belongs to it is not: restore it to the data folder, ` +
      "or give the key in PWPUSH_MASTER_KEY.",
  );
}

/** Mails about pushes: of people the accounts know, by the outbox. */
function pushEmails(config: Config, { requestedOutbox }: Mail, accounts: Pick<Accounts, "findUser">): PushEmails {
  const { enabled, dailyMax } = config.linkDeliveries;
  return {
    ...{ mailsLinks: enabled, tellsOfViews: requestedOutbox.open, dailyMax },
    async findOwner(ownerId) {
      const user = await accounts.findUser(ownerId);
      return user && { email: user.email, isConfirmed: user.confirmedAt !== null, language: user.language };
    },
    async assertRoom() {
      if (await requestedOutbox.isFull()) throw unavailable("Too many mails wait to be sent. Try again later.", 60);
    },
    async putLink(tx, { to, locale, urlToken, retrievalStep, ...letter }, now) {
      const path = `/p/${urlToken}${retrievalStep ? "/r" : ""}`;
      await requestedOutbox.put(tx, { to, language: locale, content: { kind: "push_link", path, ...letter } }, now);
    },
    async putViewNotification(tx, { to, language, kind, viewedAt, ...letter }, now) {
      const content = { kind: "push_view", pushKind: kind, at: viewedAt, ...letter } as const;
      await requestedOutbox.put(tx, { to, language, content }, now);
    },
  };
}

/** Loaded where it is set: a server without single sign-on goes without the library's memory. */
async function openProvider(settings: SingleSignOnSettings, clock: Clock): Promise<Provider> {
  const { createProvider } = await import("./accounts/sso/provider.ts");
  return createProvider(settings, { clock, fetch });
}
