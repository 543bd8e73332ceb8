import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import pg from "pg";
import { type PostgresServer, startPostgres } from "./server.ts";
import { makeTemplate } from "./template.ts";

/**
 * Hands out databases to the processes of one test run, over HTTP on 127.0.0.1: `POST /` answers the address of
 * one with the schema in it, `POST /empty` of one without, `DELETE /NAME` drops one. The server behind it starts with the first that is asked for.
 */
export interface DatabaseDesk extends AsyncDisposable {
  readonly address: string;
}

/** Made ahead, while tests run. */
const readyMax = 2;

export async function openDatabaseDesk(): Promise<DatabaseDesk> {
  let started: Promise<Databases> | undefined;
  const answer = async (request: IncomingMessage): Promise<string> => {
    started ??= startDatabases();
    const databases = await started;
    const path = (request.url ?? "").slice(1);
    if (request.method === "POST") return await (path === "empty" ? databases.makeEmpty() : databases.take());
    await databases.drop(path);
    return "";
  };
  const http = createServer((request, response) => void settle(answer(request), response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("The desk listens on no port.");
  return {
    address: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      // One that has not started told so to whoever asked.
      const databases = await started?.catch(() => undefined);
      await databases?.[Symbol.asyncDispose]();
    },
  };
}

async function settle(answer: Promise<string>, response: ServerResponse): Promise<void> {
  try {
    response.end(await answer);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

async function startDatabases(): Promise<Databases> {
  const server = await startPostgres();
  const admin = new pg.Pool({ connectionString: server.url(), max: readyMax });
  try {
    return new Databases(server, admin, await makeTemplate(server, admin));
  } catch (error) {
    await admin.end();
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

class Databases implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #admin: pg.Pool;
  readonly #template: string;
  readonly #given = new Set<string>();
  readonly #ready: Promise<string>[] = [];
  #count = 0;

  constructor(server: PostgresServer, admin: pg.Pool, template: string) {
    this.#server = server;
    this.#admin = admin;
    this.#template = template;
  }

  async take(): Promise<string> {
    while (this.#ready.length <= readyMax) this.#ready.push(this.#make(this.#template));
    const name = await this.#ready.shift();
    if (name === undefined) throw new Error("No database is being made.");
    return this.#give(name);
  }

  async makeEmpty(): Promise<string> {
    return this.#give(await this.#make("template0"));
  }

  async drop(name: string): Promise<void> {
    if (!this.#given.delete(name)) throw new Error(`No database ${name} was given out.`);
    await this.#admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#ready);
    await this.#admin.end();
    await this.#server[Symbol.asyncDispose]();
  }

  #give(name: string): string {
    this.#given.add(name);
    return this.#server.url(name);
  }

  async #make(template: string): Promise<string> {
    this.#count += 1;
    const name = `test_${this.#count}`;
    await this.#admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    return name;
  }
}
