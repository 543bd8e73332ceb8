import { onTestFinished, TestRunner } from "vitest";
import { askRun } from "../run/ask.ts";

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
  const url = await askRun("POST", `databases/${path}`);
  const name = new URL(url).pathname.slice(1);
  if (TestRunner.getCurrentTest() === undefined) madeForTheFile.push(name);
  else onTestFinished(() => giveBack(name));
  return { url };
}

/** Called after the last test of a file; see `after-file.ts`. */
export async function giveBackAll(): Promise<void> {
  for (const name of madeForTheFile.splice(0)) await giveBack(name);
}

async function giveBack(name: string): Promise<void> {
  await askRun("DELETE", `databases/${name}`);
}
