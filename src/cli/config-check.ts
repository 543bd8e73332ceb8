import type { Command } from "commander";
import { describeEffects, describeSettings } from "../config/describe-settings.ts";
import { unusedSentence } from "../config/unknown-names.ts";
import { type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { readEnvFile } from "./read-env-file.ts";
import { loadSettings } from "./settings.ts";

const what = `
With --env-file every name in the file is told, too, with what becomes of it here. Env files of Password Pusher can be
read as they are.`;

export function addConfigCheck(config: Command, { io, setExitCode }: CommandDeps): void {
  config
    .command("check")
    .description("Print every setting with its value and origin, and all that is wrong with them. Secrets are masked.")
    .option("--env-file <file>", "read the settings from this file (NAME=value lines) instead of the environment")
    .addHelpText("after", what + exitCodesHelp)
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
