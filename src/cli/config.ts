import type { Command } from "commander";
import { describeEffects, describeSettings } from "../config/describe-settings.ts";
import { parseEnvFile, unreadLines } from "../config/env-file.ts";
import { environmentLine, parseSettingsFile } from "../config/settings-file.ts";
import { unusedSentence } from "../config/unknown-names.ts";
import { type CommandDeps, exitCodes } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { loadSettings, readTextFile } from "./settings.ts";

const envFileHelp = `
With --env-file the command also lists the effect of every name in the file. Env files of Password Pusher can be
checked as they are: a warning names each line that must not be copied to this server.`;

const convertHelp = `
The lines can be used by docker run --env-file, compose files, systemd, shells and this server. They may contain secrets.
"config check --env-file" lists the effect of each.`;

export function addConfigCommands(program: Command, { io, setExitCode }: CommandDeps): void {
  const config = program.command("config").description("Check and convert settings.");
  config
    .command("convert")
    .description("Print a settings.yml of Password Pusher as an environment file.")
    .argument("<settings.yml>", "the file")
    .addHelpText("after", convertHelp)
    .action((path: string) => {
      const parsed = parseSettingsFile(readTextFile(path));
      if (!parsed.ok) {
        const place = parsed.line === undefined ? "" : `, line ${parsed.line}`;
        throw new CommandRefused(`${path}${place}: ${parsed.reason}.`);
      }
      for (const [name, value] of Object.entries(parsed.values)) {
        const line = environmentLine(name, value);
        if (line === undefined) io.stderr(`warning: ${name} is left out: no environment file can contain its value.\n`);
        else io.stdout(`${line}\n`);
      }
    });
  config
    .command("check")
    .description("Print every setting with its value and origin, and all mistakes and warnings. Secrets are masked.")
    .option("--env-file <file>", "read the settings from this file (NAME=value lines) instead of the environment")
    .addHelpText("after", envFileHelp)
    .action(({ envFile }: { readonly envFile?: string }) => {
      const text = envFile === undefined ? "" : readTextFile(envFile);
      const environment = envFile === undefined ? io.environment : parseEnvFile(text);
      const loaded = loadSettings(environment);
      for (const line of describeSettings(loaded.origins)) io.stdout(`${line}\n`);
      const names = envFile === undefined ? loaded.unused.map(({ name }) => name) : Object.keys(environment);
      const table = describeEffects(names, loaded.origins);
      if (table.length > 0) io.stdout(`\nEffect of the names that are set:\n${table.join("\n")}\n`);

      const inTable = new Set(loaded.unused.map(unusedSentence));
      const warnings = loaded.warnings.filter((warning) => !inTable.has(warning));
      for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
      for (const line of unreadLines(text)) {
        io.stderr(`warning: Line ${line} is neither NAME=value nor a comment, so it is not read.\n`);
      }
      if (loaded.ok) return;
      for (const mistake of loaded.mistakes) io.stderr(`mistake: ${mistake}\n`);
      setExitCode(exitCodes.usage);
    });
}
