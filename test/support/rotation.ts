import { rmSync } from "node:fs";
import { onTestFinished } from "vitest";
import { rotateKeys } from "../../src/pushes/maintenance/rotate.ts";
import { makeDataDir, openTestDomain, TestClock, type TestDomain } from "./domain.ts";
import { keyEnvironment } from "./master-keys.ts";

export function makeFolder(): string {
  const folder = makeDataDir();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const clock = new TestClock();
export const open = (dataDir: string, ...keys: [string, ...string[]]) =>
  openTestDomain({ dataDir, clock, environment: keyEnvironment(...keys) });

/** `db`: in place of the domain's own. */
export const rotate = (fixture: TestDomain, db = fixture.domain.db) =>
  rotateKeys({ db, keyring: fixture.domain.keyring, clock, pause: async () => undefined });
