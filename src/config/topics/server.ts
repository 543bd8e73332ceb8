import { resolve } from "node:path";
import { reasonOrThrow } from "../../base/system-error.ts";
import { databaseUrl } from "../database-url.ts";
import { listenAddress } from "../network-types.ts";
import type { ReadFile } from "../secret-files.ts";
import { optionalSetting, type ParsedGroup, printable, type SettingReport, setting } from "../setting.ts";
import { findShortLivedData, type ShortLivedData } from "../short-lived-data.ts";
import { filePath, wholeNumber } from "../value-types.ts";

export const serverSettings = {
  title: "Server and data",
  intro: "Where the server listens, and where it stores its data.",
  settings: {
    port: setting({
      env: "PORT",
      doc: "The TCP port to listen on. 0 selects any free port.",
      type: wholeNumber(0, 65535),
      default: "5100",
    }),
    host: setting({
      env: "HOST",
      doc: "The address to listen on.",
      type: listenAddress,
      default: "127.0.0.1",
    }),
    dataDir: setting({
      env: "DATA_DIR",
      doc: "The folder of the database, the encrypted files and `master.key`. A relative path starts at the working directory.",
      type: filePath,
      default: "./data",
    }),
    mounts: optionalSetting({
      env: "SEALPUSH_MOUNTS",
      doc: "The image sets it to `/proc/self/mountinfo`, the list of the mounts of its container. If `DATA_DIR` would be lost with the container, the start then warns, and `SEALPUSH_MOVE_IN=yes` is refused.",
      type: filePath,
      unset: "`DATA_DIR` is not checked",
    }),
    databaseUrl: optionalSetting({
      env: "DATABASE_URL",
      doc: "The database: a SQLite file, or a PostgreSQL server (13 or newer). `sqlite:` alone is the file in `DATA_DIR`; a relative path starts at the working directory. A PostgreSQL URL may end with `?sslmode=` `disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`, `&sslrootcert=` a file of certificate authorities, `pool=` the connections per process, and `host=` the folder of a Unix socket; parameters of Rails and libpq that have no effect here, such as `reconnect`, are accepted with a warning. Without `sslmode`, another machine is asked for TLS first (`prefer`), and this machine is not (`disable`). Several hosts, as in `postgres://user:password@db1:5432,db2:5432/database?target_session_attrs=read-write`, are tried in turn until one takes writes.",
      type: databaseUrl,
      unset: "sealpush.sqlite3 in DATA_DIR",
      hidden: "when_rejected",
    }),
  },
};

export function serverConfig({ host, port, dataDir }: ParsedGroup<typeof serverSettings>) {
  return {
    host: host.value,
    port: port.value,
    /** Absolute path. */
    dataDir: resolve(dataDir.value),
  };
}

/** @param stored what DATA_DIR has: "the database". @returns undefined: DATA_DIR outlives its container, or is not checked. */
export function shortLivedDataConfig(
  { dataDir, mounts }: ParsedGroup<typeof serverSettings>,
  stored: readonly string[],
  readFile: ReadFile,
  report: SettingReport,
): ShortLivedData | undefined {
  if (mounts.value === undefined) return undefined;
  const folder = resolve(dataDir.value);
  const found = findShortLivedData(readMounts(mounts.env, mounts.value, readFile, report), folder);
  if (found !== undefined && stored.length > 0) {
    const content = stored.join(", ").replace(/, ([^,]*)$/, " and $1");
    report.warn(
      `${dataDir.env} (${printable(folder)}) is ${found.where}, so ${content} will be lost when the container is replaced: mount a volume with a name at ${printable(found.mountPoint)}.`,
    );
  }
  return found;
}

function readMounts(env: string, path: string, readFile: ReadFile, report: SettingReport): string {
  try {
    return readFile(path);
  } catch (error) {
    report.mistake(`${env} names "${printable(path)}", which cannot be read (${reasonOrThrow(error)}).`, env);
    return "";
  }
}
