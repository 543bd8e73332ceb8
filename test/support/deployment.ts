import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, test } from "vitest";
import { AlternatingProxy, processOf, publicHost } from "./alternating-proxy.ts";
import { makeUser, type Owner } from "./owner.ts";
import { makeEmptyPostgresDatabase } from "./postgres/database.ts";
import { type ProcessRun, runProgram } from "./processes.ts";
import { PushLedger, type Target } from "./push-ledger.ts";
import { PushLoad } from "./push-load.ts";
import { environmentOf, launchObjectStore } from "./s3/object-store.ts";
import { seededNumbers } from "./seeded-numbers.ts";
import { launchServer, type ServerProcess } from "./server.ts";
import { TcpProxy } from "./tcp-proxy.ts";

type Environment = Readonly<Record<string, string>>;

export interface DeploymentOptions {
  readonly environment?: Environment;
  /** "bucket" (default): each process has a data folder of its own. "folder": they share one. */
  readonly files?: "bucket" | "folder";
  /** The processes reach the database through a network that `database` controls: see `suspendAt`. */
  readonly watched?: boolean;
  /**
   * Makes what the processes find when they start. @param settings of the first one. @param launch starts a server with
   * these settings, which is stopped at the latest with the deployment. @returns more settings of both, which win.
   */
  readonly prepare?: (settings: Environment, launch: Launch) => Promise<Environment>;
}

type Launch = (environment: Environment) => Promise<ServerProcess>;

interface ApiRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One of the two processes. */
export type Which = 0 | 1;

/** The life of retry copies in a deployment, and a suspension that is longer. */
const retrySeconds = 2;
/** The other traffic: enough to take turns with every test, and little enough to leave the processors to them. */
const traffic = { clients: 2, pauseMs: 100 } as const;
export const suspensionMs = 3_000;

/**
 * This machine, but written in a way that the server takes for another host: the rules for TLS of a database on another
 * machine apply. The test run's PostgreSQL offers TLS.
 */
export const otherHost = "0.0.0.0";

/**
 * The largest deployment: two processes of the built program, as users start them, on one PostgreSQL that is not on
 * loopback, behind a proxy that opens a connection for each request and alternates between them, while other clients send
 * requests. Call it at the top of a test file: it is started before the file's tests.
 */
export function openDeployment(options: DeploymentOptions = {}): Deployment {
  const deployment = new Deployment(options);
  beforeAll(() => deployment.start());
  afterAll(() => deployment.end());
  return deployment;
}

interface Running {
  readonly databaseUrl: string;
  readonly environments: Environment[];
  readonly processes: ServerProcess[];
  readonly databases: readonly TcpProxy[];
  readonly proxy: AlternatingProxy;
  readonly others: { readonly ledger: PushLedger; readonly target: TrafficTarget; load: PushLoad };
}

class TrafficTarget implements Target {
  readonly baseUrl: string;
  mayBreak = false;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }
}

function sendTraffic(ledger: PushLedger, target: Target): PushLoad {
  return new PushLoad(ledger, [target], traffic.clients, traffic.pauseMs);
}

export class Deployment {
  readonly #options: DeploymentOptions;
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "sealpush-"));
  #running: Running | undefined;

  constructor(options: DeploymentOptions) {
    this.#options = options;
    this.#ends.push(async () => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** Declares a test that runs twice: the first process answers its first request, then the second one. */
  test(name: string, run: () => Promise<void>): void {
    test.each([0, 1])(`${name}, beginning with process %i`, async (first) => {
      this.#get().proxy.continueWith(first);
      await run();
    });
  }

  /** Sends a request through the proxy, without following redirects. Each request goes to the other process. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.origin + path, { redirect: "manual", ...init });
  }

  /** Sends JSON, by default with GET, or with POST if there is a body. Reads the answer's JSON. */
  async api(path: string, request: ApiRequest = {}) {
    const { body, headers, method = body === undefined ? "GET" : "POST" } = request;
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await this.fetch(path, { method, ...json, headers: { ...json.headers, ...headers } });
    return { status: answer.status, process: processOf(answer), body: await answer.json() };
  }

  /** A request of a browser that has this cookie, by default GET, or POST of a form. */
  visit(
    path: string,
    { cookie }: Pick<Owner, "cookie">,
    form?: FormData | Readonly<Record<string, string>>,
  ): Promise<Response> {
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    if (form === undefined) return this.fetch(path, { headers });
    return this.fetch(path, {
      method: "POST",
      headers,
      body: form instanceof FormData ? form : new URLSearchParams(form),
    });
  }

  /** The path of an address that the server has made, which begins with the public name. */
  pathOf(address: string): string {
    const { origin, href } = new URL(address);
    if (origin !== `https://${publicHost}`) throw new Error(`${address} is not an address of this deployment.`);
    return href.slice(origin.length);
  }

  /** The proxy's own address, for clients that need one. */
  get origin(): string {
    return this.#get().proxy.origin;
  }

  /** The next request goes to this process. */
  continueWith(which: Which): void {
    this.#get().proxy.continueWith(which);
  }

  process(which: Which): ServerProcess {
    const found = this.#get().processes[which];
    if (found === undefined) throw new Error(`There is no process ${which}.`);
    return found;
  }

  /** The network between a process and the database. Needs `watched`. */
  database(which: Which): TcpProxy {
    const found = this.#get().databases[which];
    if (found === undefined) throw new Error("This deployment was opened without `watched`.");
    return found;
  }

  /** Runs an operator's command with the settings of the first process. @param more settings, which win. */
  run(argv: readonly string[], more: Environment = {}): Promise<ProcessRun> {
    return runProgram(argv, { ...this.#get().environments[0], ...more });
  }

  /** Starts another process, which the proxy does not know, with the settings of the first one. @param more settings, which win. */
  launchBeside(more: Environment): Promise<ServerProcess> {
    return this.#launch({ ...this.#get().environments[0], DATA_DIR: join(this.#folder, "beside"), ...more });
  }

  /** A user with a session and an API token. */
  makeUser(email: string): Promise<Owner> {
    return makeUser({ environment: this.#get().environments[0] ?? {}, baseUrl: this.origin, email });
  }

  /** A connection of the test's own, without TLS. */
  async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: this.#get().databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /**
   * Suspends a process (SIGSTOP) while `work` runs, and at least for `ms`: longer than retry copies live. Meanwhile the
   * proxy sends it only requests that name it (`processHeader`), and those of other traffic.
   */
  async whileSuspended<T>(which: Which, work: () => Promise<T>, ms: number = suspensionMs): Promise<T> {
    const { pid } = this.process(which);
    const { proxy } = this.#get();
    process.kill(pid, "SIGSTOP");
    proxy.leaveOut(which);
    try {
      const [result] = await Promise.all([work(), pause(ms)]);
      return result;
    } finally {
      process.kill(pid, "SIGCONT");
      proxy.leaveOut(undefined);
    }
  }

  /**
   * Suspends a process before its next statement that matches: the database gets the statement when the process has
   * resumed, after `ms`. Needs `watched`.
   * @returns promises of the suspension and of its end.
   */
  suspendAt(
    which: Which,
    statement: Pick<RegExp, "test">,
    ms: number = suspensionMs,
  ): { suspended: Promise<void>; resumed: Promise<void> } {
    const { pid } = this.process(which);
    const database = this.database(which);
    const [suspended, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    database.intercept((text) => {
      if (!statement.test(text)) return "pass";
      database.intercept(() => "pass");
      database.delay(ms);
      process.kill(pid, "SIGSTOP");
      suspended.resolve();
      setTimeout(() => {
        database.delay(0);
        process.kill(pid, "SIGCONT");
        resumed.resolve();
      }, ms);
      return "pass";
    });
    return { suspended: suspended.promise, resumed: resumed.promise };
  }

  /** Kills a process and starts another in its place. Requests of other clients may be cut meanwhile. */
  async killAndReplace(which: Which): Promise<void> {
    const { processes, environments, others } = this.#get();
    others.target.mayBreak = true;
    await this.process(which).kill();
    processes[which] = await this.#launch(environments[which]);
    others.target.mayBreak = false;
  }

  /** Stops both processes and the other traffic, does `work`, and starts them again. @param more settings of both, which win. */
  async restart(more: Environment, work: () => Promise<void> = async () => undefined): Promise<void> {
    const { processes, environments, others } = this.#get();
    await others.load.stop();
    await Promise.all(processes.map((each) => each.stop()));
    await work();
    for (const [at, environment] of environments.entries()) environments[at] = { ...environment, ...more };
    const started = await Promise.all(environments.map((environment) => this.#launch(environment)));
    processes.splice(0, processes.length, ...started);
    others.load = sendTraffic(others.ledger, others.target);
  }

  async start(): Promise<void> {
    const { url } = await makeEmptyPostgresDatabase();
    const databases: TcpProxy[] = [];
    const environments = await this.#environments(url, databases);
    // At the same time, on an empty database: one of them creates the schema.
    const processes = await Promise.all(environments.map((environment) => this.#launch(environment)));
    const [proxy, trafficProxy] = [await this.#proxyTo(processes), await this.#proxyTo(processes)];
    const ledger = new PushLedger(seededNumbers(0x2b05));
    const target = new TrafficTarget(trafficProxy.origin);
    const others = { ledger, target, load: sendTraffic(ledger, target) };
    this.#ends.push(() => others.load.stop());
    this.#running = { databaseUrl: url, environments, processes, databases, proxy, others };
  }

  /** Stops everything. @throws when a client of the other traffic got a wrong answer, or lost a push. */
  async end(): Promise<void> {
    try {
      const { load, ledger, target } = this.#get().others;
      await load.stop();
      await ledger.verify(target.baseUrl);
    } finally {
      for (const end of this.#ends.reverse()) await end();
    }
  }

  async #environments(url: string, databases: TcpProxy[]): Promise<Environment[]> {
    const { files, prepare } = this.#options;
    const settings = await this.#settings();
    const environments: Environment[] = [];
    for (const name of ["first", "second"]) {
      const DATA_DIR = join(this.#folder, files === "folder" ? "shared" : name);
      environments.push({ ...settings, DATA_DIR, DATABASE_URL: await this.#databaseUrl(url, databases) });
    }
    const more = await prepare?.(environments[0] ?? {}, (environment) => this.#launch(environment));
    return environments.map((environment) => ({ ...environment, ...more }));
  }

  async #settings(): Promise<Environment> {
    const { environment, files = "bucket" } = this.#options;
    const bucket = files === "bucket" ? environmentOf(await launchObjectStore((end) => this.#ends.push(end))) : {};
    return {
      PWPUSH_MASTER_KEY: randomBytes(32).toString("hex"),
      PWP__OVERRIDE_BASE_URL: `https://${publicHost}`,
      PWP__ALLOWED_HOSTS: publicHost,
      PWP__CLAIM_RETRY_SECONDS: String(retrySeconds),
      ...bucket,
      ...environment,
    };
  }

  async #databaseUrl(url: string, databases: TcpProxy[]): Promise<string> {
    const address = new URL(url);
    address.hostname = otherHost;
    if (this.#options.watched !== true) return address.href;
    const database = await TcpProxy.inFrontOf({ port: Number(address.port) });
    databases.push(database);
    this.#ends.push(() => database[Symbol.asyncDispose]());
    // Encrypted statements could not be recognised.
    return `${database.url(address.href)}?sslmode=disable`;
  }

  #launch({ DATA_DIR: dataDir = "", ...environment }: Environment = {}): Promise<ServerProcess> {
    return launchServer({ dataDir, environment }, (end) => this.#ends.push(end));
  }

  async #proxyTo(processes: readonly ServerProcess[]): Promise<AlternatingProxy> {
    const proxy = await AlternatingProxy.inFrontOf(processes);
    this.#ends.push(() => proxy[Symbol.asyncDispose]());
    return proxy;
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error("The deployment runs only while tests run.");
    return this.#running;
  }
}
