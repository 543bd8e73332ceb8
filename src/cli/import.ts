import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { Config } from "../config/config.ts";
import type { Domain } from "../domain.ts";
import { createDomainDestination, type Destination } from "../import/domain-destination.ts";
import { createDryDestination, nothingStored } from "../import/dry-destination.ts";
import type { ImportDeps, UnconfirmedUsers } from "../import/import-results.ts";
import { openReport } from "../import/report.ts";
import { runImport, SourceChangedError } from "../import/run-import.ts";
import { type CliIo, type CommandDeps, exitCodes } from "./cli-io.ts";
import { sentenceOf } from "./errors.ts";
import { changedSourceLines } from "./import/changed-source-lines.ts";
import { refuseOwnData, refuseSharedKey, refuseWrongKeys } from "./import/checks.ts";
import { createProgress, type ImportOutput, printedOutput, withProblemsExitCode } from "./import/import-output.ts";
import { collect, type GivenSource, givenSource, type SourceOptions, withSource } from "./import/open-source.ts";
import { noDataReasons, withStoredData } from "./import/stored-data.ts";
import { sourceMarkOf } from "./move-in/source-mark.ts";
import { findMasterKeys, withDomain } from "./open-domain.ts";
import { getSettings } from "./settings.ts";

const importHelp = `
Stop Password Pusher first: the import does not see what is viewed or changed there during the run. A server of this
installation may keep running. Rehearse in a data folder of its own. The command can be run again as long as Password Pusher
has not changed: it continues where it stopped, and imports only rows that no run has imported, such as those left out because
a key or a file was missing. Once Password Pusher has changed, it refuses, and prints how to import into an empty folder.
Settings of this installation come from the environment, as for the server. See docs/migrating-from-password-pusher.md.

Exit codes: 0 everything is imported, by this run or earlier ones; 1 refused, failed or interrupted; 2 the command line or a
setting is wrong, or no key fits; 3 the report names rows that were not imported completely.`;

interface Options extends SourceOptions, Partial<ImportDeps["options"]> {
  readonly dryRun?: true;
  readonly report?: string;
}

export function addImport(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("password-pusher")
    .description("Import everything from a Password Pusher installation, which is only read.")
    .option(
      "--env-file <file>",
      "its environment variables: PWPUSH_MASTER_KEY and others (default, while SEALPUSH_MOVE_IN is set: the environment)",
    )
    .option("--database <address>", "sqlite:PATH, postgres://… or mysql://… (default: DATABASE_URL of the env file)")
    .option("--storage <location>", "its folder of files, or s3://BUCKET; can be repeated", collect)
    .option("--dry-run", "count, decrypt and check everything, and write nothing")
    .option("--merge-users", "an account here with the same email address is the same person")
    .option("--without-lost-files", "import pushes without the files that cannot be read")
    .addOption(
      new Option(
        "--unconfirmed-users <state>",
        "users who have not confirmed their email address: confirmed if Password Pusher signed them in",
      ).choices(["confirmed", "unconfirmed"] satisfies UnconfirmedUsers[]),
    )
    .option(
      "--report <file>",
      "JSON file for the report; its text version is written next to it (default: in the data folder)",
    )
    .addHelpText("after", importHelp)
    .action(async (options: Options) => {
      const loaded = getSettings(io);
      const given = givenSource(options, loaded);
      setExitCode(await importPasswordPusher(io, { config: loaded.config, options, given }));
    });
}

export interface ImportRequest {
  readonly config: Config;
  readonly options: Options;
  readonly given: GivenSource;
  /** Called for every row that was read. */
  readonly onProgress?: ImportDeps["onProgress"];
  /** Otherwise everything is printed for people. */
  readonly output?: ImportOutput;
  /** Runs before the first write and after the last one, unless it is a dry run. @param run the import; returns its exit code. */
  readonly aroundWrites?: (domain: Domain, run: () => Promise<number>) => Promise<number>;
}

export async function importPasswordPusher(io: CliIo, request: ImportRequest): Promise<number> {
  const { config, options, given, output = printedOutput(io), aroundWrites = (_, run) => run() } = request;
  refuseOwnData(config, given);
  refuseSharedKey(findMasterKeys(config, io.random), given);
  const isDryRun = options.dryRun === true;
  return await withSource(given, io, isDryRun ? tmpdir() : config.dataDir, async (source) => {
    if (!isDryRun) await refuseWrongKeys(source, given.envFile);
    for (const warning of source.warnings) output.warning(warning);
    const runInto = (destination: Destination) => importAndReport(io, { ...request, output, source, destination });
    const { fingerprint } = source;
    if (!isDryRun) {
      const work = (domain: Domain) =>
        aroundWrites(domain, () => runInto(createDomainDestination(domain, io, fingerprint)));
      return await withDomain(config, io, work, output.events);
    }
    return await withStoredData(config, io, async (data) => {
      const isUnknown = typeof data === "string";
      if (isUnknown && data !== "missing") {
        io.stderr(`${noDataReasons[data]}, so rows that were imported before and conflicts are not recognised.\n`);
      }
      return await runInto(createDryDestination(isUnknown ? nothingStored : data, fingerprint));
    });
  });
}

/** The source asks for a confirmed address only if it sends emails to accounts. undefined: the environment does not say. */
function unconfirmedUsersOf({
  PWP__ENABLE_USER_ACCOUNT_EMAILS: accountEmails = "",
}: GivenSource["environment"]): UnconfirmedUsers | undefined {
  if (accountEmails.trim() === "") return undefined;
  return /^(true|1|yes|on)$/i.test(accountEmails.trim()) ? "unconfirmed" : "confirmed";
}

/** The first problems only are printed or logged: there may be as many as rows. The report has them all. */
const printedProblemsMax = 50;

type OpenedImport = ImportRequest & Pick<ImportDeps, "source" | "destination"> & { readonly output: ImportOutput };

async function importAndReport(io: CliIo, opened: OpenedImport): Promise<number> {
  const { config, source, destination, options, given, onProgress, output } = opened;
  const isDryRun = options.dryRun === true;
  const startedAt = io.clock.now();
  const location = reportLocation(options, config.dataDir, startedAt);
  const head = { version: io.version, fingerprint: source.fingerprint, dryRun: isDryRun, startedAt };
  const report = location && openReport(location, head);
  let problems = 0;
  const printProgress = createProgress(io, output.progress);
  try {
    const summary = await runImport({
      source,
      destination,
      now: startedAt,
      signal: io.interruption(),
      options: { unconfirmedUsers: unconfirmedUsersOf(given.environment), ...options },
      onProgress(...progress) {
        printProgress(...progress);
        onProgress?.(...progress);
      },
      onProblem(problem) {
        report?.problem(problem);
        problems += 1;
        if (problems <= printedProblemsMax) output.problem(problem);
      },
    });
    const isComplete = summary.results.problems + summary.differences.length === 0;
    const outcome = summary.interrupted ? "interrupted" : isComplete ? "complete" : "with_problems";
    report?.finish({ outcome, summary, failure: undefined, finishedAt: io.clock.now() });
    const suppressedCount = Math.max(0, problems - printedProblemsMax);
    output.finished({ summary, outcome, isDryRun, suppressedCount, report: report?.path });
    return { complete: exitCodes.ok, with_problems: withProblemsExitCode, interrupted: exitCodes.failed }[outcome];
  } catch (error) {
    const finishedAt = io.clock.now();
    report?.finish({ outcome: "failed", summary: undefined, failure: sentenceOf(error), finishedAt });
    if (!(error instanceof SourceChangedError)) throw error;
    output.refused(changedSourceLines(error, config, options, sourceMarkOf(given)));
    return exitCodes.failed;
  }
}

/** A dry run writes a report only if --report names one. */
function reportLocation({ report, dryRun: isDryRun }: Options, dataDir: string, startedAt: number) {
  if (report !== undefined) return { given: report };
  // The name sorts by time.
  const time = new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, "");
  return isDryRun === true ? undefined : { default: join(dataDir, `import-${time}.json`) };
}
