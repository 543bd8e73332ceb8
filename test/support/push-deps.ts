import { createArgon2Queue } from "../../src/crypto/passphrase.ts";
import { createIds } from "../../src/db/ids.ts";
import { createAttempts } from "../../src/pushes/attempts.ts";
import type { PushDeps } from "../../src/pushes/deps.ts";
import { createDispatchCounter } from "../../src/pushes/dispatch.ts";
import type { PushLetters } from "../../src/pushes/letters.ts";
import type { TestHouse } from "./house.ts";

/** Of a server that sends no mails. */
const silentLetters: PushLetters = {
  ...{ mailsLinks: false, tellsOfViews: false, dailyMax: 0 },
  findOwner: async () => undefined,
  assertRoom: async () => undefined,
  putLink: async () => undefined,
  putViewNotice: async () => undefined,
};

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
    letters: silentLetters,
    dispatchIds: createIds(db, "dispatches"),
    dispatchCounter: createDispatchCounter(limits),
    capacity: { assertRoomFor: async () => undefined, assertRoomForFile: async () => undefined },
    ...overrides,
  };
}
