import { createArgon2Queue } from "../../src/crypto/passphrase.ts";
import { createIds } from "../../src/database/ids.ts";
import { createHashAttempts } from "../../src/limits/hash-attempts.ts";
import { createAttempts } from "../../src/pushes/claim/attempts.ts";
import { createFileOpener } from "../../src/pushes/claim/stored-files.ts";
import { createByteBudgets } from "../../src/pushes/create/byte-budgets.ts";
import { createLargePayloads } from "../../src/pushes/create/large-payloads.ts";
import type { PushDeps } from "../../src/pushes/deps.ts";
import { createLinkDeliveryCounter } from "../../src/pushes/notifications/link-deliveries.ts";
import type { PushEmails } from "../../src/pushes/notifications/push-emails.ts";
import type { TestDomain } from "./domain.ts";

/** The outbox of a server that sends no email. */
const silentEmails: PushEmails = {
  mailsLinks: false,
  notifiesOfViews: false,
  dailyMax: 0,
  findOwner: async () => undefined,
  isFull: async () => false,
  putLink: async () => undefined,
  putViewNotification: async () => undefined,
};

/** The dependencies of push operations of an open domain, with replacements by the test. */
export function pushDepsOf(fixture: TestDomain, overrides: Partial<PushDeps> = {}): PushDeps {
  const { config, vault, storedLinkKeys, store, blobs, db, limits, clockTrust, policies, presets } = fixture.domain;
  return {
    config,
    vault,
    storedLinkKeys,
    store,
    blobs,
    openFiles: createFileOpener(blobs, fixture.effects.abortAfter),
    clock: fixture.clock,
    clockTrust,
    random: fixture.effects.random,
    ids: createIds(db, "pushes"),
    argon2: createArgon2Queue({ runningMax: 2, waitingMax: 100, waitingPerClientMax: 100 }),
    hashAttempts: createHashAttempts(limits),
    attempts: createAttempts({ limits, ...fixture.effects }),
    policies,
    presets,
    emails: silentEmails,
    linkDeliveryIds: createIds(db, "link_deliveries"),
    linkDeliveryCounter: createLinkDeliveryCounter(limits),
    capacity: { assertRoomFor: async () => undefined, assertRoomForFile: async () => undefined },
    byteBudgets: createByteBudgets({ limits, config }),
    largePayloads: createLargePayloads(),
    ...overrides,
  };
}
