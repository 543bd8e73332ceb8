import { tmpdir } from "node:os";
import type { ImportSource } from "@sealpush/import-password-pusher";
import type { Command } from "commander";
import { lineOf, tableLine } from "../../import/report.ts";
import { openStoredImport, type StoredImport } from "../../import/stored-import.ts";
import { type Verification, verifyImport } from "../../import/verify-import.ts";
import { type CliIo, type CommandDeps, exitCodes } from "../cli-io.ts";
import { CommandRefused } from "../errors.ts";
import { getSettings } from "../settings.ts";
import { refuseOwnData, refuseWrongKeys } from "./checks.ts";
import { createProgress, withProblemsExitCode } from "./import-output.ts";
import { collect, givenSource, type SourceOptions, withSource } from "./open-source.ts";
import { noDataReasons, withStoredData } from "./stored-data.ts";

const verifyHelp = `
For each user and push of the source, it checks that the account or push is here, that the link finds it, and that link and
passphrase open its text and all its files, byte for byte as in the source. It also checks that API tokens, passwords and
second factors are there, and that nobody may view a push more often or longer than at the source. It only reads: no view is
counted. A server may be running. Settings of this installation come from the environment, as for the server.

Standard output lists what fails ("failed"), and what people have changed here since the import ("changed"), by the ids of
the source. It holds no secrets, tokens or addresses.

Exit codes: 0 everything is here and opens; 1 refused, failed or interrupted; 2 the command line or a setting is wrong, or no
key fits; 3 some rows failed.`;

export function addImportVerification(imports: Command, { io, setExitCode }: CommandDeps): void {
  imports
    .command("verify")
    .description("Compare what was imported with the Password Pusher installation it came from. Writes nothing.")
    .option("--env-file <file>", "as for the import")
    .option("--database <address>", "as for the import")
    .option("--storage <location>", "as for the import; only read for files without a checksum", collect)
    .addHelpText("after", verifyHelp)
    .action(async (options: SourceOptions) => setExitCode(await runCommand(io, options)));
}

async function runCommand(io: CliIo, options: SourceOptions): Promise<number> {
  const loaded = getSettings(io);
  const { config } = loaded;
  const given = givenSource(options, loaded);
  refuseOwnData(config, given);
  return await withSource(given, io, tmpdir(), async (source) => {
    await refuseWrongKeys(source, given.envFile);
    return await withStoredData(config, io, async (data) => {
      if (typeof data === "string") throw new CommandRefused(`${noDataReasons[data]}${advice[data]}`);
      return await verify(io, source, await openStoredImport(config, io, data));
    });
  });
}

const advice = {
  missing: ", so nothing was imported: check DATA_DIR and DATABASE_URL.",
  older: ": start the server once, then run this again.",
  no_key: ": check DATA_DIR and PWPUSH_MASTER_KEY, as for the server.",
} as const;

async function verify(io: CliIo, source: ImportSource, here: StoredImport): Promise<number> {
  const verification = await verifyImport({
    source,
    here,
    now: io.clock.now(),
    signal: io.interruption(),
    onProgress: createProgress(io),
    onFinding: (finding) => io.stdout(`${lineOf(finding)}\n`),
  });
  if (verification === "not_imported") {
    throw new CommandRefused(
      "Nothing of this Password Pusher was imported here: check --database, DATA_DIR and DATABASE_URL.",
    );
  }
  for (const line of summaryOf(verification)) io.stdout(`${line}\n`);
  if (verification.interrupted) return exitCodes.failed;
  return verification.failed > 0 ? withProblemsExitCode : exitCodes.ok;
}

function summaryOf({ interrupted, inSource, results, failed, changesThere }: Verification): readonly string[] {
  const { users, pushes, files, fileBytes } = results;
  const row = (name: "users" | "pushes", { open, ended, changed, notNeeded, failed }: typeof users) =>
    tableLine(name.padEnd(8), [inSource[name], open, ended, changed, notNeeded, failed]);
  const ending = interrupted
    ? "Interrupted: the other rows were not compared."
    : failed === 0
      ? "Everything is here and opens. No view was counted."
      : `${failed} ${failed === 1 ? "row" : "rows"} failed, listed above. No view was counted.`;
  return [
    "",
    tableLine("".padEnd(8), ["in source", "verified", "ended", "changed", "not needed", "failed"]),
    row("users", users),
    row("pushes", pushes),
    `Read ${files} files with ${fileBytes} bytes completely.`,
    ...(changesThere.length === 0
      ? []
      : ["Password Pusher has changed since the import: what was done there is not known here."]),
    "",
    ending,
  ];
}
