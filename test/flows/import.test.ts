import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectEverything } from "../support/password-pusher/expect-everything.ts";
import { type ExpectedInstallation, expected } from "../support/password-pusher/expected.ts";
import { makeImportTarget } from "../support/password-pusher/import-run.ts";
import {
  type Installation,
  installDefaultKey,
  installProduction,
  installProductionOnMysql,
  installProductionOnPostgres,
} from "../support/password-pusher/installations.ts";
import { type Mariadb, mariadbProgram, startMariadb } from "../support/password-pusher/mariadb.ts";

const { production, default_key: defaultKey } = expected;

async function expectWholeMove(
  there: ExpectedInstallation,
  installation: Installation,
  exitCode: number,
  userTimesMs = 1,
) {
  const target = makeImportTarget();
  const run = await target.run(installation);
  expect(run.exitCode, run.stderr + run.stdout).toBe(exitCode);
  await expectEverything(target, there, userTimesMs);
}

const whole = "is imported completely: accounts, pushes, passphrases, files, limits, lists and trails";

describe.each([
  ["SQLite", production, () => installProduction(), 3],
  ["PostgreSQL", production, installProductionOnPostgres, 3],
  ["SQLite, without a key", defaultKey, () => installDefaultKey(), 0],
] as const)("an installation on %s", (_name, there, install, exitCode) => {
  it(whole, async () => await expectWholeMove(there, await install(), exitCode));
});

describe.runIf(mariadbProgram !== undefined)("an installation on MariaDB", () => {
  let mariadb: Mariadb | undefined;
  beforeAll(async () => {
    mariadb = await startMariadb(mariadbProgram ?? "");
  });
  afterAll(() => mariadb?.[Symbol.asyncDispose]());

  it(whole, async () => {
    if (mariadb === undefined) throw new Error("MariaDB has not been started.");
    await expectWholeMove(production, await installProductionOnMysql(mariadb), 3, 1_000);
  });
});
