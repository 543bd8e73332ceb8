import pg from "pg";
import { makeCertificate } from "../certificate.ts";
import { type DatabaseReset, empty, prepareReset } from "./database-reset.ts";
import { type PostgresServer, startPostgres } from "./server.ts";
import { makeTemplate } from "./template.ts";

/** Databases that are created in advance while tests run. */
const readyMax = 2;
/** How long a terminated connection may take to end. */
const endMsMax = 10_000;
/** Since PostgreSQL 15, STRATEGY FILE_COPY is available: a copy through the write-ahead log costs three times as much. */
const copiesFilesFrom = 150_000;

/** The default isolation of transactions, e.g. `serializable`; undefined: read committed. */
const isolation = process.env.SEALPUSH_TEST_POSTGRES_ISOLATION;

/** The databases of a test run, on their own server. A returned database is emptied and reused. */
export class Databases implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #admin: pg.Pool;
  readonly #copy: string;
  readonly #emptying: DatabaseReset;
  readonly #given = new Map<string, "with schema" | "bare">();
  readonly #ready: Promise<string>[] = [];
  #count = 0;

  private constructor(server: PostgresServer, admin: pg.Pool, copy: string, emptying: DatabaseReset) {
    this.#server = server;
    this.#admin = admin;
    this.#copy = copy;
    this.#emptying = emptying;
  }

  static async start(): Promise<Databases> {
    const server = await startPostgres({
      // Used only by clients that take it for another host: see `otherHost`.
      tls: makeCertificate(),
      ...(isolation !== undefined && { settings: { default_transaction_isolation: isolation } }),
    });
    const admin = new pg.Pool({ connectionString: server.url(), max: readyMax });
    try {
      const template = await makeTemplate(server, admin);
      const { rows } = await admin.query<{ server_version_num: string }>("SHOW server_version_num");
      const copiesFiles = Number(rows[0]?.server_version_num) >= copiesFilesFrom;
      const copy = `TEMPLATE ${template}${copiesFiles ? " STRATEGY FILE_COPY" : ""}`;
      return new Databases(server, admin, copy, await prepareReset(server.url(template)));
    } catch (error) {
      await admin.end();
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @returns the URL of a database that has only the schema. */
  async take(): Promise<string> {
    while (this.#ready.length <= readyMax) this.#keep(this.#make(this.#copy));
    const name = await this.#ready.shift();
    if (name === undefined) throw new Error("No database is being made.");
    return this.#give(name, "with schema");
  }

  async makeBare(): Promise<string> {
    return this.#give(await this.#make("TEMPLATE template0"), "bare");
  }

  /** Returns a database. Its URL is invalid afterwards. */
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

  /** An error is thrown to the next user. */
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

  /** A leftover client of one test must not write into the database of another: close its connections, change the name. */
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
