import { rmSync } from "node:fs";
import { postgresAccount } from "./binaries.ts";
import { makeOwnFolder, superuser, writeOwn } from "./cluster.ts";
import { onFreePort, startGuarded } from "./guarded-process.ts";
import type { PostgresServer } from "./server.ts";

/** A pooler in transaction mode: each transaction may use another connection to the server. */
export interface Pgbouncer extends AsyncDisposable {
  readonly port: number;
  /** The URL of this database through the pooler. */
  url(database: string): string;
}

/** The path from the environment, e.g. `/usr/sbin/pgbouncer` of Debian's package. */
const program = process.env.SEALPUSH_TEST_PGBOUNCER ?? "pgbouncer";

/**
 * Starts a pooler in front of the server, with so few connections that clients have to share them.
 * @param more additional lines of its configuration.
 */
export async function startPgbouncer(server: PostgresServer, poolSize = 4, more = ""): Promise<Pgbouncer> {
  const runAs = postgresAccount();
  const folder = makeOwnFolder(runAs);
  const users = writeOwn({ folder, runAs }, "users.txt", `"${superuser.name}" "${superuser.password}"\n`);
  try {
    return await onFreePort(async (port) => {
      const settings = writeOwn(
        { folder, runAs },
        "pgbouncer.ini",
        settingsOf({ server, port, users, poolSize, more }),
      );
      const running = await startGuarded({
        folder,
        runAs,
        command: [program, settings],
        endsBy: "TERM",
        readyLine: /process up:/,
        onLine: () => undefined,
      });
      return {
        port,
        url: (database) => {
          const url = new URL(server.url(database));
          url.port = String(port);
          return url.href;
        },
        [Symbol.asyncDispose]: () => running.remove(),
      };
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Wiring {
  readonly server: PostgresServer;
  readonly port: number;
  readonly users: string;
  readonly poolSize: number;
  readonly more: string;
}

/** Everything else has its default. docs/scaling.md says what an operator has to change. */
function settingsOf({ server, port, users, poolSize, more }: Wiring): string {
  return `
[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
${more}
`;
}
