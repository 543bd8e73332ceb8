import type pg from "pg";
import { superuser } from "./cluster.ts";
import type { PostgresServer } from "./server.ts";

const template = "template_of_tests";

/** Creates a database with the schema of the product, as a template. @returns its name. There are no connections to it. */
export async function makeTemplate(server: PostgresServer, admin: pg.Pool): Promise<string> {
  await admin.query(`CREATE DATABASE ${template} TEMPLATE template0`);
  const { openPostgres } = await import("../../../src/database/postgres/postgres.ts");
  const db = await openPostgres({
    settings: {
      host: "127.0.0.1",
      port: server.port,
      user: superuser.name,
      password: superuser.password,
      database: template,
      tls: { mode: "disable", rootCertificateFile: undefined },
      poolMax: 1,
      waitingMax: 10,
      connectTimeoutMs: 10_000,
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 10_000,
      preparedStatements: true,
    },
    monotonicMs: () => performance.now(),
    onStorageFailure: (code) => {
      throw new Error(`The template of the tests' databases: ${code}`);
    },
  });
  await db.close();
  return template;
}
