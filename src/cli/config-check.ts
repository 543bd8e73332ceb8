import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import { describeSettings } from "../config/describe-settings.ts";
import { systemErrorCode } from "../config/system-error.ts";
import { type CliIo, type CommandDeps, exitCodes, exitCodesHelp } from "./cli-io.ts";
import { CommandRefused } from "./errors.ts";
import { loadSettings } from "./settings.ts";

export function addConfigCheck(config: Command, { io, setExitCode }: CommandDeps): void {
  config
    .command("check")
    .description("Print every setting with its value and origin, and all that is wrong with them. Secrets are masked.")
    .option("--env-file <file>", "read the settings from this file (NAME=value lines) instead of the environment")
    .addHelpText("after", exitCodesHelp)
    .action(({ envFile }: { readonly envFile?: string }) => {
      const loaded = loadSettings(envFile === undefined ? io.environment : readEnvFile(envFile));
      for (const line of describeSettings(loaded.given)) io.stdout(`${line}\n`);
      for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`);
      if (loaded.ok) return;
      for (const mistake of loaded.mistakes) io.stderr(`mistake: ${mistake}\n`);
      setExitCode(exitCodes.usage);
    });
}

function readEnvFile(path: string): CliIo["environment"] {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    throw new CommandRefused(`${path} cannot be read (${code}).`);
  }
}
