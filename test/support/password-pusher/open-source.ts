import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Database as Connection } from "better-sqlite3";
import { onTestFinished } from "vitest";
import { systemRandom } from "../../../src/base/random.ts";
import {
  openPasswordPusher,
  type PasswordPusherDeps,
  type PasswordPusherPlace,
} from "../../../src/import/password-pusher/password-pusher.ts";
import type { ImportSource } from "../../../src/import/source.ts";
import { referenceTime } from "./expected.ts";
import { type Installation, installProduction } from "./installations.ts";

/** Closed with the test. The clock stands at the reference time of the fixture. */
export async function openSource(
  installation: Installation,
  changed: Partial<PasswordPusherPlace> = {},
): Promise<ImportSource> {
  const source = await openPasswordPusher({ ...installation, ...changed }, sourceDeps(installation));
  onTestFinished(() => source.close());
  return source;
}

/** The production fixture on SQLite, with these changes to it. */
export async function readAfter(change: (connection: Connection) => void): Promise<ImportSource> {
  return await openSource(installProduction(change));
}

export function sourceDeps({ folder }: Pick<Installation, "folder">): PasswordPusherDeps {
  return {
    clock: { now: () => referenceTime },
    random: systemRandom,
    pause: async () => undefined,
    readFile: (path) => readFileSync(path, "utf8"),
    scratchFolder: join(folder, "scratch"),
  };
}

export async function collect<T>(rows: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
