import type { TestProject } from "vitest/node";
import { openDatabaseDesk } from "./database-desk.ts";
import "./provided.ts";

/** The server starts only when a test asks for a database. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const desk = await openDatabaseDesk();
  project.provide("databaseDesk", desk.address);
  return async () => await desk[Symbol.asyncDispose]();
}
