import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PasswordPusherPlace } from "../../../src/import/password-pusher/password-pusher.ts";
import type { TestClock } from "../house.ts";

/** What an operator types, without the program's name. Writes the env file of the installation beside it. */
export function importOf(
  installation: PasswordPusherPlace & { readonly folder: string },
  ...more: readonly string[]
): readonly string[] {
  const envFile = join(installation.folder, "env");
  const lines = Object.entries(installation.environment).map(([name, value]) => `${name}=${value ?? ""}\n`);
  writeFileSync(envFile, lines.join(""));
  const storage = installation.storage.flatMap((place) => ["--storage", place]);
  return ["import", "password-pusher", "--database", installation.database, ...storage, "--env-file", envFile, ...more];
}

/** The least that the harness of commands takes for a clock. */
export const clockOf = (clock: TestClock) => ({ clock, monotonicMs: () => clock.now() });
