import { execFile } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  folderForClusters,
  isOpenToOthers,
  packagedPostgres,
  postgresAccount,
  postgresPrograms,
  type RunAs,
} from "./binaries.ts";
import { bareEnvironment } from "./guarded-process.ts";

/** The files of one server in their own folder, and the programs of its version. */
export interface Cluster {
  readonly folder: string;
  readonly dataFolder: string;
  readonly programs: string;
  readonly runAs: RunAs | null;
}

export interface ClusterOptions {
  /** Parameters of the server, in addition to the defaults of all tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether the password is checked; default: no, which saves milliseconds per connection. */
  readonly passwords?: boolean;
  /** PEM. If given, the server offers TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

export const superuser = { name: "sealpush", password: "a-password-of-tests" } as const;

/** Fast, small, and without a Unix socket. Tests that crash the server set durable values. */
const testSettings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "300",
  shared_buffers: "32MB",
  // In files of the folder, which are removed with it: System V shared memory would outlive a SIGKILL.
  dynamic_shared_memory_type: "mmap",
  fsync: "off",
  full_page_writes: "off",
  timezone: "UTC",
};

const run = promisify(execFile);

export async function makeCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = makeFolder();
  try {
    await initialise(cluster, options);
    return cluster;
  } catch (error) {
    removeCluster(cluster);
    throw error;
  }
}

async function initialise(cluster: Cluster, options: ClusterOptions): Promise<void> {
  const passwordFile = writeOwn(cluster, "password", superuser.password);
  await runHere(cluster, join(cluster.programs, "initdb"), [
    "--pgdata",
    cluster.dataFolder,
    "--username",
    superuser.name,
    "--pwfile",
    passwordFile,
    "--auth",
    options.passwords === true ? "scram-sha-256" : "trust",
    "--no-sync",
    "--encoding",
    "UTF8",
    // The collation of most servers, not byte order: a statement that relies on an order must name its collation.
    "--locale",
    "C",
    "--locale-provider",
    "icu",
    "--icu-locale",
    "en-US",
  ]);
  const tls = options.tls && {
    ssl: "on",
    ssl_cert_file: writeOwn(cluster, "server.crt", options.tls.certificate),
    ssl_key_file: writeOwn(cluster, "server.key", options.tls.key),
  };
  configure(cluster, { ...testSettings, ...tls, ...options.settings });
}

/** Sets parameters. Each replaces an earlier value at the next start. */
export function configure(cluster: Cluster, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`);
  writeFileSync(join(cluster.dataFolder, "postgresql.conf"), lines.join(""), { flag: "a" });
}

/** @param cluster has to be stopped. */
export async function copyCluster(cluster: Cluster): Promise<Cluster> {
  const copy = makeFolder();
  await runHere(copy, "cp", ["-a", cluster.dataFolder, copy.dataFolder]);
  return copy;
}

export function removeCluster(cluster: Cluster): void {
  rmSync(cluster.folder, { recursive: true, force: true });
}

/** A folder for temporary files that belongs to the account. */
export function makeOwnFolder(runAs: RunAs | null): string {
  const folder = mkdtempSync(join(folderForClusters(runAs), "sealpush-postgres-"));
  if (runAs !== null) chownSync(folder, runAs.uid, runAs.gid);
  return folder;
}

/** Writes a file that only the server's account can read. @returns its path. */
export function writeOwn(cluster: Pick<Cluster, "folder" | "runAs">, name: string, content: string): string {
  const path = join(cluster.folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  if (cluster.runAs !== null) chownSync(path, cluster.runAs.uid, cluster.runAs.gid);
  return path;
}

function makeFolder(): Cluster {
  const runAs = postgresAccount();
  const programs = postgresPrograms();
  const folder = makeOwnFolder(runAs);
  const cluster = { folder, dataFolder: join(folder, "data"), runAs };
  if (runAs === null || isOpenToOthers(programs)) return { ...cluster, programs };
  // The checkout is in a home folder that the account cannot read: copy the package.
  const copy = join(folder, "program");
  cpSync(packagedPostgres(), copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  return { ...cluster, programs: join(copy, "bin") };
}

async function runHere(cluster: Cluster, program: string, argv: readonly string[]): Promise<void> {
  await run(program, argv, { ...cluster.runAs, cwd: cluster.folder, env: bareEnvironment });
}
