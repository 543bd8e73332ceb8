import { readFileSync } from "node:fs";
import { parseEnvFile } from "../config/env-file.ts";
import { systemErrorCode } from "../config/system-error.ts";
import { CommandRefused } from "./errors.ts";

/** Names and values of the env file at `path`. @throws CommandRefused */
export function readEnvFile(path: string): Readonly<Record<string, string>> {
  try {
    return parseEnvFile(readFileSync(path, "utf8"));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    throw new CommandRefused(`${path} cannot be read (${code}).`);
  }
}
