import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import {
  type Cluster,
  type ClusterOptions,
  clusterEnvironment,
  makeCluster,
  removeCluster,
  superuser,
} from "./cluster.ts";

/** A real PostgreSQL on 127.0.0.1. Its processes and its files end with this process at the latest. */
export interface PostgresServer extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly port: number;
  /** What it has said, the newest last. */
  readonly logLines: readonly string[];
  /** @param database not given: `postgres`. @returns its address, for a superuser. */
  url(database?: string): string;
  /** Resolves when the server accepts connections, on the same port and files as before. */
  start(): Promise<void>;
  /** A clean shutdown, which sends a standby all it has. The files stay. */
  stop(): Promise<void>;
  /** SIGKILL to all its processes at once, and waits for their end. The files stay. */
  kill(): Promise<void>;
}

const guardian = resolve(import.meta.dirname, "guardian.sh");
const logLinesMax = 1_000;
const portsTriedMax = 5;

/** A new server; whoever calls disposes it. */
export async function startPostgres(options: ClusterOptions = {}): Promise<PostgresServer> {
  return await serve(await makeCluster(options));
}

/** A server on these files, which it takes over: they go when it is disposed. */
export async function serve(cluster: Cluster): Promise<PostgresServer> {
  try {
    for (let tried = 1; ; tried += 1) {
      const server = new Server(cluster, await freePort());
      try {
        await server.start();
        return server;
      } catch (error) {
        // Between finding a port and listening there, somebody else may take it.
        const taken = server.logLines.some((line) => line.includes("Address already in use"));
        if (!taken || tried === portsTriedMax) throw error;
      }
    }
  } catch (error) {
    removeCluster(cluster);
    throw error;
  }
}

class Server implements PostgresServer {
  readonly cluster: Cluster;
  readonly port: number;
  readonly logLines: string[] = [];
  #running: Running | undefined;

  constructor(cluster: Cluster, port: number) {
    this.cluster = cluster;
    this.port = port;
  }

  url(database = "postgres"): string {
    return `postgres://${superuser.name}:${superuser.password}@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    this.#running = await run(this.cluster, this.port, (line) => {
      this.logLines.push(line);
      if (this.logLines.length > logLinesMax) this.logLines.shift();
    });
  }

  async stop(): Promise<void> {
    await this.#end("keep");
  }

  async kill(): Promise<void> {
    if (this.#running === undefined) return;
    killWithChildren(this.#running.pid);
    await this.#end("keep");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("remove");
    removeCluster(this.cluster);
  }

  async #end(wish: "keep" | "remove"): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    running.guardian.stdin?.end(`${wish}\n`);
    await running.ended;
  }
}

interface Running {
  readonly guardian: ChildProcess;
  /** The process that starts all others. */
  readonly pid: number;
  /** Settles when the guardian and every process of the server have ended. */
  readonly ended: Promise<void>;
}

async function run(cluster: Cluster, port: number, onLine: (line: string) => void): Promise<Running> {
  const server = [join(cluster.programs, "postgres"), "-D", cluster.dataFolder, "-p", String(port)];
  const child = spawn("sh", [guardian, cluster.folder, ...server], {
    ...cluster.runAs,
    cwd: cluster.folder,
    env: clusterEnvironment,
    // A session of its own: Ctrl-C in the tester's terminal is for the tests, which end the server themselves.
    detached: true,
  });
  const closed = once(child, "close");
  const pid = new Promise<number>((done) => child.stdout.once("data", (text) => done(Number(text))));
  const log = createInterface(child.stderr);
  const said: string[] = [];
  await new Promise<void>((ready, failed) => {
    log.on("line", (line) => {
      onLine(line);
      said.push(line);
      if (/database system is ready to accept/.test(line)) ready();
    });
    log.on("close", () => failed(new Error(`PostgreSQL has not started: ${said.join("\n")}`)));
    child.on("error", failed);
  });
  return { guardian: child, pid: await pid, ended: closed.then(() => undefined) };
}

/** The first is stopped before it is killed, so that it starts no other meanwhile. */
function killWithChildren(pid: number): void {
  process.kill(pid, "SIGSTOP");
  for (const child of childrenOf(pid)) process.kill(child, "SIGKILL");
  process.kill(pid, "SIGKILL");
}

function childrenOf(pid: number): readonly number[] {
  const parentOf = (process: string) => {
    try {
      // proc(5): the name in brackets may hold blanks; the state and the parent come after it.
      return Number(readFileSync(`/proc/${process}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
    } catch (error) {
      // Ended while the folder was read.
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return 0;
      throw error;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (typeof address !== "object" || address === null) throw new Error("The probe listens on no port.");
  return address.port;
}
