import { afterAll, inject, onTestFinished, TestRunner } from "vitest";
import "./provided.ts";

export interface PostgresDatabase {
  /** With the superuser. */
  readonly url: string;
}

const madeForTheFile: string[] = [];

/** A new database with the schema. It is removed after the test, or after the file if no test is running. */
export async function makePostgresDatabase(): Promise<PostgresDatabase> {
  return await make("");
}

/** A new database without the schema. */
export async function makeEmptyPostgresDatabase(): Promise<PostgresDatabase> {
  return await make("bare");
}

async function make(path: "" | "bare"): Promise<PostgresDatabase> {
  const url = await ask("POST", path);
  const name = new URL(url).pathname.slice(1);
  if (TestRunner.getCurrentTest() === undefined) madeForTheFile.push(name);
  else onTestFinished(() => giveBack(name));
  return { url };
}

afterAll(async () => {
  for (const name of madeForTheFile.splice(0)) await giveBack(name);
});

async function giveBack(name: string): Promise<void> {
  await ask("DELETE", name);
}

async function ask(method: "POST" | "DELETE", path: string): Promise<string> {
  const answer = await fetch(`${inject("databaseService")}/${path}`, { method });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The test run's PostgreSQL: ${text}`);
  return text;
}
