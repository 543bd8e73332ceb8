import type pg from "pg";
import type { PostgresServer } from "./server.ts";
import { postgresSettings } from "./settings.ts";

const template = "template_of_tests";

/** Creates a database with the schema of the product, as a template. @returns its name. There are no connections to it. */
export async function makeTemplate(server: PostgresServer, admin: pg.Pool): Promise<string> {
  await admin.query(`CREATE DATABASE ${template} TEMPLATE template0`);
  const { openPostgres } = await import("../../../src/database/postgres/postgres.ts");
  const db = await openPostgres({
    settings: postgresSettings(server.url(template)),
    monotonicMs: () => performance.now(),
    onStorageFailure: (code) => {
      throw new Error(`The template of the test databases failed: ${code}`);
    },
  });
  await db.close();
  return template;
}
