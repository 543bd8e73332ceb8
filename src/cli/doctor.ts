import { existsSync } from "node:fs";
import type { Command } from "commander";
import { diskSpaceOf } from "../blobs/disk.ts";
import type { Config } from "../config/config.ts";
import { refuseUnfinishedRestore } from "../config/data-folder.ts";
import { type Database, ForeignDatabaseError } from "../database/database.ts";
import { createForwarderNote } from "../database/forwarder-note.ts";
import { createInspection } from "../database/inspection.ts";
import { refuseMovedDatabase } from "../database/move-marks.ts";
import { embeddedFileOf } from "../database/open-database.ts";
import { createSmtpMailer } from "../mail/smtp.ts";
import { createEmailStore } from "../mail/store/emails.ts";
import { createPushStore } from "../pushes/store/push-store.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { checkBaseUrl, checkForwarders, checkServer, probeOverHttp } from "./doctor/check-network.ts";
import { checkSignOn } from "./doctor/check-sign-on.ts";
import {
  checkBlobFolder,
  checkBucket,
  checkClock,
  checkFailedMails,
  checkKeyring,
  checkMail,
  checkMasterKey,
  checkNode,
  checkSpace,
  checkWritable,
} from "./doctor/checks.ts";
import { check, type Finding, fail, ok, warn } from "./doctor/finding.ts";
import { WrongSettings } from "./errors.ts";
import { openDatabaseOf } from "./open-domain.ts";
import { loadSettings } from "./settings.ts";

const watchClockMs = 250;

export function addDoctorCommand(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("doctor")
    .description(
      "Check whether the server can run here: prints one line per check (ok, warn or fail). Fails if any check fails.",
    )
    .action(async () => {
      const loaded = loadSettings(io.environment);
      if (!loaded.ok) throw new WrongSettings(loaded.mistakes);
      const store = await check("database", () => checkStore(loaded.config, io));
      // Another program's database has no master key to check.
      const isForeign = store.some(({ sentence }) => sentence === ForeignDatabaseError.sentence);
      const findings = [
        ...settingFindings(loaded.warnings),
        checkNode(process.versions.node),
        ...(isForeign ? [] : await check("master key", () => checkMasterKey(loaded.config, io.random))),
        ...store,
        ...(await check("disk writable", () => checkWritable(loaded.config, io.random))),
        ...(await check("disk space", () => checkSpace(loaded.config, diskSpaceOf(loaded.config.dataDir)))),
        ...(await check("files in S3", () => checkBucket(loaded.config, io))),
        ...checkBaseUrl(loaded.config),
        ...(await check("single sign-on", () => checkSignOn(loaded.config.singleSignOn, { clock: io.clock, fetch }))),
        ...(await check("mail", () => checkMail(loaded.config.mail, createSmtpMailer))),
        ...(await check("server", () => checkServer(loaded.config, probeOverHttp))),
      ];
      for (const { level, name, sentence } of findings) io.stdout(`${level.padEnd(4)}  ${name}: ${sentence}\n`);
      if (findings.some((finding) => finding.level === "fail")) setExitCode(exitCodes.failed);
    });
}

function settingFindings(warnings: readonly string[]): Finding[] {
  if (warnings.length === 0) return [ok("settings", "They are valid and consistent.")];
  return warnings.map((warning) => warn("settings", warning));
}

/** The checks that need the database; the clock is checked in any case. */
async function checkStore(config: Config, io: CliIo): Promise<Finding[]> {
  refuseUnfinishedRestore(config.dataDir);
  const path = embeddedFileOf(config.database);
  if (path !== undefined && !existsSync(path)) {
    const missing = fail("database", `${path} does not exist: start the server once, or check DATA_DIR.`);
    return [missing, ...(await watchClock(io, undefined))];
  }
  await using db = await openDatabaseOf(config, io);
  return await checkOpenStore(config, io, db);
}

async function checkOpenStore(config: Config, io: CliIo, db: Database): Promise<Finding[]> {
  const inspection = createInspection(db);
  const now = io.clock.now();
  return [
    ...(await check("database", async () => soundness(config, await inspection.problems()))),
    ...(await check("move", async () => {
      await refuseMovedDatabase(db);
      return [];
    })),
    ...(await check("key ring", () => checkKeyring({ config, random: io.random, now }, db))),
    ...(await check("clock", async () => await watchClock(io, await inspection.newestTime()))),
    ...(await check("forwarders", async () => checkForwarders(await createForwarderNote(db).find()))),
    ...(await check("files", async () => checkBlobFolder(config, await createPushStore(db).upkeep.hasFiles()))),
    ...(await check("failed emails", async () => checkFailedMails((await createEmailStore(db).sizes()).failed))),
  ];
}

function soundness({ database }: Config, problems: readonly string[]): Finding[] {
  switch (database.engine) {
    case "postgres":
      return [ok("database", `The server at ${database.host} answers, and its schema is that of this version.`)];
    case "sqlite": {
      const { path } = database;
      if (problems.length === 0) return [ok("database", `${path} is intact.`)];
      return problems.map((problem) => fail("database", `${path} is damaged: ${problem.replace(/\s+/g, " ")}.`));
    }
    default:
      return database satisfies never;
  }
}

function watchClock(io: CliIo, newestTime: number | undefined): Promise<Finding[]> {
  return checkClock({
    clock: io.clock,
    monotonicMs: io.monotonicMs,
    pause: () => io.pause(watchClockMs),
    newestTime,
  });
}
