import { tmpdir } from "node:os";
import type { Command } from "commander";
import { createBootCodeFile } from "../config/boot-code-file.ts";
import type { Config } from "../config/config.ts";
import { createKeyring } from "../crypto/keyring.ts";
import { openReadOnly } from "../database/open-database.ts";
import type { Destination } from "../import/destination.ts";
import { createDomainDestination } from "../import/domain-destination.ts";
import { createDryDestination } from "../import/dry-destination.ts";
import {
  lineOf,
  openReport,
  type ReportFiles,
  type ReportOutcome,
  summaryLines,
  textPathOf,
} from "../import/report.ts";
import { type ImportSummary, runImport } from "../import/run-import.ts";
import type { ImportSource } from "../import/source.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { sentenceOf, WrongSettings } from "./errors.ts";
import { orWrongSettings, refuseOwnPlaces, refuseWrongKeys } from "./import/checks.ts";
import { openSource, type SourceArguments } from "./import/open-source.ts";
import { createProblemLines, createProgress, reportPath } from "./import/progress.ts";
import { importHelp } from "./import-help.ts";
import { findMasterKeys, withDomain } from "./open-domain.ts";
import { getConfig, readEnvFile } from "./settings.ts";

/** Beside the codes of all commands: the run came to its end, and something did not come along whole. */
const reportedExitCode = 3;

interface Options {
  readonly database?: string;
  readonly storage?: readonly string[];
  readonly envFile: string;
  readonly dryRun?: true;
  readonly mergeUsers?: true;
  readonly withoutLostFiles?: true;
  readonly report?: string;
}

export function addImport(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("password-pusher")
    .description("Bring in everything that a Password Pusher installation holds; it is only read.")
    .requiredOption("--env-file <file>", "its environment: PWPUSH_MASTER_KEY, SECRET_KEY_BASE and so on")
    .option("--database <address>", "sqlite:PATH, postgres://… or mysql://…; else DATABASE_URL of the env file")
    .option("--storage <place>", "its folder of files, or s3://BUCKET; several times where there are several", collect)
    .option("--dry-run", "count, open and check everything, and write nothing")
    .option("--merge-users", "accounts here with the same e-mail address are the same people")
    .option("--without-lost-files", "bring pushes without those of their files that cannot be had")
    .option("--report <file>", "where the report goes, as JSON; its text beside it (else into the data folder)")
    .addHelpText("after", importHelp)
    .action(async (options: Options) => setExitCode(await runCommand(io, options)));
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function runCommand(io: CliIo, options: Options): Promise<number> {
  const config = getConfig(io);
  const environment = readEnvFile(options.envFile);
  const database = options.database ?? environment.DATABASE_URL;
  if (database === undefined) throw new WrongSettings(["Give --database: the env file has no DATABASE_URL."]);
  const storage = options.storage ?? [];
  const source = await openChecked({ io, config, options }, { database, storage, environment }).catch(orWrongSettings);
  try {
    if (options.dryRun !== true) await refuseWrongKeys(source, options.envFile);
    for (const warning of source.warnings) io.stderr(`WARNING: ${warning}\n`);
    // Asked for once: as with every server of this kind, mails of accounts are what proves an address.
    const mailsConfirm = /^(true|1|yes|on)$/i.test(environment.PWP__ENABLE_USER_ACCOUNT_EMAILS?.trim() ?? "");
    const work = (destination: Destination) => bring(io, { config, source, destination, options, mailsConfirm });
    return options.dryRun === true
      ? await withLook(config, io, source, work)
      : await withWriting(config, io, source, work);
  } finally {
    await source.close();
  }
}

async function openChecked(
  { io, config, options }: { readonly io: CliIo; readonly config: Config; readonly options: Options },
  given: SourceArguments,
): Promise<ImportSource> {
  refuseOwnPlaces(config, given);
  return await openSource(given, {
    clock: io.clock,
    random: io.random,
    pause: io.pause,
    now: io.clock.now(),
    scratchFolder: options.dryRun === true ? tmpdir() : config.dataDir,
  });
}

type Work = (destination: Destination) => Promise<number>;

async function withWriting(config: Config, io: CliIo, source: ImportSource, work: Work): Promise<number> {
  let exitCode: number = exitCodes.failed;
  await withDomain(config, io, async (domain) => {
    exitCode = await work(createDomainDestination(domain, io, source.fingerprint));
  });
  return exitCode;
}

async function withLook(config: Config, io: CliIo, source: ImportSource, work: Work): Promise<number> {
  const look = await openReadOnly(config.database);
  if (look === "missing") return await work(await createDryDestination(undefined, source.fingerprint));
  if (look === "older") {
    io.stderr("The database here is of an older version: what came in before, and conflicts, were not looked for.\n");
    return await work(await createDryDestination(undefined, source.fingerprint));
  }
  try {
    const keys = findMasterKeys(config, io.random);
    const keyring = keys && createKeyring(keys.keys, io.random);
    return await work(await createDryDestination({ read: look.read, keyring }, source.fingerprint));
  } finally {
    await look.close();
  }
}

interface Bringing {
  readonly config: Config;
  readonly source: ImportSource;
  readonly destination: Destination;
  readonly options: Options;
  readonly mailsConfirm: boolean;
}

async function bring(io: CliIo, bringing: Bringing): Promise<number> {
  const { config, source, options } = bringing;
  const dryRun = options.dryRun === true;
  const startedAt = io.clock.now();
  const place = reportPlace(options, config.dataDir, startedAt);
  const head = { version: io.version, fingerprint: source.fingerprint, dryRun, startedAt };
  const report = place === undefined ? undefined : openReport(place, head);
  const shown = createProblemLines(io, report?.path);
  try {
    const summary = await runImport({
      ...{ source, destination: bringing.destination, now: startedAt, signal: io.interruption() },
      options: {
        mergeUsers: options.mergeUsers === true,
        withoutLostFiles: options.withoutLostFiles === true,
        mailsConfirm: bringing.mailsConfirm,
      },
      onProgress: createProgress(io),
      onProblem(problem) {
        report?.problem(problem);
        shown.problem(lineOf(problem));
      },
    });
    if (summary.tally.counts.users.brought > 0 && !dryRun) createBootCodeFile(config.dataDir, io.random).remove();
    shown.end();
    const outcome = outcomeOf(summary);
    finish(report, { io, outcome, summary, failure: undefined });
    tell(io, summary, { outcome, dryRun, path: report?.path });
    return exitCodeOf(outcome);
  } catch (error) {
    finish(report, { io, outcome: "failed", summary: undefined, failure: sentenceOf(error) });
    throw error;
  }
}

/** A run that writes nothing writes no report either, but where it is told to. */
function reportPlace({ report, dryRun }: Options, dataDir: string, startedAt: number) {
  if (report !== undefined) return { named: report };
  return dryRun === true ? undefined : { unnamed: reportPath(dataDir, startedAt) };
}

function finish(
  report: ReportFiles | undefined,
  end: {
    readonly io: CliIo;
    readonly outcome: ReportOutcome;
    readonly summary: ImportSummary | undefined;
    readonly failure: string | undefined;
  },
): void {
  const { io, ...rest } = end;
  report?.finish({ ...rest, finishedAt: io.clock.now() });
}

function outcomeOf({ interrupted, tally, differences }: ImportSummary): ReportOutcome {
  if (interrupted) return "interrupted";
  return tally.problems + differences.length > 0 ? "with_problems" : "complete";
}

function exitCodeOf(outcome: ReportOutcome): number {
  if (outcome === "complete") return exitCodes.ok;
  return outcome === "with_problems" ? reportedExitCode : exitCodes.failed;
}

function tell(
  io: CliIo,
  summary: ImportSummary,
  { outcome, dryRun, path }: { outcome: ReportOutcome; dryRun: boolean; path: string | undefined },
): void {
  for (const line of summaryLines(summary)) io.stdout(`${line}\n`);
  const ends: Record<ReportOutcome, string> = {
    complete: "Everything came along, now or before; both sides were counted and agree.",
    with_problems:
      "The rest came along. What was left out, or came in part, is tried again when the command is run again with what was " +
      "missing: the right keys, or the files.",
    interrupted: "Interrupted: run the same command again, and it goes on from here.",
    failed: "",
  };
  io.stdout(`\n${dryRun ? "Nothing was written: this is what a run would do." : ends[outcome]}\n`);
  if (path !== undefined) io.stdout(`The report: ${path} and ${textPathOf(path)}\n`);
}
