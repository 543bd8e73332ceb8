import { rmSync } from "node:fs";
import { onTestFinished } from "vitest";
import { sealedElsewhere } from "../../src/house.ts";
import { rotateKeys } from "../../src/pushes/rotate.ts";
import { makeDataDir, openTestHouse, TestClock, type TestHouse } from "./house.ts";
import { keyEnvironment } from "./master-keys.ts";

export function makeFolder(): string {
  const folder = makeDataDir();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const clock = new TestClock();
export const open = (dataDir: string, ...keys: [string, ...string[]]) =>
  openTestHouse({ dataDir, clock, environment: keyEnvironment(...keys) });

/** `db`: in place of the house's own. */
export const rotate = (world: TestHouse, db = world.house.db) =>
  rotateKeys({ db, keyring: world.house.keyring, sealedElsewhere, clock, pause: async () => undefined });
