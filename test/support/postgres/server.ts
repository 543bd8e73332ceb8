import { join } from "node:path";
import { type Cluster, type ClusterOptions, makeCluster, removeCluster, superuser } from "./cluster.ts";
import { type GuardedProcess, onFreePort, startGuarded } from "./guarded-process.ts";

/** A real PostgreSQL server on 127.0.0.1. Its processes and files are removed at the latest when this process ends. */
export interface PostgresServer extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly port: number;
  /** Its log, the newest line last. */
  readonly logLines: readonly string[];
  /** @param database default: `postgres`. @returns its URL for the superuser. */
  url(database?: string): string;
  /** After `stop` or `kill`: resolves when it accepts connections again, with the same files and port. */
  start(): Promise<void>;
  /** A clean shutdown, which sends everything to a standby. Keeps the files. */
  stop(): Promise<void>;
  /** Sends SIGKILL to all its processes at once and waits for their end. Keeps the files. */
  kill(): Promise<void>;
}

const logLinesMax = 1_000;

/** A new server; the caller disposes of it. */
export async function startPostgres(options: ClusterOptions = {}): Promise<PostgresServer> {
  return await serve(await makeCluster(options));
}

/** A server on these files. It owns them: they are removed when it is disposed. */
export async function serve(cluster: Cluster): Promise<PostgresServer> {
  try {
    return await onFreePort(async (port) => {
      const server = new Server(cluster, port);
      await server.start();
      return server;
    });
  } catch (error) {
    removeCluster(cluster);
    throw error;
  }
}

class Server implements PostgresServer {
  readonly cluster: Cluster;
  readonly port: number;
  readonly logLines: string[] = [];
  #running: GuardedProcess | undefined;

  constructor(cluster: Cluster, port: number) {
    this.cluster = cluster;
    this.port = port;
  }

  url(database = "postgres"): string {
    return `postgres://${superuser.name}:${superuser.password}@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const { folder, dataFolder, programs, runAs } = this.cluster;
    // It starts as long as it gets one of its addresses, and then another server answers at the others.
    let refused: string | undefined;
    this.#running = await startGuarded({
      folder,
      runAs,
      command: [join(programs, "postgres"), "-D", dataFolder, "-p", String(this.port)],
      // An immediate shutdown, without a checkpoint.
      endsBy: "QUIT",
      readyLine: /database system is ready to accept/,
      onLine: (line) => {
        this.logLines.push(line);
        if (/Address already in use/.test(line)) refused = line;
        if (this.logLines.length > logLinesMax) this.logLines.shift();
      },
    });
    if (refused !== undefined) {
      await this.kill();
      throw new Error(refused);
    }
  }

  async stop(): Promise<void> {
    await this.#ended()?.stop();
  }

  async kill(): Promise<void> {
    await this.#ended()?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ended()?.remove();
    removeCluster(this.cluster);
  }

  #ended(): GuardedProcess | undefined {
    const running = this.#running;
    this.#running = undefined;
    return running;
  }
}
