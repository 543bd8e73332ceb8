import { closeSync, existsSync, fsyncSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, minuteMs } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { reasonOrThrow } from "../../base/system-error.ts";
import { freeDiskFloorBytes, type StatFs } from "../../blobs/disk.ts";
import { markerName } from "../../blobs/file-blob-store.ts";
import type { BucketDeps } from "../../blobs/s3/bucket.ts";
import type { Config, MailSettings } from "../../config/config.ts";
import { isNodeOutdated, pinnedPrograms } from "../../config/pinned-programs.ts";
import { createKeyring, type Keyring } from "../../crypto/keyring.ts";
import type { Database } from "../../database/database.ts";
import { embeddedFileOf } from "../../database/open-database.ts";
import { blobFolder } from "../../domain.ts";
import type { Mailer } from "../../mail/smtp.ts";
import { keysInUse, openVault } from "../../pushes/vault.ts";
import { getMasterKeys } from "../open-domain.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Whether the running Node has the fixes that were known when this version was released. */
export function checkNode(version: string): Finding {
  const { securityRelease } = pinnedPrograms.node;
  if (!isNodeOutdated(version)) return ok("node", `Node ${version} runs this command.`);
  return warn(
    "node",
    `Node ${version} lacks the fixes of the security release ${securityRelease}: install a newer one.`,
  );
}

/** Whether there are master keys that no other user can read. Creates none. */
export function checkMasterKey(config: Config, random: Random): Finding[] {
  const { keys, file, warnings } = getMasterKeys(config, random);
  if (warnings.length > 0) return warnings.map((warning) => warn("master key", warning));
  const origin = file ?? `settings (${keys.length} given)`;
  return [ok("master key", `Read from ${origin}; the active one has id ${createKeyring(keys, random).ids[0]}.`)];
}

/** Whether the key ring opens the database. Changes nothing: a check with a new key must not put that key into use. */
export async function checkKeyring(
  deps: { readonly config: Config; readonly random: Random; readonly now: number },
  db: Database,
): Promise<Finding[]> {
  const { config, random, now } = deps;
  const keyring = createKeyring(getMasterKeys(config, random).keys, random);
  const used = await keysInUse(db);
  if (used.length === 0) return [warn("key ring", "Nothing in the database is encrypted yet: start the server once.")];
  const unseen = unseenActiveKey(keyring, used);
  if (unseen !== undefined) {
    return [warn("key ring", `Key ${unseen} is not in use yet: restart the server with it, then run "keys rotate".`)];
  }
  await openVault({ db, keyring, random, now, onForgedRow: () => undefined });
  return [ok("key ring", `It opens the database, which is encrypted under ${used.join(", ")}.`)];
}

/** The active key's id if the ring has every key in use, but no server has used the active one yet. */
function unseenActiveKey(keyring: Keyring, used: readonly string[]): string | undefined {
  const [activeId] = keyring.ids;
  if (activeId === undefined || used.includes(activeId)) return undefined;
  return used.every((id) => keyring.has(id)) ? activeId : undefined;
}

const gibibyte = 1024 ** 3;
const probeBytes = 4_096;

/** Writes a small file to each folder of the data, syncs it and removes it. */
export function checkWritable(config: Config, random: Random): Finding[] {
  const { dataDir } = config;
  const path = embeddedFileOf(config.database);
  const folders = new Set([dataDir, ...(path === undefined ? [] : [dirname(path)])]);
  return [...folders].map((folder) => checkFolder(folder, random));
}

function checkFolder(folder: string, random: Random): Finding {
  const name = "disk writable";
  if (!existsSync(folder)) return fail(name, `${folder} does not exist: start the server once, or check DATA_DIR.`);
  try {
    writeProbe(join(folder, `.doctor.${random.bytes(8).toString("hex")}`), random);
    return ok(name, `A file in ${folder} was written, synced and removed.`);
  } catch (error) {
    return fail(name, `A file in ${folder} cannot be written (${reasonOrThrow(error)}).`);
  }
}

function writeProbe(path: string, random: Random): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeSync(descriptor, random.bytes(probeBytes));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
    unlinkSync(path);
  }
}

/** Whether free space is above the floor below which the server accepts no new pushes. Warns below twice the floor. */
export async function checkSpace(config: Config, diskSpace: StatFs): Promise<Finding[]> {
  const { freeBytes, totalBytes } = await diskSpace();
  const floor = freeDiskFloorBytes(config.freeDiskBytesMin, totalBytes);
  const sentence = `${inGibibytes(freeBytes)} free of ${inGibibytes(totalBytes)}; below ${inGibibytes(floor)} no new push is accepted.`;
  if (freeBytes < floor) return [fail("disk space", sentence)];
  return [freeBytes < 2 * floor ? warn("disk space", sentence) : ok("disk space", sentence)];
}

function inGibibytes(bytes: number): string {
  return `${(bytes / gibibyte).toFixed(1)} GiB`;
}

/** @param hasFiles whether the database names any. @returns no findings if all is well. */
export function checkBlobFolder(config: Config, hasFiles: boolean): Finding[] {
  const folder = blobFolder(config);
  if (config.files.s3 !== undefined || !hasFiles || existsSync(join(folder, markerName))) return [];
  return [
    fail(
      "files",
      `${folder} lacks its file ${markerName}: mount the folder. If it is the right folder, or if its files are lost, ` +
        "create an empty file of this name in it.",
    ),
  ];
}

/** Whether files can be stored, read and deleted in the bucket. No findings if files are stored on this disk. */
export async function checkBucket(config: Config, deps: BucketDeps): Promise<Finding[]> {
  const { s3 } = config.files;
  if (s3 === undefined) return [];
  const name = "files in S3";
  const { probeBucket } = await import("../../blobs/s3/probe-bucket.ts");
  const { versioned, endsUploads } = await probeBucket(s3, deps);
  const findings = [ok(name, `An object in bucket ${s3.bucket} was written, read and deleted.`)];
  if (versioned) {
    findings.push(
      warn(
        name,
        `Bucket ${s3.bucket} keeps versions: deleted files stay in it, although nobody can decrypt them. Turn versioning off.`,
      ),
    );
  }
  if (!endsUploads) {
    findings.push(
      warn(name, "The store does not abort unfinished uploads on request: add a lifecycle rule that removes them."),
    );
  }
  const left = blobFolder(config);
  if (existsSync(left) && readdirSync(left).length > 0) {
    findings.push(
      warn(name, `There are still files in ${left}, which is not used any more: copy them into the bucket.`),
    );
  }
  return findings;
}

/** A clock that shows an earlier time is wrong. */
const earliestTime = Date.UTC(2025, 0, 1);
const aheadMsMax = minuteMs;
const driftMsMax = 100;

export interface ClockCheckDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Long enough to detect a clock that is being adjusted. */
  readonly pause: () => Promise<void>;
  readonly newestTime: number | undefined;
}

/** Expiry depends on the clock: it must not be earlier than the newest entry, and must run at the right speed. */
export async function checkClock({ clock, monotonicMs, pause, newestTime }: ClockCheckDeps): Promise<Finding[]> {
  const before = { wall: clock.now(), monotonic: monotonicMs() };
  await pause();
  const now = clock.now();
  const driftMs = Math.abs(now - before.wall - (monotonicMs() - before.monotonic));
  const shown = new Date(now).toISOString();

  if (now < earliestTime) return [fail("clock", `It shows ${shown}, which is wrong: set it.`)];
  if (newestTime !== undefined && newestTime > now + aheadMsMax) {
    const newest = new Date(newestTime).toISOString();
    return [fail("clock", `It shows ${shown}, but the database was written at ${newest}: the clock was set back.`)];
  }
  if (driftMs > driftMsMax) {
    return [warn("clock", `It moved by ${Math.round(driftMs)} ms against the monotonic clock during the check.`)];
  }
  return [ok("clock", `It shows ${shown}, runs steadily and is not earlier than the newest entry of the database.`)];
}

/** Whether the mail server can be reached, its certificate is valid and sign-in works. Sends nothing. */
export async function checkMail(
  settings: MailSettings | undefined,
  mailer: (settings: MailSettings) => Pick<Mailer, "check">,
): Promise<Finding[]> {
  if (settings === undefined) return [ok("mail", "No mail server is set, so no emails are sent.")];
  const failure = await mailer(settings).check();
  const server = `${settings.host} port ${settings.port}`;
  if (failure !== undefined) return [fail("mail", `${server}: ${failure.sentence}`)];
  const works = settings.signIn === undefined ? "answers" : "answers and accepts the sign-in";
  return [ok("mail", `${server} ${works}. To send a test email: mail test --to <address>.`)];
}

/** @param failed the number of emails in the outbox that were given up. */
export function checkFailedMails(failed: number): Finding[] {
  if (failed === 0) return [];
  return [warn("failed emails", `${failed} email(s) could not be delivered and were given up: see /admin.`)];
}
