import type { TestProject } from "vitest/node";
import { openDatabaseService } from "./database-service.ts";
import "./provided.ts";

/** The server starts only when a test asks for a database. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const desk = await openDatabaseService();
  project.provide("databaseService", desk.address);
  return async () => await desk[Symbol.asyncDispose]();
}
