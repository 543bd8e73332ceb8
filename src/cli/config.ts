import type { Command } from "commander";
import { describeEffects, describeSettings } from "../config/describe-settings.ts";
import { unusedSentence } from "../config/unknown-names.ts";
import { type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { loadSettings, readEnvFile } from "./settings.ts";

const envFileHelp = `
With --env-file the command also lists the effect of every name in the file. Env files of Password Pusher can be used as
they are.`;

export function addConfigCommands(program: Command, { io, setExitCode }: CommandDeps): void {
  program
    .command("config")
    .description("Check settings.")
    .command("check")
    .description("Print every setting with its value and origin, and all mistakes and warnings. Secrets are masked.")
    .option("--env-file <file>", "read the settings from this file (NAME=value lines) instead of the environment")
    .addHelpText("after", envFileHelp + exitCodesHelp)
    .action(({ envFile }: { readonly envFile?: string }) => {
      const environment = envFile === undefined ? io.environment : readEnvFile(envFile);
      const loaded = loadSettings(environment);
      for (const line of describeSettings(loaded.origins)) io.stdout(`${line}\n`);
      const names = envFile === undefined ? loaded.unused.map(({ name }) => name) : Object.keys(environment);
      const table = describeEffects(names, loaded.origins);
      if (table.length > 0) io.stdout(`\nEffect of the names that are set:\n${table.join("\n")}\n`);

      const inTable = new Set(loaded.unused.map(unusedSentence));
      const warnings = loaded.warnings.filter((warning) => !inTable.has(warning));
      for (const warning of warnings) io.stderr(`warning: ${warning}\n`);
      if (loaded.ok) return;
      for (const mistake of loaded.mistakes) io.stderr(`mistake: ${mistake}\n`);
      setExitCode(exitCodes.usage);
    });
}
