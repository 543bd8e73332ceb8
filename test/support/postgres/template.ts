import type pg from "pg";
import type { PostgresServer } from "./server.ts";

const template = "template_of_tests";

/** @returns the name of the database that every test gets a copy of. Nobody is connected to it. */
export async function makeTemplate(_server: PostgresServer, admin: pg.Pool): Promise<string> {
  await admin.query(`CREATE DATABASE ${template} TEMPLATE template0`);
  return template;
}
