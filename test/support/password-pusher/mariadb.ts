import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createConnection } from "mysql2/promise";
import { postgresAccount } from "../postgres/binaries.ts";
import { makeOwnFolder, writeOwn } from "../postgres/cluster.ts";
import { bareEnvironment, onFreePort, startGuarded } from "../postgres/guarded-process.ts";

/** A MariaDB server with its own files, on 127.0.0.1. */
export interface Mariadb extends AsyncDisposable {
  makeDatabase(): Promise<MariadbDatabase>;
}

export interface MariadbDatabase {
  /** The URL for a user who may only SELECT. */
  readonly readerUrl: string;
  readonly writerUrl: string;
}

/** The path from the environment, e.g. `/usr/sbin/mariadbd` of Debian's package. undefined: no tests on MariaDB. */
export const mariadbProgram = process.env.SEALPUSH_TEST_MARIADB || undefined;

/** Its own initial tables are synced a thousand times, which takes minutes on a disk that is busy. */
const withoutSyncs = ["--debug-no-sync", "--innodb-flush-method=nosync"];

/** In /tmp, servers that have the same process id in containers of their own would take each other's temporary tables. */
const ownTemporaryFiles = (folder: string) => [`--tmpdir=${folder}`];

const password = "a-password:of/tests";
const users = `
CREATE USER 'writer'@'%' IDENTIFIED BY '${password}';
GRANT ALL ON *.* TO 'writer'@'%';
CREATE USER 'reader'@'%' IDENTIFIED BY '${password}';
GRANT SELECT ON *.* TO 'reader'@'%';
`;

export async function startMariadb(program: string): Promise<Mariadb> {
  const runAs = postgresAccount();
  const folder = makeOwnFolder(runAs);
  try {
    const data = join(folder, "data");
    const installer = join(dirname(dirname(program)), "bin/mariadb-install-db");
    await promisify(execFile)(
      installer,
      [
        "--no-defaults",
        `--datadir=${data}`,
        "--skip-test-db",
        "--auth-root-authentication-method=normal",
        ...ownTemporaryFiles(folder),
        ...withoutSyncs,
      ],
      { ...runAs, cwd: folder, env: bareEnvironment },
    );
    const initFile = writeOwn({ folder, runAs }, "users.sql", users);
    return await onFreePort(async (port) => {
      const running = await startGuarded({
        folder,
        runAs,
        command: [
          program,
          "--no-defaults",
          `--datadir=${data}`,
          `--init-file=${initFile}`,
          `--port=${port}`,
          "--bind-address=127.0.0.1",
          `--socket=${join(folder, "socket")}`,
          `--pid-file=${join(folder, "pid")}`,
          "--character-set-server=utf8mb4",
          ...withoutSyncs,
          ...ownTemporaryFiles(folder),
          "--skip-name-resolve",
        ],
        endsBy: "TERM",
        readyLine: /ready for connections/,
        onLine: () => undefined,
      });
      return serverAt(port, () => running.remove());
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function serverAt(port: number, remove: () => Promise<void>): Mariadb {
  const url = (user: string, database: string) =>
    `mysql2://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  let made = 0;
  return {
    async makeDatabase() {
      made += 1;
      const name = `pwpush_${made}`;
      const connection = await createConnection({ host: "127.0.0.1", port, user: "writer", password });
      await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
      await connection.end();
      return { readerUrl: url("reader", name), writerUrl: url("writer", name).replace("mysql2:", "mysql:") };
    },
    [Symbol.asyncDispose]: remove,
  };
}
