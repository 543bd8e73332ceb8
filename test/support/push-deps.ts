import { createArgon2Queue } from "../../src/crypto/passphrase.ts";
import { createIds } from "../../src/db/ids.ts";
import { createAttempts } from "../../src/pushes/attempts.ts";
import type { PushDeps } from "../../src/pushes/deps.ts";
import type { TestHouse } from "./house.ts";

/** What the operations of an open house work with, and in place of a part of it what the test brings. */
export function pushDepsOf(world: TestHouse, overrides: Partial<PushDeps> = {}): PushDeps {
  const { config, vault, store, blobs, db, limits } = world.house;
  return {
    ...{ config, vault, store, blobs },
    clock: world.clock,
    random: world.effects.random,
    ids: createIds(db, "pushes"),
    argon2: createArgon2Queue({ runningMax: 2, waitingMax: 100, waitingPerClientMax: 100 }),
    attempts: createAttempts(limits),
    capacity: { assertRoomFor: async () => undefined, assertRoomForFile: async () => undefined },
    ...overrides,
  };
}
