import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlState } from "../../src/database/postgres/errors.ts";
import { openClient } from "../../src/database/postgres/pooled-client.ts";
import { makeCertificate } from "../support/certificate.ts";
import { createPush, endpoints, retrieve } from "../support/endpoints.ts";
import { makeCluster, writeOwn } from "../support/postgres/cluster.ts";
import { makePostgresDatabase } from "../support/postgres/database.ts";
import { type PostgresServer, serve, startPostgres } from "../support/postgres/server.ts";
import { postgresSettings } from "../support/postgres/settings.ts";
import { newDataDir, runProgram, runToItsEnd, spawnProgram } from "../support/processes.ts";
import { startServer } from "../support/server.ts";

const PWPUSH_MASTER_KEY = randomBytes(32).toString("hex");

function start(databaseUrl: string) {
  return startServer({ dataDir: newDataDir(), environment: { DATABASE_URL: databaseUrl, PWPUSH_MASTER_KEY } });
}

async function ask(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** @returns the sentence on standard error with which the start fails. */
async function refusedStart(databaseUrl: string, argv: readonly string[] = ["serve"]): Promise<string> {
  const environment = { PORT: "0", DATA_DIR: newDataDir(), DATABASE_URL: databaseUrl, PWPUSH_MASTER_KEY };
  const run = await runProgram(argv, environment);
  expect(run.exitCode, run.stderr).toBe(1);
  expect(run.stdout).not.toContain("server_started");
  expect(run.stderr).toMatch(/^\S[^\n]*\.\n$/);
  const { password } = new URL(databaseUrl);
  if (password !== "") expect(run.stderr + run.stdout).not.toContain(password);
  return run.stderr.trim();
}

function changed(address: string, change: (url: URL) => void): string {
  const url = new URL(address);
  change(url);
  return url.href;
}

describe("starts on one PostgreSQL", () => {
  it("of any program without the master key are refused, and make no other key in the data folder", async () => {
    await using server = await startPostgres();
    await (await start(server.url())).stop();
    const dataDir = newDataDir();
    for (const argv of [["serve"], ["user", "list"], ["jobs", "list"]]) {
      const run = await runProgram(argv, { PORT: "0", DATA_DIR: dataDir, DATABASE_URL: server.url() });
      expect([argv, run.exitCode, run.stderr.trim()]).toEqual([
        argv,
        1,
        "The database exists, but its master.key is missing: restore it to the data folder, or set the key in PWPUSH_MASTER_KEY.",
      ]);
      expect(existsSync(join(dataDir, "master.key"))).toBe(false);
    }
  });

  it("of ten processes at once on an empty database all succeed, and create the schema once", async () => {
    await using server = await startPostgres({ settings: { log_statement: "ddl" } });
    const started = await Promise.all(Array.from({ length: 10 }, () => start(server.url())));
    expect(server.logLines.filter((line) => line.includes("CREATE TABLE pushes")).length).toBe(1);
    const push = await createPush(started[0]?.baseUrl ?? "", { payload: "seen by all", expire_after_views: 10 });
    for (const { baseUrl } of started) expect(await retrieve(endpoints.apiV2, baseUrl, push)).toBe("payload");
    expect(await retrieve(endpoints.apiV2, started[0]?.baseUrl ?? "", push)).toBe("gone");
    await Promise.all(started.map((one) => one.stop()));
  });

  it("with other servers running wait for no row or table lock of another transaction", async () => {
    const { url } = await makePostgresDatabase();
    const running = await start(url);
    const push = await createPush(running.baseUrl, { payload: "x", expire_after_views: 3 });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("BEGIN");
    for (const table of ["schema_version", "pushes", "users", "id_blocks"]) {
      await holder.query(`SELECT * FROM ${table} FOR UPDATE`);
    }
    const beside = await start(url);
    await holder.query("COMMIT");
    expect(await retrieve(endpoints.apiV2, beside.baseUrl, push)).toBe("payload");
  });

  it("of a version older than the schema fail with one sentence", async () => {
    const { url } = await makePostgresDatabase();
    await ask(url, "UPDATE schema_version SET version = 99");
    expect(await refusedStart(url)).toMatch(
      /^The database has schema version 99, this program knows \d+: start a newer version\.$/,
    );
    expect(await ask(url, "SELECT version FROM schema_version")).toEqual([{ version: "99" }]);
  });

  it("wait for a database server that starts later, with one line in the log", async () => {
    await using server = await startPostgres();
    await server.stop();
    const gate = createServer((socket) => socket.resetAndDestroy()).listen(server.port, "127.0.0.1");
    const asked = once(gate, "connection");
    const starting = start(server.url());
    await asked;
    gate.close();
    await once(gate, "close");
    await server.start();
    const { logLines } = await starting;
    const waited = logLines.filter((line) => line.includes("database_awaited"));
    expect(waited).toHaveLength(1);
    expect(waited[0]).toContain(`The PostgreSQL server at 127.0.0.1:${server.port} does not answer`);
  });

  it("exit at once with code 0 on a stop signal while waiting", async () => {
    const asked = Promise.withResolvers<void>();
    const gate = createServer((socket) => {
      socket.resetAndDestroy();
      asked.resolve();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void gate.close());
    await once(gate, "listening");
    const address = gate.address();
    if (typeof address !== "object" || address === null) throw new Error("The gate listens on no port.");
    const environment = {
      PORT: "0",
      DATA_DIR: newDataDir(),
      PWPUSH_MASTER_KEY,
      DATABASE_URL: `postgres://somebody@127.0.0.1:${address.port}/anything`,
    };
    const child = spawnProgram(["serve"], environment);
    const ended = runToItsEnd(child);
    await asked.promise;
    child.kill("SIGTERM");
    const { exitCode, stdout, stderr } = await ended;
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("database_awaited"))).toEqual([]);
  });
});

describe("a start that PostgreSQL refuses", () => {
  it("says what to fix", async () => {
    await using server = await startPostgres({ passwords: true });
    const place = `The PostgreSQL server at 127.0.0.1:${server.port}`;
    await ask(server.url(), "CREATE ROLE guest LOGIN PASSWORD 'a-guest-of-tests'");
    await ask(server.url(), "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const refusedWith = (change: (url: URL) => void) => refusedStart(changed(server.url(), change));

    expect(await refusedWith((url) => (url.password = "no-such-password"))).toBe(
      `${place} refuses the user sealpush (28P01): check the user and the password in DATABASE_URL.`,
    );
    expect(await refusedWith((url) => (url.pathname = "/nowhere"))).toBe(
      `${place} has no database nowhere (3D000): create it, or check DATABASE_URL.`,
    );
    expect(
      await refusedWith((url) => {
        url.username = "guest";
        url.password = "a-guest-of-tests";
      }),
    ).toBe(
      `${place} does not let the user guest make tables in the database postgres (42501): make it the owner, or grant it CREATE on the schema.`,
    );
    expect(await refusedWith((url) => url.searchParams.set("sslmode", "require"))).toBe(
      `${place} offers no TLS, and sslmode=require in DATABASE_URL asks for it.`,
    );
    await ask(server.url(), "ALTER DATABASE postgres SET default_transaction_read_only = on");
    expect(await refusedWith(() => undefined)).toBe(
      `${place} takes no writes (25006): it is a standby, or set to read only. DATABASE_URL must lead to the primary.`,
    );
  });

  it("says that the user does not exist where the server says so", async () => {
    const { url } = await makePostgresDatabase();
    const { host } = new URL(url);
    expect(await refusedStart(changed(url, (address) => (address.username = "nobody_of_tests")))).toBe(
      `The PostgreSQL server at ${host} has no user nobody_of_tests (28000): create it, or check DATABASE_URL.`,
    );
  });

  it("is reported at once by a command, without retries", async () => {
    const address = "postgres://somebody:a-password-of-tests@127.0.0.1:1/anything";
    expect(await refusedStart(address, ["user", "list"])).toBe(
      "The PostgreSQL server at 127.0.0.1:1 does not answer (connection refused): check DATABASE_URL.",
    );
  });
});

describe("TLS to PostgreSQL", () => {
  const serveTlsOnly = () => serveTls("hostssl all all 127.0.0.0/8 trust\n");

  async function serveTls(hostRules: string): Promise<{ server: PostgresServer; authority: string }> {
    const { certificate, key } = makeCertificate();
    const settings = { listen_addresses: "127.0.0.1, 127.0.0.2" };
    const cluster = await makeCluster({ tls: { certificate, key }, settings });
    writeOwn(cluster, "data/pg_hba.conf", hostRules);
    const server = await serve(cluster);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const authority = join(cluster.folder, "authority.crt");
    writeFileSync(authority, certificate);
    return { server, authority };
  }

  it("follows sslmode, including its checks", async () => {
    const { server, authority } = await serveTlsOnly();
    const address = (host: string, parameters: Readonly<Record<string, string>>) =>
      changed(server.url(), (url) => {
        url.hostname = host;
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      });
    const sslrootcert = authority;
    const certificate = (host: string, code: string) =>
      `The certificate of the PostgreSQL server at ${host}:${server.port} is not accepted (${code}): sslmode and sslrootcert in DATABASE_URL set what is accepted.`;

    expect(await refusedStart(server.url())).toBe(
      `The PostgreSQL server at 127.0.0.1:${server.port} takes no connection without TLS (28000): add ?sslmode=verify-full, or another sslmode, to DATABASE_URL.`,
    );
    for (const sslmode of ["verify-ca", "verify-full"]) {
      expect(await refusedStart(address("127.0.0.1", { sslmode }))).toBe(
        certificate("127.0.0.1", "depth zero self signed cert"),
      );
    }
    expect(await refusedStart(address("127.0.0.2", { sslmode: "verify-full", sslrootcert }))).toBe(
      certificate("127.0.0.2", "tls cert altname invalid"),
    );
    expect(await refusedStart(address("127.0.0.1", { sslmode: "verify-ca", sslrootcert: "/nowhere.crt" }))).toBe(
      "/nowhere.crt does not exist.",
    );

    for (const accepted of [
      address("127.0.0.1", { sslmode: "allow" }),
      address("127.0.0.1", { sslmode: "prefer" }),
      address("127.0.0.1", { sslmode: "require" }),
      address("127.0.0.2", { sslmode: "verify-ca", sslrootcert }),
      address("127.0.0.1", { sslmode: "verify-full", sslrootcert }),
      address("localhost", { sslmode: "verify-full", sslrootcert }),
    ]) {
      expect([accepted, await isEncrypted(accepted)]).toEqual([accepted, true]);
    }
    const { baseUrl } = await start(address("localhost", { sslmode: "verify-full", sslrootcert }));
    expect((await fetch(`${baseUrl}/ready`)).status).toBe(200);
    expect(
      await ask(
        address("127.0.0.1", { sslmode: "no-verify" }),
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
      ),
    ).toEqual([{ ssl: true }]);
  });

  /** @throws as the program's connections do. */
  async function isEncrypted(url: string): Promise<unknown> {
    const settings = postgresSettings(url);
    const client = await openClient(settings, settings, () => undefined);
    const { rows } = await client.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    await client.end();
    return rows[0].ssl;
  }

  /** Whether each mode leads to an encrypted connection; the error's code or message if to none. */
  async function encryptionWith(server: PostgresServer): Promise<Readonly<Record<string, unknown>>> {
    const outcomes: Record<string, unknown> = {};
    for (const sslmode of ["disable", "allow", "prefer", "require"]) {
      const url = changed(server.url(), (address) => address.searchParams.set("sslmode", sslmode));
      outcomes[sslmode] = await isEncrypted(url).catch((error: unknown) => sqlState(error) || String(error));
    }
    return outcomes;
  }

  it("is tried first with prefer and last with allow, as far as the server accepts it", async () => {
    const { server } = await serveTlsOnly();
    expect(await encryptionWith(server)).toEqual({ disable: "28000", allow: true, prefer: true, require: true });
    const both = await serveTls("host all all 127.0.0.0/8 trust\n");
    expect(await encryptionWith(both.server)).toEqual({ disable: false, allow: false, prefer: true, require: true });
    const plainOnly = await serveTls("hostnossl all all 127.0.0.0/8 trust\n");
    expect(await encryptionWith(plainOnly.server)).toEqual({
      disable: false,
      allow: false,
      prefer: false,
      require: "28000",
    });
  });

  it("is not given up with prefer because the login is refused", async () => {
    const { server } = await serveTls("hostssl all all 127.0.0.0/8 trust\nhostnossl all all 127.0.0.0/8 reject\n");
    const url = changed(server.url(), (address) => {
      address.username = "nobody";
      address.searchParams.set("sslmode", "prefer");
    });
    const settings = postgresSettings(url);
    // A second attempt, without TLS, would be answered with "pg_hba.conf rejects connection".
    await expect(openClient(settings, settings, () => undefined)).rejects.toThrow('role "nobody" does not exist');
  });

  it("is given up with prefer if the server has none", async () => {
    await using server = await startPostgres();
    expect(await encryptionWith(server)).toEqual({
      disable: false,
      allow: false,
      prefer: false,
      require: expect.stringContaining("does not support SSL"),
    });
  });
});
