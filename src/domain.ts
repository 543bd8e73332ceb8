import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Accounts, type Administrator, type Change, createAccounts } from "./accounts/accounts.ts";
import type { AccountsDeps } from "./accounts/deps.ts";
import type { Provider } from "./accounts/sso/provider.ts";
import type { Clock } from "./base/clock.ts";
import { ClockTrust } from "./base/clock-trust.ts";
import type { Random } from "./base/random.ts";
import type { BlobStore } from "./blobs/blob-store.ts";
import { diskSpaceOf } from "./blobs/disk.ts";
import { openBlobStore } from "./blobs/open-blob-store.ts";
import { nameOf, openBranding } from "./branding/branding.ts";
import type { Config, SingleSignOnSettings } from "./config/config.ts";
import { makeDataFolder, refuseUnfinishedRestore } from "./config/data-folder.ts";
import { readOrMakeMasterKeyFile } from "./config/master-key-file.ts";
import { createKeyring, type Keyring } from "./crypto/keyring.ts";
import { createArgon2Queue } from "./crypto/passphrase.ts";
import { sealedLength } from "./crypto/stream-seal.ts";
import { createUrlTokens } from "./crypto/url-token.ts";
import type { Database, InTransaction } from "./database/database.ts";
import { measureDatabaseClock } from "./database/database-clock.ts";
import { createIds } from "./database/ids.ts";
import { createJobRuns } from "./database/job-runs.ts";
import { refuseMovedDatabase } from "./database/move-marks.ts";
import { embeddedFileOf, openDatabase, refuseForeignFile } from "./database/open-database.ts";
import { createHealth } from "./health.ts";
import { createLimits } from "./limits/create-limits.ts";
import { createHashAttempts } from "./limits/hash-attempts.ts";
import { createMail, type Mail } from "./mail/mail.ts";
import { createGroups, createPolicies, type Policies } from "./policies/policies.ts";
import { createGroupStore } from "./policies/store/groups.ts";
import { createPolicyStore } from "./policies/store/policies.ts";
import { createAttempts } from "./pushes/claim/attempts.ts";
import { createFileOpener } from "./pushes/claim/stored-files.ts";
import { createByteBudgets } from "./pushes/create/byte-budgets.ts";
import { createCapacity } from "./pushes/create/capacity.ts";
import { createLargePayloads } from "./pushes/create/large-payloads.ts";
import type { PushDeps } from "./pushes/deps.ts";
import { createLinkDeliveryCounter, watchLinkEmails } from "./pushes/notifications/link-deliveries.ts";
import type { PushEmails } from "./pushes/notifications/push-emails.ts";
import { notifyOfViews } from "./pushes/notifications/view-notifications.ts";
import { createPresets, createPushes, type Pushes } from "./pushes/pushes.ts";
import { createPresetStore } from "./pushes/store/presets.ts";
import { createPushStore } from "./pushes/store/push-store.ts";
import { createStoredLinkKeys } from "./pushes/stored-link-keys.ts";
import { isNewDatabase, openVault, WrongMasterKeyError } from "./pushes/vault.ts";
import { type AnswerEmails, createRequests } from "./requests/requests.ts";
import { createRequestStore } from "./requests/store/request-store.ts";
import type { Events } from "./telemetry/events.ts";

/** The program's dependencies on the outside world; tests replace them. */
export interface Effects {
  readonly clock: Clock;
  /** Moves `clock` forward by `ms`, which may be negative: whether a push has expired is decided by the database's time. */
  readonly correctClock: (ms: number) => void;
  readonly random: Random;
  /** A monotonic clock; only differences are meaningful. */
  readonly monotonicMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** A signal that is aborted after `ms`. */
  readonly abortAfter: (ms: number) => AbortSignal;
}

/** The product without HTTP and jobs: the server, the jobs and the operator's commands use it. */
export type Domain = Awaited<ReturnType<typeof openDomain>>;

/**
 * Opens the domain on the data folder and the database. A first start creates the folder, the database and the master key.
 * @throws WrongMasterKeyError, NewerSchemaError, or an Error with a sentence for the operator.
 */
export async function openDomain(config: Config, effects: Effects, events: Events) {
  // Check this first: another program's database must not get a master key.
  refuseForeignFile(config.database);
  makeDataFolder(config.dataDir);
  refuseUnfinishedRestore(config.dataDir);
  // With SQLite the key is created before the database file, so a file without a key has lost it.
  const embeddedKeyring =
    embeddedFileOf(config.database) === undefined ? undefined : openKeyring(config, effects, events);
  const db = await openDatabase(config.database, {
    monotonicMs: effects.monotonicMs,
    onStorageFailure: events.storageFailed,
    onTruncationFailed: (error) => events.jobFailed("log truncation", error),
  });
  try {
    // Again, because a restore may have begun after the first check and before there was a database for it to find.
    refuseUnfinishedRestore(config.dataDir);
    await refuseMovedDatabase(db);
    await followDatabaseClock(db, effects);
    const keyring = embeddedKeyring ?? (await openKeyringOf(db, config, effects, events));
    const parts = await openParts({ db, keyring, config, effects, events });
    return { config, db, keyring, ...parts, close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Call it regularly: clocks drift, and after a failover another server answers. */
export async function followDatabaseClock(db: Database, { clock, correctClock }: Effects): Promise<void> {
  const aheadMs = await measureDatabaseClock(db, clock);
  if (aheadMs !== 0) correctClock(aheadMs);
}

/** One at a time bounds the memory to 64 MiB. A unit is about 20 ms, so the last in the queue waits two seconds. */
const argon2Limits = { runningMax: 1, waitingMax: 100, waitingPerClientMax: 64 };

interface Opened {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly config: Config;
  readonly effects: Effects;
  readonly events: Events;
}

/** What accounts, pushes and requests work with. */
async function openFoundations({ db, keyring, config, effects, events }: Opened) {
  const { clock, random, monotonicMs } = effects;
  const clockTrust = new ClockTrust(clock, monotonicMs);
  const vault = await openVault({ db, keyring, random, now: clock.now(), onForgedRow: events.forgedRowRefused });
  const store = createPushStore(db);
  const blobs = await openBlobs(config, { ...effects, isExpected: store.upkeep.hasFiles });
  const argon2 = createArgon2Queue(argon2Limits);
  const limits = createLimits(db, random, events.limitsUnanswered);
  const hashAttempts = createHashAttempts(limits);
  const storedLinkKeys = createStoredLinkKeys({ db, keyring, random });
  const linkEmails = watchLinkEmails({ store, clock, storedLinkKeys });
  const branding = await openBranding({
    db,
    clock,
    random,
    access: vault.access,
    configuredName: config.brandTitle,
  });
  const instanceName = () => nameOf(branding.theme());
  const mail = createMail({ config, db, keyring, clock, random, events, linkEmails, instanceName });
  return { clockTrust, vault, store, blobs, argon2, limits, hashAttempts, storedLinkKeys, branding, mail };
}

type Foundations = Awaited<ReturnType<typeof openFoundations>>;

async function openAccounts(
  { db, keyring, config, effects, events }: Opened,
  { vault, argon2, limits, hashAttempts, storedLinkKeys, mail }: Foundations,
  { claimedGroups, isSignUpClosed }: Pick<AccountsDeps, "claimedGroups" | "isSignUpClosed">,
) {
  const { clock, random } = effects;
  return createAccounts({
    db,
    clock,
    random,
    argon2,
    limits,
    hashAttempts,
    outbox: mail.outbox,
    requestedOutbox: mail.requestedOutbox,
    mailAvailable: () => mail.serverFailure() === undefined,
    settings: config.accounts,
    keyring: () => keyring,
    access: vault.access,
    destroyStoredLinks: storedLinkKeys.destroy,
    provider: config.singleSignOn && (await openProvider(config.singleSignOn, clock)),
    claimedGroups,
    isSignUpClosed,
    onUseNotRecorded: events.usageNotRecorded,
  });
}

function openPushes(
  { db, config, effects }: Opened,
  { clockTrust, vault, store, blobs, argon2, limits, hashAttempts, storedLinkKeys }: Foundations,
  { policies, presets, emails }: Pick<PushDeps, "policies" | "presets" | "emails">,
) {
  const { clock, random, monotonicMs } = effects;
  return createPushes({
    config,
    clock,
    random,
    vault,
    storedLinkKeys,
    store,
    blobs,
    openFiles: createFileOpener(blobs, effects.abortAfter),
    argon2,
    hashAttempts,
    policies,
    presets,
    emails,
    capacity: createCapacity({
      config,
      monotonicMs,
      diskSpace: diskSpaceOf(config.dataDir),
      anonymousBytes: () => store.upkeep.anonymousBytes(),
    }),
    byteBudgets: createByteBudgets({ limits, config }),
    largePayloads: createLargePayloads(),
    clockTrust,
    ids: createIds(db, "pushes"),
    attempts: createAttempts({ limits, monotonicMs, pause: effects.pause }),
    linkDeliveryIds: createIds(db, "link_deliveries"),
    linkDeliveryCounter: createLinkDeliveryCounter(limits),
  });
}

function openRequests(
  { db, keyring, config, effects, events }: Opened,
  { vault, limits, storedLinkKeys, mail }: Foundations,
  { policies, accounts, pushes }: { readonly policies: Policies; readonly accounts: Accounts; readonly pushes: Pushes },
) {
  const { clock, random } = effects;
  return createRequests({
    config,
    clock,
    random,
    keyring,
    storedLinkKeys,
    urlTokens: createUrlTokens(vault.indexKey("request links")),
    ids: createIds(db, "requests"),
    store: createRequestStore(db),
    pushes,
    policies,
    emails: answerEmails(mail, accounts),
    limits,
    nextTurn: () => nextTurn(),
    onForgedRow: events.forgedRowRefused,
  });
}

async function openParts(opened: Opened) {
  const { db, config, effects } = opened;
  const { clock, monotonicMs, random } = effects;
  const foundations = await openFoundations(opened);
  const { clockTrust, vault, store, blobs, argon2, limits, storedLinkKeys, branding, mail } = foundations;
  const groupStore = createGroupStore(db, vault.access, random);
  const policies = createPolicies({ config, clock, monotonicMs, store: createPolicyStore(db, vault.access) });
  const { isSignUpClosed } = policies;
  const accounts = await openAccounts(opened, foundations, { claimedGroups: groupStore, isSignUpClosed });
  const groups = createGroups({ store: groupStore, clock, policies });
  const presets = createPresets({ store: createPresetStore(db, vault.access), clock, groupsOf: groups.listOf });
  const emails = pushEmails(config, mail, accounts);
  const pushes = openPushes(opened, foundations, { policies, presets, emails });
  const requests = openRequests(opened, foundations, { policies, accounts, pushes });
  const canServe = () => db.answers();
  return {
    vault,
    storedLinkKeys,
    /** Whether anything may be destroyed because time has passed. */
    clockTrust,
    store,
    blobs,
    policies,
    groups,
    presets,
    pushes,
    requests,
    accounts,
    mail,
    branding,
    limits,
    jobs: createJobRuns(db),
    /** How many passwords and passphrases are being hashed, and how many wait. */
    argon2,
    health: createHealth({ db, config, clock, canServe }),
    /**
     * Deletes a group with its rules, its memberships and its service account, then the pushes of that. Resolves when they have ended; the
     * sweeper finishes after a crash. @returns false: there is no such group.
     */
    async deleteGroup(groupId: number, together: InTransaction): Promise<boolean> {
      let serviceAccount: number | undefined;
      const isRemoved = await groups.remove(groupId, async (tx) => {
        serviceAccount = await accounts.removeServiceAccount(tx, groupId);
        await together(tx);
      });
      if (serviceAccount !== undefined) await pushes.removeOwner(serviceAccount);
      return isRemoved;
    },
    /** Whether the database answers. */
    canServe,
    /** Queues the emails of counted views that owners have asked for. */
    notifyOfViews: (stop: AbortSignal) => notifyOfViews({ store, emails, vault, clock }, stop),
    /**
     * Deletes an account with all its data, then its pushes. It is the only way to delete a user. Resolves when the pushes have
     * ended; the sweeper finishes after a crash. @param by null: the users themselves, so no administrative action is recorded.
     */
    async deleteAccount(userId: number, by: Administrator | null, together?: InTransaction): Promise<Change> {
      // The order matters: accounts refuse to delete the last administrator, and a deleted user creates no more pushes.
      const change = await accounts.deleteUser(userId, by, together);
      if (change.outcome === "done") await pushes.removeOwner(userId);
      return change;
    },
  };
}

/** The configured store of sealed files. Opening it sends no request yet. */
export function openBlobs(config: Config, deps: Parameters<typeof openBlobStore>[1]): Promise<BlobStore> {
  const { s3, pushBytesMax } = config.files;
  const location = { directory: blobFolder(config), s3, blobBytesMax: sealedLength(pushBytesMax) };
  return openBlobStore(location, deps);
}

/** Where files are stored that are not in a bucket. */
export function blobFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "blobs");
}

/** The configured master keys, or the one in the data folder, which a first start creates. */
function openKeyring(
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
  const path = embeddedFileOf(config.database);
  if (path !== undefined && existsSync(path)) refuseToMakeMasterKey(config, path);
  const file = readOrMakeMasterKeyFile(config.dataDir, effects.random);
  for (const warning of file.warnings) events.settingWarning(warning);
  if (file.made) events.masterKeyMade(join(config.dataDir, "master.key"));
  return [file.key];
}

/** With PostgreSQL, a key is created only if the database has no data sealed by another one. */
export async function openKeyringOf(
  db: Database,
  config: Config,
  effects: Pick<Effects, "random">,
  events: Pick<Events, "settingWarning" | "masterKeyMade">,
): Promise<Keyring> {
  if (config.masterKeys.length === 0 && !(await isNewDatabase(db.read))) refuseToMakeMasterKey(config, "The database");
  return openKeyring(config, effects, events);
}

/** @throws WrongMasterKeyError when there is data, but no master key. */
function refuseToMakeMasterKey(config: Config, what: string): void {
  if (existsSync(join(config.dataDir, "master.key"))) return;
  throw new WrongMasterKeyError(
    `${what} exists, but its master.key is missing: restore it to the data folder, ` +
      "or set the key in PWPUSH_MASTER_KEY.",
  );
}

/** Connects pushes with accounts, which know the owners' addresses, and with the outbox. */
function pushEmails(config: Config, { requestedOutbox }: Mail, accounts: Pick<Accounts, "findUser">): PushEmails {
  const { enabled, dailyMax } = config.linkDeliveries;
  return {
    mailsLinks: enabled,
    notifiesOfViews: requestedOutbox.open,
    dailyMax,
    async findOwner(ownerId) {
      const user = await accounts.findUser(ownerId);
      return (
        user && {
          email: user.email,
          isConfirmed: user.confirmedAt !== null,
          isDisabled: user.disabledAt !== null,
          language: user.language,
        }
      );
    },
    isFull: requestedOutbox.isFull,
    async putLink(tx, { to, locale, urlToken, retrievalStep, sealPath, ...link }, now) {
      const pathSealed = sealPath(`/p/${urlToken}${retrievalStep ? "/r" : ""}`);
      await requestedOutbox.put(tx, { to, language: locale, content: { kind: "push_link", pathSealed, ...link } }, now);
    },
    async putViewNotification(tx, { to, language, kind, viewedAt, ...view }, now) {
      const content = { kind: "push_view", pushKind: kind, at: viewedAt, ...view } as const;
      await requestedOutbox.put(tx, { to, language, content }, now);
    },
  };
}

/** The same for requests. Their owners are notified wherever they would be of views. */
function answerEmails(
  { requestedOutbox }: Mail,
  accounts: Pick<Accounts, "findUser" | "findServiceGroup">,
): AnswerEmails {
  return {
    async findOwner(ownerId) {
      const user = await accounts.findUser(ownerId);
      if (user === undefined) {
        const isService = (await accounts.findServiceGroup(ownerId)) !== undefined;
        return isService ? { email: "", isConfirmed: false, language: null } : undefined;
      }
      if (user.disabledAt !== null) return undefined;
      return { email: user.email, isConfirmed: user.confirmedAt !== null, language: user.language };
    },
    async putAnswered(tx, { email: to, language }, { title, urlToken, at }, now) {
      const path = `/requests/${urlToken}/answers`;
      await requestedOutbox.put(tx, { to, language, content: { kind: "request_answered", title, path, at } }, now);
    },
  };
}

/** Imported on demand: a server without single sign-on saves the memory of the library. */
async function openProvider(settings: SingleSignOnSettings, clock: Clock): Promise<Provider> {
  const { createProvider } = await import("./accounts/sso/provider.ts");
  return createProvider(settings, { clock, fetch });
}
