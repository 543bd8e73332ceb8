import { rotateKeys } from "../../src/pushes/maintenance/rotate.ts";
import { rotatedColumns } from "../../src/tables.ts";
import { openTestDomain, TestClock, type TestDomain } from "./domain.ts";
import { keyEnvironment } from "./master-keys.ts";

export const clock = new TestClock();
export const open = (dataDir: string, ...keys: [string, ...string[]]) =>
  openTestDomain({ dataDir, clock, environment: keyEnvironment(...keys) });

/** `db`: in place of the domain's own. */
export const rotate = (fixture: TestDomain, db = fixture.domain.db) =>
  rotateKeys({ db, keyring: fixture.domain.keyring, columns: rotatedColumns, clock, pause: async () => undefined });
