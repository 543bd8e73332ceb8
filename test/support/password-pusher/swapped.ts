import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { engine } from "../engine.ts";
import { makePostgresDatabase } from "../postgres/database.ts";
import { runToItsEnd, spawnProgram } from "../processes.ts";
import { type ServerProcess, startServer } from "../server.ts";
import { composeEnvironment, digestOf } from "./compose.ts";
import { expected } from "./expected.ts";
import { type Installation, installProduction } from "./installations.ts";
import { addManyPushes, manyTokenOf } from "./many-pushes.ts";

export type Environment = Readonly<Record<string, string>>;

export const { totals } = expected.production;
const addedPushes = 10;
export const all = { users: totals.users, pushes: totals.pushes + addedPushes };
export const withMore = (count = addedPushes) => installProduction((connection) => addManyPushes(connection, count));

/** Password Pusher's image with its name changed: its environment and its volume, and our data folder in this volume. */
export async function swap(installation: Installation, more: Environment = {}) {
  const dataDir = join(installation.storageFolder, "sealpush");
  const own: Environment = engine === "postgres" ? { SEALPUSH_DATABASE_URL: (await makePostgresDatabase()).url } : {};
  const before = digestOf(installation);
  const environmentOf = (wanted: "yes" | "no" | undefined, others: Environment = {}): Environment => ({
    ...composeEnvironment,
    PORT: "0",
    DATA_DIR: dataDir,
    ...(wanted !== undefined && { SEALPUSH_MOVE_IN: wanted, ...own }),
    ...more,
    ...others,
  });
  return {
    dataDir,
    environmentOf,
    own,
    run: (wanted?: "yes" | "no", others?: Environment) =>
      runToItsEnd(spawnProgram(["serve"], environmentOf(wanted, others))),
    serve: (wanted: "yes" | "no") =>
      startServer({ dataDir, environment: { ...environmentOf(wanted), DATABASE_URL: more.DATABASE_URL ?? "" } }),
    expectUnchanged: () => expect(digestOf(installation)).toBe(before),
  };
}

export async function expectMoved(server: ServerProcess, number = 1): Promise<void> {
  const answer = await fetch(`${server.baseUrl}/api/v2/pushes/${manyTokenOf(number)}`);
  expect(await answer.json()).toMatchObject({ payload: "correct-horse-battery-staple" });
}

export const page = (found: string) =>
  new RegExp(
    `found the data of a Password Pusher(?:.|\\n)*Nothing was changed(?:.|\\n)*${found}(?:.|\\n)*SEALPUSH_MOVE_IN=yes(?:.|\\n)*SEALPUSH_MOVE_IN=no`,
  );

/** @returns the port on which a server answers with the progress of its import. */
export async function progressPort(log: NodeJS.ReadableStream | null): Promise<number> {
  return Number(await lineOf(log, /\/up on port (\d+) answers 503/));
}

/** What the pattern's group matches in the first such line. */
export async function lineOf(output: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  if (output === null) throw new Error("The output is not piped.");
  return await new Promise((resolve) => {
    createInterface(output).on("line", (line) => {
      const [, found] = pattern.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}
