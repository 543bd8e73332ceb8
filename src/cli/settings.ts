import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { type LoadResult, loadConfig } from "../config/load-config.ts";
import type { CliIo } from "./cli-io.ts";
import { WrongSettings } from "./errors.ts";

export function loadSettings(environment: CliIo["environment"]): LoadResult {
  return loadConfig(environment, (path) => readFileSync(path, "utf8"));
}

/** @throws WrongSettings with all mistakes. */
export function getConfig(io: Pick<CliIo, "environment">): Config {
  const loaded = loadSettings(io.environment);
  if (!loaded.ok) throw new WrongSettings(loaded.mistakes);
  return loaded.config;
}
