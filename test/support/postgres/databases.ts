import pg from "pg";
import { type Emptying, empty, learnEmptying } from "./emptying.ts";
import { type PostgresServer, startPostgres } from "./server.ts";
import { makeTemplate } from "./template.ts";

/** Made ahead, while tests run. */
const readyMax = 2;
/** How long a terminated connection may take to end. */
const endMsMax = 10_000;
/** PostgreSQL 15 is the first that can be told to copy files: a copy through its log takes three times the work. */
const copiesFilesFrom = 150_000;

/** Default isolation of transactions, e.g. `serializable`; not given: read committed. */
const isolation = process.env.SEALPUSH_TEST_POSTGRES_ISOLATION;

/** The databases of a test run, on a server of their own. Those that come back are given out again, emptied. */
export class Databases implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #admin: pg.Pool;
  readonly #copy: string;
  readonly #emptying: Emptying;
  readonly #given = new Map<string, "with schema" | "bare">();
  readonly #ready: Promise<string>[] = [];
  #count = 0;

  private constructor(server: PostgresServer, admin: pg.Pool, copy: string, emptying: Emptying) {
    this.#server = server;
    this.#admin = admin;
    this.#copy = copy;
    this.#emptying = emptying;
  }

  static async start(): Promise<Databases> {
    const server = await startPostgres(
      isolation === undefined ? {} : { settings: { default_transaction_isolation: isolation } },
    );
    const admin = new pg.Pool({ connectionString: server.url(), max: readyMax });
    try {
      const template = await makeTemplate(server, admin);
      const { rows } = await admin.query<{ server_version_num: string }>("SHOW server_version_num");
      const copiesFiles = Number(rows[0]?.server_version_num) >= copiesFilesFrom;
      const copy = `TEMPLATE ${template}${copiesFiles ? " STRATEGY FILE_COPY" : ""}`;
      return new Databases(server, admin, copy, await learnEmptying(server.url(template)));
    } catch (error) {
      await admin.end();
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @returns the address of one with the schema in it and nothing else. */
  async take(): Promise<string> {
    while (this.#ready.length <= readyMax) this.#keep(this.#make(this.#copy));
    const name = await this.#ready.shift();
    if (name === undefined) throw new Error("No database is being made.");
    return this.#give(name, "with schema");
  }

  async makeBare(): Promise<string> {
    return this.#give(await this.#make("TEMPLATE template0"), "bare");
  }

  /** Afterwards its address is invalid. */
  async giveBack(name: string): Promise<void> {
    const content = this.#given.get(name);
    if (content === undefined) throw new Error(`No database ${name} was given out.`);
    this.#given.delete(name);
    if (content === "bare") return await this.#drop(name);
    const next = this.#nextName();
    await this.#rename(name, next);
    this.#keep(this.#emptied(next));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#ready);
    await this.#admin.end();
    await this.#server[Symbol.asyncDispose]();
  }

  /** Its next user gets the error. */
  #keep(making: Promise<string>): void {
    making.catch(() => undefined);
    this.#ready.push(making);
  }

  #give(name: string, content: "with schema" | "bare"): string {
    this.#given.set(name, content);
    return this.#server.url(name);
  }

  #nextName(): string {
    this.#count += 1;
    return `test_${this.#count}`;
  }

  async #make(from: string): Promise<string> {
    const name = this.#nextName();
    await this.#admin.query(`CREATE DATABASE ${name} ${from}`);
    return name;
  }

  async #emptied(name: string): Promise<string> {
    if (await empty(this.#server.url(name), this.#emptying)) return name;
    await this.#drop(name);
    return await this.#make(this.#copy);
  }

  async #drop(name: string): Promise<void> {
    await this.#admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }

  /** What a test has left behind must not write into what another is given: it loses its connections and the name. */
  async #rename(name: string, next: string): Promise<void> {
    await this.#admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await this.#admin.query("SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE datname = $1", [
      name,
      endMsMax,
    ]);
    await this.#admin.query(`ALTER DATABASE ${name} RENAME TO ${next}`);
    await this.#admin.query(`ALTER DATABASE ${next} ALLOW_CONNECTIONS true`);
  }
}
